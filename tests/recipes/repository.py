"""A copy of the repository that recipes change, and the edits that they make."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from tests.support.repository_files import ROOT, repository_files

if TYPE_CHECKING:
    from collections.abc import Sequence

TYPES = ".mypy_cache"
KEPT = {TYPES, ".ruff_cache", "__pycache__"}
"""The folders that a renewed copy keeps, so that tools and Python read only what has changed."""


class MissingAnchor(Exception):
    """A file does not contain the text beside which a step adds something. The message names both."""


class Repository:
    """The tracked files and the new ones of the repository, in a folder of their own. It shares `.venv`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def copy_cache(self) -> None:
        """Copy mypy's cache, so that even its first run reads only what has changed."""
        if (ROOT / TYPES).is_dir():
            shutil.copytree(ROOT / TYPES, self.folder / TYPES)

    def renew(self) -> None:
        """Copy all files again."""
        self.folder.mkdir(exist_ok=True)
        for folder, folders, names in os.walk(self.folder):
            folders[:] = [name for name in folders if name not in KEPT]
            for name in names:
                (Path(folder) / name).unlink()
        for path in repository_files():
            target = self.folder / path.relative_to(ROOT)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, target, follow_symlinks=False)
        (self.folder / ".venv").unlink(missing_ok=True)
        if (ROOT / ".venv").exists():
            (self.folder / ".venv").symlink_to((ROOT / ".venv").resolve())

    def make(self, *targets: str) -> tuple[bool, str]:
        """Run `make` with these targets. Return whether it succeeded, and its output. It installs nothing."""
        return self._run(["make", "--assume-old=.venv/.installed", *targets])

    def test(self, tests: Sequence[str]) -> tuple[bool, str]:
        """Run these tests. Return whether they passed, and the output."""
        return self._run([".venv/bin/python", "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests])

    def _run(self, command: Sequence[str]) -> tuple[bool, str]:
        ended = subprocess.run(  # noqa: S603 - our own commands
            command, cwd=self.folder, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        return ended.returncode == 0, ended.stdout

    # --- Edits

    def read(self, path: str) -> str:
        """Return the text of a file."""
        return (self.folder / path).read_text(encoding="utf-8")

    def write(self, path: str, text: str) -> None:
        """Create or replace a file."""
        (self.folder / path).write_text(text, encoding="utf-8")

    def substitute(self, path: str, pattern: str, replacement: str) -> None:
        """Replace the first match of a pattern, in which `^` and `$` match at lines. Raises MissingAnchor."""
        text, count = re.subn(pattern, replacement, self.read(path), count=1, flags=re.MULTILINE)
        if not count:
            raise MissingAnchor(f"{path} has nothing like {pattern}. Correct the step in tests/recipes/recipes.py.")
        self.write(path, text)

    def insert_after(self, path: str, pattern: str, text: str) -> None:
        """Insert a text behind the first match of a pattern. Raises MissingAnchor."""
        self.substitute(path, f"(?P<anchor>{pattern})", rf"\g<anchor>{_literal(text)}")

    def insert_before(self, path: str, pattern: str, text: str) -> None:
        """Insert a text before the first match of a pattern. Raises MissingAnchor."""
        self.substitute(path, f"(?P<anchor>{pattern})", rf"{_literal(text)}\g<anchor>")

    def copy(self, source: str, target: str, *changes: tuple[str, str]) -> None:
        """Copy a file, and replace each text by another. Raises MissingAnchor."""
        self.write(target, _replaced(source, self.read(source), changes))

    def copy_block(self, path: str, pattern: str, *changes: tuple[str, str]) -> None:
        """Repeat the first match of a pattern, and replace each text in it by another. Raises MissingAnchor."""
        match = re.search(pattern, self.read(path), re.MULTILINE | re.DOTALL)
        if not match:
            raise MissingAnchor(f"{path} has nothing like {pattern}. Correct the step in tests/recipes/recipes.py.")
        end = match.end()
        text = self.read(path)
        self.write(path, text[:end] + _replaced(path, match[0], changes) + text[end:])

    def rename(self, name: str, new_name: str, *folders: str) -> None:
        """Replace a name in all Python files of these folders. Raises MissingAnchor."""
        paths = [path for folder in folders for path in sorted((self.folder / folder).rglob("*.py"))]
        found = [path for path in paths if re.search(rf"\b{name}\b", path.read_text(encoding="utf-8"))]
        if not found:
            raise MissingAnchor(f"No file mentions {name}. Correct the step in tests/recipes/recipes.py.")
        for path in found:
            path.write_text(re.sub(rf"\b{name}\b", new_name, path.read_text(encoding="utf-8")), encoding="utf-8")


def _replaced(path: str, text: str, changes: Sequence[tuple[str, str]]) -> str:
    for before, after in changes:
        if before not in text:
            raise MissingAnchor(f"{path} does not contain {before}. Correct the step in tests/recipes/recipes.py.")
        text = text.replace(before, after)
    return text


def _literal(text: str) -> str:
    """Return a text as a replacement for `re.sub`."""
    return text.replace("\\", "\\\\")
