"""Writes `docs/quickbooks-errors.md` from the tables in the code: `PYTHONPATH=src python -m tools.error_reasons`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from domain.qbxml.codes import hresults, statuses
from domain.web_connector.error_reasons import MEANINGS

if TYPE_CHECKING:
    from collections.abc import Iterable

TARGET = Path(__file__).parents[1] / "docs" / "quickbooks-errors.md"

_HEAD = """# What went wrong, by name

When a request ends in `error`, `error.code` says what kind of end it was, `error.message` has QuickBooks' own words and
`error.details.reason` a name that stays the same, whatever language QuickBooks speaks. `error.details.hint` says in a
user's words what to do. A connection's `last_error` has `reason` and `hint` too. The tables are made from the code
(`python -m tools.error_reasons`).

A code that is in no table is passed on as it came, with its message: its reason is `unknown_hresult` or
`unknown_status`, and it has no hint.

`details.retryable` is true where QuickBooks answered that it did not do it and what stood in the way passes by itself:
a lock, another user's change. The service does not queue such a request again, since it cannot know whether it is still
wanted; you can.
"""


def document() -> str:
    """Return the page."""
    own = [(f"`{reason}`", message, hint) for reason, (message, hint) in MEANINGS.items()]
    of_quickbooks = [
        (f"`{facts.code}`", f"`{facts.reason}`", facts.message, facts.executed, facts.hint or "")
        for facts in sorted(hresults.HRESULTS.values(), key=lambda facts: facts.code)
    ]
    codes = [
        (
            str(facts.code),
            f"`{facts.reason}`",
            facts.message or "",
            "yes" if facts.retryable else "",
            facts.hint or "",
        )
        for facts in statuses.STATUSES.values()
    ]
    return "\n".join(
        (
            _HEAD,
            "## The service's own reasons\n",
            _table(("reason", "what it means", "what to do"), own),
            "\n## HRESULTs: QuickBooks did not answer\n",
            "`details.hresult` has the code. Where it cannot be told whether QuickBooks executed a write, the next",
            "session asks QuickBooks ([why so](decisions/0005-recovery-of-lost-responses.md)).\n",
            _table(("hresult", "reason", "what it means", "executed", "what to do"), of_quickbooks),
            "\n## Status codes: QuickBooks answered\n",
            "`details.status_code` has the code. Those below 1000 are no errors. 9100 to 9199 are `macro_error`.",
            "3170 and 3180 that speak of neither another user nor a lock are `save_refused`, not retryable.\n",
            _table(("status_code", "reason", "what it means", "retryable", "what to do"), codes),
            "",
        )
    )


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, ("---",) * len(head), *rows))


if __name__ == "__main__":
    TARGET.write_text(document(), encoding="utf-8")
