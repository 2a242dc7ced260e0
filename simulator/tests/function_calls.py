"""Counts function calls: a measure of work that does not depend on the speed of the machine."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType


def function_calls(action: Callable[[], object]) -> int:
    """Return the number of calls of Python and C functions that the action makes in this thread."""
    count = 0

    def count_calls(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal count
        count += event in {"call", "c_call"}

    previous = sys.getprofile()
    sys.setprofile(count_calls)
    try:
        action()
    finally:
        sys.setprofile(previous)
    return count
