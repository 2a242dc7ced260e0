"""`make wait`: wait until `make run` is ready, or end with its output if it fails.

While it starts, `make run` keeps two files in the state folder: `run.json` with its process ID and, when it is ready,
its URL, and `run.log` with its output until then, which has no credentials. This program needs the standard library
only, because it may run while `make run` still installs its packages.

Options by environment:
  STATE_DIR=.             the folder in which `make run` created `.local/`
  WAIT_SECONDS=300        how long to wait: the first run installs packages
"""

from __future__ import annotations

import io
import json
import os
import sys
import time
import traceback
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO
from urllib.error import HTTPError, URLError
from urllib.request import urlopen

from local.private_files import open_private, private_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

STATUS_FILE = "run.json"
LOG_FILE = "run.log"

DEFAULT_SECONDS = 300
LOOK_SECONDS = 0.2
ENDED_LOOKS = 5
"""A run has ended if its process is missing this many times in a row. A new run removes the status of the last one."""


class _Copied(io.TextIOBase):
    """A stream whose text also goes to a log."""

    def __init__(self, stream: TextIO, log: TextIO) -> None:
        self._stream = stream
        self._log: TextIO | None = log

    def write(self, text: str) -> int:
        if self._log:
            self._log.write(text)
        return self._stream.write(text)

    def flush(self) -> None:
        self._stream.flush()

    def isatty(self) -> bool:
        return self._stream.isatty()

    def end_copy(self) -> None:
        """Write to the stream alone from now on."""
        self._log = None


@contextmanager
def starting(folder: Path) -> Iterator[Callable[[str], None]]:
    """Tell `make wait` about this process while the block runs. Yield a function that takes the URL when it is ready.

    A block that ends before it is ready leaves both files, so that `make wait` can print the reason.
    """
    private_folder(folder)
    status, url = folder / STATUS_FILE, ""
    _write(status, {"pid": os.getpid(), "url": url})
    with open_private(folder / LOG_FILE) as log:
        copies = _Copied(sys.stdout, log), _Copied(sys.stderr, log)

        def ready(at: str) -> None:
            nonlocal url
            url = at
            _write(status, {"pid": os.getpid(), "url": url})
            for copy in copies:
                copy.end_copy()

        try:
            with redirect_stdout(copies[0]), redirect_stderr(copies[1]):
                yield ready
        except Exception:
            log.write(traceback.format_exc())
            raise
    if url:
        status.unlink(missing_ok=True)


def _write(path: Path, status: Mapping[str, Any]) -> None:
    """Replace the file at once, so that no reader sees half of it."""
    new = path.with_suffix(".new")
    new.write_text(json.dumps(status), encoding="utf-8")
    new.replace(path)


def wait(folder: Path, seconds: float, pause: Callable[[float], None] = time.sleep) -> str:
    """Return the URL of the run in this state folder when it is ready. Raises RuntimeError with its output."""
    looks_without_process = 0
    for _ in range(max(1, round(seconds / LOOK_SECONDS))):
        status = _status(folder)
        if status and status["url"] and _responds(status["url"]):
            return str(status["url"])
        looks_without_process = looks_without_process + 1 if status and not _is_running(status["pid"]) else 0
        if looks_without_process == ENDED_LOOKS:
            raise RuntimeError(f"make run has ended. Its output was:\n\n{_log(folder)}")
        pause(LOOK_SECONDS)
    if _status(folder) is None:
        raise RuntimeError(
            f"no make run has started with the state folder {folder} within {seconds:g} seconds.\n"
            "Start it in another terminal, or in the background: make run &"
        )
    raise RuntimeError(f"make run is not ready after {seconds:g} seconds. Its output so far:\n\n{_log(folder)}")


def _status(folder: Path) -> dict[str, Any] | None:
    try:
        status: dict[str, Any] = json.loads((folder / STATUS_FILE).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    return status


def _log(folder: Path) -> str:
    return (folder / LOG_FILE).read_text(encoding="utf-8").strip()


def _responds(url: str) -> bool:
    try:
        with urlopen(f"{url}/qbwc", timeout=5) as response:  # noqa: S310 - the URL is that of make run
            return bool(response.status == 200)  # noqa: PLR2004 - OK
    except HTTPError as error:
        error.close()
        return False
    except (URLError, TimeoutError, ConnectionError):
        return False


def _is_running(process_id: int) -> bool:
    try:
        os.kill(process_id, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def state_folder(environment: Mapping[str, str]) -> Path:
    """Return the folder in which `make run` keeps its state."""
    return Path(environment.get("STATE_DIR") or ".") / ".local"


def main() -> int:
    """Wait; return the exit status."""
    text = os.environ.get("WAIT_SECONDS") or str(DEFAULT_SECONDS)
    if not (text.isascii() and text.isdigit()):
        print(f"make wait: WAIT_SECONDS must be a number, not {text!r}", file=sys.stderr)
        return 2
    try:
        url = wait(state_folder(os.environ), int(text))
    except RuntimeError as error:
        print(f"make wait: {error}", file=sys.stderr)
        return 1
    print(f"qbxml-queue is ready at {url}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
