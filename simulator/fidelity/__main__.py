"""Prints FIDELITY.md: `python -m simulator.fidelity > simulator/FIDELITY.md`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from simulator.basics.statuses import STATUSES
from simulator.books.behaviours import BEHAVIOURS
from simulator.fidelity.rules import RULES, TEXTS

if TYPE_CHECKING:
    from collections.abc import Iterator

_HEAD = """\
# Fidelity

Where each rule and each message of the simulator comes from: a document, a captured response of QuickBooks, an identity
of accounting, or an assumption. Nothing claims more than this page. It is made from the table of rules
(`python -m simulator.fidelity`, `fidelity/rules.py`).

A capture means that the tests compare the two. A document means that the rule follows its description, and that nobody
compared it with a company file.

`--strict` warns with the name of a rule in bold when a request depends on its assumption, and with `texts_of_refusals`
when a message has our own wording. It also warns when a request depends on something that no rule of this page covers:
the table lists the facts of each rule, and every other fact warns, such as `Transfer posts AccountsReceivable for
nobody`.

## Rules

| name | rule | source |
|---|---|---|"""

_BEHAVIOURS = """
## Behaviours

What QuickBooks does beside the change that was asked for, where no document tells. A service has to be right in both
positions of each. `--behaviour NAME=VALUE` or `company.set_behaviour(name, value)` sets one.

| name | default | on | source, and what would settle it |
|---|---|---|---|"""

_STATUSES = """
## Statuses

A request that gets a status below 1000 is executed, except with 570. A text with a document or a capture is QuickBooks'
own up to "QuickBooks error message:". The reason after it is our wording. `--fault process/writes:1:status:3260`
answers any status with its text.

| status | how a request gets it | source of the text |
|---|---|---|"""

_NOT_ANSWERED = """
### Statuses that only the fault answers

| status | text | why |
|---|---|---|"""


def page() -> str:
    """Return the page as Markdown."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield _HEAD
    for name, rule in RULES.items():
        shown = f"**`{name}`**" if rule.warns or name == TEXTS else f"`{name}`"
        yield f"| {shown} | {rule.about} | {'; '.join(map(str, rule.sources))} |"
    yield _BEHAVIOURS
    for name, one in BEHAVIOURS.items():
        yield f"| `{name}` | {one.default} | {one.about} | assumed: {one.settled_by} |"
    yield _STATUSES
    for code, status in STATUSES.items():
        if status.cause:
            yield f"| {code} | {status.cause} | {status.source} |"
    yield _NOT_ANSWERED
    for code, status in STATUSES.items():
        if status.why_not:
            yield f"| {code} | {_cell(status.text)} ({status.source.basis}) | {status.why_not} |"


def _cell(text: str) -> str:
    return text.replace("{", "*").replace("}", "*").replace("|", "\\|")


if __name__ == "__main__":
    sys.stdout.write(page())
