"""Generate `docs/errors.md` from the tables in the code: `make error-reasons`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from domain.qbxml.codes.hresults import HRESULTS
from domain.qbxml.codes.statuses import STATUSES
from domain.web_connector.outcomes.error_reasons import MEANINGS

if TYPE_CHECKING:
    from collections.abc import Iterable

TARGET = Path(__file__).parents[1] / "docs" / "errors.md"

_HEAD = """# Errors by name

When a request ends in `error`, `error.code` is the kind of error, `error.message` has QuickBooks' own words, and
`error.details.reason` is a stable name, whatever language QuickBooks uses. `error.details.hint` says what to do. A
connection's `last_error` has `reason` and `hint` too. This page is generated (`make error-reasons`).

A code that is not listed here is passed on with its message. Its reason is `unknown_hresult` or `unknown_status`, and
it has no hint.

`details.retryable` is true when QuickBooks did not execute the request and the obstacle, such as a lock or another
user's change, resolves itself. The service does not queue such a request again, because it cannot know whether it is
still wanted. You can.
"""

_HRESULTS = """
## HRESULTs: QuickBooks did not respond

`details.hresult` has the code. The kind is `invalid_request` when this request can never succeed, `unavailable` when
QuickBooks is busy, closed or out of reach, so that every request would fail now, and `unknown` otherwise. When a write
may have been executed, the next session asks QuickBooks ([why](decisions/0005-recovery-of-lost-responses.md)).
"""

_STATUSES = """
## Status codes: QuickBooks responded

`details.status_code` has the code. Codes below 1000 are not errors. 9100 to 9199 are `macro_error`. 3170 and 3180 are
`save_refused`, and not retryable, when their message names neither another user nor a lock.
"""


def document() -> str:
    """Return the page."""
    reasons = [(f"`{reason}`", message, hint) for reason, (message, hint) in MEANINGS.items()]
    codes = [
        (f"`{code}`", f"`{entry.reason}`", entry.message, f"`{entry.kind}`", entry.executed, entry.hint or "")
        for code, entry in sorted(HRESULTS.items())
    ]
    status_codes = [
        (str(code), f"`{entry.reason}`", entry.message or "", "yes" if entry.retryable else "", entry.hint or "")
        for code, entry in STATUSES.items()
    ]
    return "\n".join(
        (
            _HEAD,
            "## Reasons of the service\n",
            _table(("reason", "meaning", "what to do"), reasons),
            _HRESULTS,
            _table(("hresult", "reason", "meaning", "kind", "executed", "what to do"), codes),
            _STATUSES,
            _table(("status_code", "reason", "meaning", "retryable", "what to do"), status_codes),
            "",
        )
    )


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, ("---",) * len(head), *rows))


if __name__ == "__main__":
    TARGET.write_text(document(), encoding="utf-8")
