"""Output of the proofs for the person at the terminal."""

# ruff: noqa: T201 - it talks to a person at a terminal
from __future__ import annotations

import sys


def progress(text: str) -> None:
    """Replace the progress line; nothing if the output is not a terminal."""
    if sys.stdout.isatty():
        print(f"\r{text}", end="", flush=True)


def result(text: str) -> None:
    """Print a result."""
    print(f"\n{text}" if sys.stdout.isatty() else text, flush=True)
