"""The console answers the questions of a support person within four clicks from its first view."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.browser.support_questions import MAX_CLICKS, QUESTIONS, Question, World, answer, build_world

if TYPE_CHECKING:
    from tests.browser.support import Console
    from tests.e2e.support import Service


@pytest.fixture(scope="module")
def world(service: Service) -> World:
    """Return the connections that the questions are about."""
    return build_world(service)


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.text)
def test_a_question_is_answered_within_four_clicks(console: Console, world: World, question: Question) -> None:
    walk, _ = answer(console.page, world, question)

    assert walk.clicks <= MAX_CLICKS, walk.path
