"""The recipes of CONTRIBUTING.md, followed in a copy of the repository: `make test-recipes`.

`examples.patch` has an example of each recipe, one part for each step. With all of them, the copy passes lint, types
and the tests that the steps name. Without one step of each of several recipes, their tests fail with the messages above
these steps.
After a change of the files around a step: follow the step by hand, and replace its part by what `git diff -U1` prints.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.support.repository_files import ROOT, repository_files

NOT_FOLLOWED = {"Add a Lambda function that is not an endpoint"}
"""A recipe whose steps other tests check: `test_imports` and `test_events`."""

FURTHER_TESTS = ("tests/unit/queries", "tests/integration/api/test_events.py", "tests/integration/api/test_operate.py")


class Step(NamedTuple):
    """A step of a recipe: the file as the recipe calls it, the test that fails without it, its message, and the patch.

    A step without which the program stops or mypy fails has no test.
    """

    recipe: str
    file: str
    test: str
    message: str
    patch: str


def read_steps() -> list[Step]:
    """Return the steps of `examples.patch`: `# recipe`, `## file`, `test: message` and the patch."""
    steps = []
    text = Path(__file__).with_name("examples.patch").read_text(encoding="utf-8")
    for section in re.split(r"(?m)^# ", text)[1:]:
        recipe, _, rest = section.partition("\n")
        for part in re.split(r"(?m)^## ", rest)[1:]:
            head, patch = re.split(r"(?m)^(?=diff --git)", part, maxsplit=1)
            file, _, check = head.partition("\n")
            test, _, message = check.strip().partition(": ")
            steps.append(Step(recipe, file, test, message, patch))
    return steps


STEPS = read_steps()


def in_rounds() -> list[list[Step]]:
    """Return all steps that a test reports, in rounds, because a start of pytest takes seconds.

    The steps of a round differ in recipe, file and test, so that none hides what another one reports.
    """
    rounds: list[list[Step]] = []
    for step in STEPS:
        if not step.test:
            continue
        for others in rounds:
            if not any(set(step[:3]) & set(other[:3]) for other in others):
                others.append(step)
                break
        else:
            rounds.append([step])
    return rounds


ROUNDS = in_rounds()


class Repository:
    """The files of the repository in a folder of their own. It shares `.venv`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for path in repository_files():
            (target := folder / path.relative_to(ROOT)).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, target, follow_symlinks=False)
        (folder / ".venv").symlink_to((ROOT / ".venv").resolve())
        if (ROOT / ".mypy_cache").is_dir():
            shutil.copytree(ROOT / ".mypy_cache", folder / ".mypy_cache")
        self.run("git", "init", "-q")
        self.run("git", "add", ".")

    def follow(self, steps: list[Step]) -> None:
        """Follow these steps, and no others."""
        self.run("git", "checkout", "-q", ".")
        self.run("git", "clean", "-dfq")
        for step in steps:
            subprocess.run(["git", "apply", "-C1", "-"], cwd=self.folder, input=step.patch, text=True, check=True)  # noqa: S607

    def run(self, *command: str) -> None:
        """Run a command that has to succeed."""
        has_succeeded, output = self.tried(*command)
        assert has_succeeded, output

    def tried(self, *command: str) -> tuple[bool, str]:
        """Run a command. Return whether it succeeded, and its output."""
        ended = subprocess.run(command, cwd=self.folder, check=False, capture_output=True, text=True)  # noqa: S603
        return ended.returncode == 0, ended.stdout + ended.stderr

    def test(self, *tests: str) -> tuple[bool, str]:
        """Run these tests. Return whether they passed, and the output."""
        return self.tried(".venv/bin/python", "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests)


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """Return a copy, which every test changes anew."""
    return Repository(tmp_path_factory.mktemp("repository"))


def test_the_steps_are_those_of_contributing() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("\n## Recipes\n")[2].partition("\n## ")[0]
    recipes = {recipe: text for recipe, _, text in (part.partition("\n") for part in text.split("\n### ")[1:])}

    assert set(recipes) - {step.recipe for step in STEPS} == NOT_FOLLOWED
    assert [step[:2] for step in STEPS if f"`{step.file}`" not in recipes[step.recipe]] == []


def test_a_copy_that_follows_all_recipes_passes_lint_types_and_the_tests(repository: Repository) -> None:
    repository.follow(STEPS)

    repository.run("make", "--assume-old=.venv/.installed", "generate")
    repository.run("make", "--assume-old=.venv/.installed", "lint-code", "types")
    repository.run(".venv/bin/cfn-lint", "template.yaml")
    has_passed, output = repository.test(
        *sorted({step.test.partition("[")[0] for step in STEPS if step.test}), *FURTHER_TESTS
    )
    assert has_passed, output


@pytest.mark.parametrize("forgotten", ROUNDS, ids=range(len(ROUNDS)))
def test_a_forgotten_step_of_each_recipe_is_reported(repository: Repository, forgotten: list[Step]) -> None:
    repository.follow([step for step in STEPS if step not in forgotten])

    _, output = repository.test(*sorted({step.test for step in forgotten}))

    failed = re.findall(r"(?m)^FAILED (\S+)", output)
    assert [
        (step.recipe, step.file)
        for step in forgotten
        if step.message not in output or not any(test.startswith(step.test) for test in failed)
    ] == [], output
