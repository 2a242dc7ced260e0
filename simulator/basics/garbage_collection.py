"""Pauses the search for cycles of objects: a quarter of the time of making a company, and most of copying it."""

from __future__ import annotations

import gc
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def paused() -> Iterator[None]:
    """Search for no cycles while many objects without cycles are made, nor among them right after.

    Freezing and thawing them makes them old objects. In a program that has frozen objects itself they stay young,
    because thawing would thaw those too.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if not gc.get_freeze_count():
            gc.freeze()
            gc.unfreeze()
        if was_enabled:
            gc.enable()
