"""The steps that `make test-recipes` follows are those of CONTRIBUTING.md, and each finds its place in the files."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import pytest

from tests.recipes.recipes import RECIPES, Recipe
from tests.recipes.repository import Repository
from tests.support.repository_files import ROOT

if TYPE_CHECKING:
    from pathlib import Path

NOT_FOLLOWED = {"Add a Lambda function that is not an endpoint"}
"""A recipe whose steps other tests check: `test_imports` and `test_events`."""


def names_of(test: str) -> set[str]:
    """Return the names by which a recipe may call a test: its file, or a folder that contains it."""
    file = PurePosixPath(test.partition("::")[0])
    return {f"`{path}`" for path in (file, *file.parents)}


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.example)
def test_contributing_names_the_file_of_every_step_and_every_test(recipe: Recipe) -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    match = re.search(rf"(?m)^### {re.escape(recipe.heading)}\n(.*?)(?=^##)", text, re.DOTALL)
    assert match, f"CONTRIBUTING.md has no recipe {recipe.heading}; correct tests/recipes/recipes.py"

    missing = [step.file for step in recipe.steps if f"`{step.file}`" not in match[1]]
    missing += [test for test in recipe.tests if not any(name in match[1] for name in names_of(test))]
    assert missing == [], f"add the step to the recipe {recipe.heading} in CONTRIBUTING.md, or correct recipes.py"


def test_every_recipe_is_followed_by_make_test_recipes() -> None:
    headings = re.findall(r"(?m)^### (.*)$", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))

    assert set(headings) - {recipe.heading for recipe in RECIPES} == NOT_FOLLOWED


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.example)
def test_every_step_of_a_recipe_finds_its_place(recipe: Recipe, tmp_path: Path) -> None:
    repository = Repository(tmp_path / "repository")
    repository.renew()

    for step in recipe.steps:
        if step.file != "make generate":
            step.follow(repository)
