"""Files and folders that only their owner can read. It needs the standard library only, as `make wait` does."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from pathlib import Path


def private_folder(path: Path) -> None:
    """Create a folder that only its owner can enter. One that exists is closed to others."""
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.chmod(0o700)


def open_private(path: Path) -> TextIO:
    """Return a new file that only its owner can read, in place of a former one."""
    path.unlink(missing_ok=True)
    new = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    return os.fdopen(new, "w", encoding="utf-8", buffering=1)


def write_private(path: Path, text: str) -> None:
    """Write a file that only its owner can read."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open_private(path) as file:
        file.write(text)
