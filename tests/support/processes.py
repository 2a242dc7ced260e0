"""Whether processes have ended, without `ps`, which a small system does not have.

A process that has ended is listed until its parent collects it. Where process 1 collects nothing, as in many
containers, one whose parent is gone is listed for ever.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

ENDED = {"Z", "X"}


def has_ended(process: int) -> bool:
    """Return whether a process is gone, or has ended and nobody has collected it."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    return _state_and_group(Path(f"/proc/{process}/stat"))[0] in ENDED


def group_has_ended(group: int) -> bool:
    """Return whether every process of a group has ended."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return True
    states = [state for state, of in map(_state_and_group, Path("/proc").glob("[0-9]*/stat")) if of == group]
    return bool(states) and set(states) <= ENDED


def _state_and_group(stat: Path) -> tuple[str, int]:
    """Return two fields of Linux (proc(5)). Other systems have no such file, and collect what has ended."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        state, _, group = stat.read_text(encoding="utf-8").rpartition(")")[2].split()[:3]
        return state, int(group)
    return "", 0
