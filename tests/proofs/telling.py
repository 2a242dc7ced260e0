"""What a proof says to the person who waits for it."""

# ruff: noqa: T201 - it talks to a person at a terminal
from __future__ import annotations

import sys


def progress(text: str) -> None:
    """Show how far it is, in place of what was shown before; nothing where nobody watches."""
    if sys.stdout.isatty():
        print(f"\r{text}", end="", flush=True)


def result(text: str) -> None:
    """Say what came out."""
    print(f"\n{text}" if sys.stdout.isatty() else text, flush=True)
