"""One `make run` at a time in a state folder: a second one would overwrite the credentials of the first.

The Makefile calls this program before it installs packages, so it needs the standard library only. It ends with an
error if another run uses the folder. Otherwise it removes the status of the last run, so that `make wait` waits for the
new one.
"""

from __future__ import annotations

import fcntl
import json
import os
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from local.private_files import private_folder
from local.wait import STATUS_FILE, state_folder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LOCK_FILE = "run.lock"


class FolderInUse(Exception):
    """Another run uses the state folder. The message says how to run two."""

    def __init__(self, folder: Path) -> None:
        super().__init__(
            f"another make run{_url(folder)} uses {folder}/. Stop it, or give this one its own folder and port:\n"
            f"  make run STATE_DIR={folder / 'second'} PORT=0"
        )


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep other runs out of a state folder while the block runs. Raises FolderInUse, before it writes anything.

    The system releases the lock when the process ends, however it ends.
    """
    private_folder(folder)
    lock = os.open(folder / LOCK_FILE, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise FolderInUse(folder) from None
        yield
    finally:
        os.close(lock)


def _url(folder: Path) -> str:
    """Return the URL of the run that uses the folder, or nothing while it starts."""
    try:
        url = json.loads((folder / STATUS_FILE).read_text(encoding="utf-8"))["url"]
    except FileNotFoundError:
        return ""
    return f" at {url}" if url else ""


def main() -> int:
    """Forget the last run; return the exit status."""
    folder = state_folder(os.environ)
    try:
        with locked(folder):
            (folder / STATUS_FILE).unlink(missing_ok=True)
    except FolderInUse as error:
        print(f"make run: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
