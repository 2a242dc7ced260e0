"""The console answers the questions of a support person within four clicks from its first view."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.browser.support_questions import MAX_CLICKS, QUESTIONS, Question, World, answer, build_world, gone
from tests.support.webhook_servers import Receiver

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.browser.support import Console
    from tests.e2e.support import Service


@pytest.fixture(scope="module")
def world(service: Service) -> Iterator[World]:
    """Yield the connections that the questions are about."""
    with Receiver(gone) as receiver:
        yield build_world(service, f"http://127.0.0.1:{receiver.port}/")


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.text)
def test_a_question_is_answered_within_four_clicks(console: Console, world: World, question: Question) -> None:
    walk, _ = answer(console.page, world, question)

    assert walk.clicks <= MAX_CLICKS, walk.path
