"""How far the simulated QuickBooks behaves like the real one, as data and as the page FIDELITY.md.

`python -m simulator.requests.fidelity` prints the page. A test compares it with the file.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from simulator.basics.statuses import STATUSES

if TYPE_CHECKING:
    from collections.abc import Iterator

_STATUSES = """\
# Fidelity

This page is generated (`python -m simulator.requests.fidelity`).

## Statuses

A request that gets a status below 1000 is executed, except with 570. A text that is "as in QuickBooks" is QuickBooks'
own up to "QuickBooks error message:". The reason after it is our wording. `--fault process/writes:1:status:3260`
answers any status with its text.

| status | how a request gets it | text | source |
|---|---|---|---|"""

_NOT_ANSWERED = """
### Statuses that only the fault answers

| status | text | why |
|---|---|---|"""


def page() -> str:
    """Return the page as Markdown."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield _STATUSES
    for code, status in STATUSES.items():
        if status.cause:
            yield f"| {code} | {status.cause} | {status.basis} | {status.source} |"
    yield _NOT_ANSWERED
    for code, status in STATUSES.items():
        if status.why_not:
            yield f"| {code} | {_cell(status.text)} ({status.basis}) | {status.why_not} |"


def _cell(text: str) -> str:
    return text.replace("{", "*").replace("}", "*").replace("|", "\\|")


if __name__ == "__main__":
    sys.stdout.write(page())
