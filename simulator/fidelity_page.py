"""Prints FIDELITY.md: `python -m simulator.fidelity_page > simulator/FIDELITY.md`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from simulator.basics.statuses import STATUSES
from simulator.requests.fidelity import BEHAVIOURS, TEXTS

if TYPE_CHECKING:
    from collections.abc import Iterator

_HEAD = """\
# Fidelity

How far each behaviour and each message is that of QuickBooks: as in QuickBooks (with the source), simplified, or our
own. Nothing claims more than this page. It is generated (`python -m simulator.fidelity_page`).

"As in QuickBooks" with captured responses means that the tests compare the two. With Intuit's API Reference it means
that the rule follows its description, and that nobody compared it with a company file.

`--strict` warns when a request depends on a simplification that is marked with a name in bold, or gets a message of our
own wording.

## Behaviours

| name | behaviour | basis | source |
|---|---|---|---|"""

_STATUSES = """
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
    yield _HEAD
    for name, behaviour in BEHAVIOURS.items():
        shown = f"**`{name}`**" if name == TEXTS or behaviour.warns else f"`{name}`"
        yield f"| {shown} | {behaviour.about} | {behaviour.basis} | {behaviour.source} |"
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
