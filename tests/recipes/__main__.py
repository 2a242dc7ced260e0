# ruff: noqa: T201 - it talks to a person at a terminal
"""Follow each recipe in a copy of the repository, run its checks, and leave out one step at a time.

    make test-recipes
    make test-recipes ARGS="--only index --only error"
    make test-recipes ARGS=--together

A recipe has to pass lint, types and those of its tests that the example can affect. Without one of its steps, the test
that the step names has to fail with a message that says what is missing. With `--together`, one copy has all recipes
when lint, types and tests run, which takes a third of the time. Prints the time of each, and exits with 1 if a recipe
failed.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from tests.recipes.recipes import RECIPES, Recipe
from tests.recipes.repository import Repository

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.recipes.recipes import Step

SHOWN_LINES = 40
"""The last lines of the output of a check that failed."""


def follow(repository: Repository, *recipes: Recipe, without: Step | None = None) -> None:
    """Follow the steps of recipes in a new copy, up to `make generate` if one is left out."""
    repository.renew()
    for recipe in recipes:
        for step in recipe.steps:
            if step is not without and (without is None or step.file != "make generate"):
                step.follow(repository)


def problem_of(repository: Repository, *recipes: Recipe) -> str:
    """Follow recipes and run their checks. Return the output of a check that failed, or an empty text."""
    follow(repository, *recipes)
    lint = "lint" if any(recipe.changes_the_template for recipe in recipes) else "lint-code"
    has_passed, output = repository.make(lint, "types")
    if has_passed:
        has_passed, output = repository.test(sorted({test for recipe in recipes for test in recipe.tests}))
    return "" if has_passed else "\n".join(output.splitlines()[-SHOWN_LINES:])


def problem_without(repository: Repository, recipe: Recipe, step: Step) -> str:
    """Leave out a step. Return the output of its test if that does not say so, or an empty text."""
    follow(repository, recipe, without=step)
    has_passed, output = repository.test([step.test])
    if has_passed or step.message not in output:
        return f"{step.test} did not fail with: {step.message}\n" + "\n".join(output.splitlines()[-SHOWN_LINES:])
    return ""


def main(recipes: Sequence[Recipe], *, together: bool) -> bool:
    """Follow recipes. Return whether all succeeded."""
    problems = []
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        repository = Repository(Path(folder) / "repository")
        repository.copy_cache()
        for group in [recipes] if together else [[recipe] for recipe in recipes]:
            started = time.monotonic()
            for recipe in group:
                print(f"{recipe.heading}: {recipe.example}", flush=True)
            found = problem_of(repository, *group)
            problems.append(found)
            print(found or f"  passes lint, types and its tests: {seconds(started)}", flush=True)
            for recipe in group:
                problems += problems_without_steps(repository, recipe)
    print(f"{len(recipes)} followed, {sum(map(bool, problems))} with problems: {seconds(begin)}")
    return not any(problems)


def problems_without_steps(repository: Repository, recipe: Recipe) -> list[str]:
    """Leave out one step at a time. Print and return what `problem_without` says of each."""
    problems = []
    for step in recipe.steps:
        if step.test:
            started = time.monotonic()
            found = problem_without(repository, recipe, step)
            problems.append(found)
            print(found or f"  without {step.file}: “{step.message}”, {seconds(started)}", flush=True)
    return problems


def chosen(arguments: Sequence[str]) -> tuple[Sequence[Recipe], bool]:
    """Return the recipes that the command line names, or all, and whether they are followed together."""
    introduction, _, explanation = (__doc__ or "").partition("\n\n")
    examples = "\n".join(f"  {recipe.name:<16}{recipe.heading}: {recipe.example}" for recipe in RECIPES)
    parser = argparse.ArgumentParser(
        prog="python -m tests.recipes",
        description=introduction,
        epilog=f"examples:\n{examples}\n\n{explanation}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--only",
        action="append",
        choices=[recipe.name for recipe in RECIPES],
        metavar="NAME",
        help="follow this example; repeat it for several. Without it, all are followed",
    )
    parser.add_argument("--together", action="store_true", help="run lint, types and tests once, for all recipes")
    options = parser.parse_args(arguments)
    return [recipe for recipe in RECIPES if not options.only or recipe.name in options.only], options.together


def seconds(since: float) -> str:
    """Return the time since a moment."""
    return f"{time.monotonic() - since:.1f} s"


if __name__ == "__main__":
    recipes, together = chosen(sys.argv[1:])
    sys.exit(not main(recipes, together=together))
