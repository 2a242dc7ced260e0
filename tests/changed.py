"""The files of the tests that a change can affect, nearest first: `make test-changed`.

The change is what differs from the last commit that this branch shares with main, committed or not. It affects the
modules that import a changed one, directly or by others, and those that name a changed file or read all of its kind.
"""

from __future__ import annotations

import re
import subprocess
import sys
from typing import TYPE_CHECKING

from tests.support.import_graph import imports_between, modules_below
from tests.support.repository_files import ROOT

if TYPE_CHECKING:
    from pathlib import Path

SOURCES = ("domain", "adapters", "handlers")
REACH = 2
"""Tests that are further away see a change only through what lies between. `make test` has them."""

PROGRAMS = ("local", "simulator", "tools", "benchmarks", "tests")
OTHERS = (
    "browser",
    "deployment",
    "documents",
    "e2e",
    "examples",
    "programs",
    "recipes",
    "releases",
    "runtime",
    "sam_local",
)
"""Folders of tests with a target of their own, which takes longer."""


def git(*arguments: str) -> list[str]:
    """Return the lines that a command of git prints, none if it fails."""
    ended = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S603, S607
    return ended.stdout.splitlines()


def changed_files() -> set[Path]:
    """Return the files that differ from main, with those that git does not know yet."""
    base = git("merge-base", "HEAD", "main") or git("merge-base", "HEAD", "origin/main") or ["HEAD"]
    names = git("diff", "--name-only", base[0]) + git("ls-files", "--others", "--exclude-standard")
    return {ROOT / name for name in names}


def readers(file: Path, texts: dict[Path, str]) -> set[Path]:
    """Return the modules that name a file, that read all of its kind, or that lie beside it."""
    kinds = re.compile(rf'\b{re.escape(file.name)}\b|\*{re.escape(file.suffix)}"|= repository_files\(')
    programs = {path: text for path, text in texts.items() if path.parts[len(ROOT.parts)] in PROGRAMS}
    if file.suffix == ".md":  # other modules only cite it
        programs = {path: text for path, text in programs.items() if path.name.startswith("test_")}
    return {path for path, text in programs.items() if path.parent == file.parent or kinds.search(text)}


def callers(handler: str, texts: dict[Path, str]) -> set[Path]:
    """Return the tests that call the path of an endpoint, whose module is loaded by its name."""
    ends = set(re.findall(r'"[A-Z]+ (?:/[^"]*)?(/\w+)(?:/\{\w+\})?"', handler))
    return {path for path, text in texts.items() if "integration" in path.parts and any(end in text for end in ends)}


def affected(changed: set[Path]) -> list[Path]:
    """Return the changed modules and those up to `REACH` imports away, nearest first."""
    files = modules_below(ROOT / "src", SOURCES) | modules_below(ROOT, PROGRAMS)
    texts = {path: path.read_text(encoding="utf-8") for path in files.values()}
    users: dict[Path, set[Path]] = {path: set() for path in texts}
    for module, imported in imports_between(files).items():
        for name in imported:
            users[files[name]].add(files[module])
    for file in changed:
        if file not in users:
            users[file] = readers(file, texts)
        elif file.parent == ROOT / "src" / "handlers":
            users[file] |= callers(texts[file], texts)
        elif ROOT / "simulator" in file.parents:
            users[file] |= {path for path in texts if ROOT / "simulator" / "tests" in path.parents}
        elif file.name == "conftest.py":
            users[file] |= {path for path in texts if file.parent in path.parents}
    found = dict.fromkeys(sorted(changed), 0)
    for file in (order := list(found)):
        new = sorted(users[file] - found.keys()) if found[file] < REACH else []
        found |= dict.fromkeys(new, found[file] + 1)
        order += new
    return order


def main() -> None:
    """Print the files of the tests that `make test` has. Say which other folders have some."""
    tests = [path.relative_to(ROOT) for path in affected(changed_files()) if path.name.startswith("test_")]
    other = {path.parts[1] for path in tests if path.parts[0] == "tests" and path.parts[1] in OTHERS}
    print(*(path for path in tests if path.exists() and path.parts[1] not in other), sep="\n")  # noqa: T201
    if other:
        print("Also affected, and not run:", *(f"tests/{name}" for name in sorted(other)), file=sys.stderr)  # noqa: T201


if __name__ == "__main__":
    main()
