"""What becomes of a request whose answer did not come: it is tried or asked for again, or given up.

Pure decisions about one record (contract §8, decisions 0005 and 0014).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from domain.qbxml.codes.hresults import PARSE_ERROR, describe_hresult
from domain.requests.record import State
from domain.web_connector.error_reasons import Reason, hint
from domain.web_connector.responses.pages import smaller_page

if TYPE_CHECKING:
    from datetime import datetime

    from domain.requests.record import QueuedRequest

MAX_SESSIONS = 3
"""How many sessions may hand a read out before it is given up: the Web Connector comes every few minutes, and
what has failed three times needs a person."""

LOSSES_OF_ONE_SIZE = 2
"""After how many sessions a lost page is asked for with half its size: once may be the line's doing. A gateway
that refuses a large answer says so to the Web Connector alone."""

MAX_RECOVERY_SESSIONS = 3
"""How many sessions may ask for the answer of a write. Asking does no harm, but its owner waits for a word."""

SESSION_ENDED = "The Web Connector session ended before QuickBooks' answer came."
LOST = {"reason": Reason.ANSWER_LOST.value, "hint": hint(Reason.ANSWER_LOST)}

_LOOK_FIRST = (
    "QuickBooks may have done it. Look into the company file before you queue the request again; should QuickBooks or "
    "the Web Connector still hang, close it before, for it may yet do it."
)


def settled(record: QueuedRequest, now: datetime) -> QueuedRequest:
    """Return what becomes of the record that a session holds when the session is over."""
    if record.state is State.TICKETED and record.paging.page == 1:
        return record.requeued(now)
    if record.is_read:
        return tried_in_vain(record, now, SESSION_ENDED, LOST, lost=True)
    if record.recovering:
        return asked_in_vain(record, now, SESSION_ENDED, LOST)
    return record.response_lost(now)


def asked_in_vain(record: QueuedRequest, now: datetime, words: str, details: dict[str, Any]) -> QueuedRequest:
    """Return a write that is asked for again in a later session, or was asked for often enough."""
    asked = record.recovery.sessions
    if asked < MAX_RECOVERY_SESSIONS:
        return record.requeued(now)
    message = f"{asked} sessions asked QuickBooks for its answer in vain. {words}"
    return unknown(record, now, message, details)


def tried_in_vain(
    record: QueuedRequest, now: datetime, words: str, details: dict[str, Any], *, lost: bool
) -> QueuedRequest:
    """Return a record that may be sent again in a later session, or that was tried often enough.

    `lost`: QuickBooks may have worked on it, so that a smaller page may come through.
    """
    if record.paging.page > 1:
        return interrupted(record, now, words, details)
    smaller = smaller_page(record) if lost and record.sessions >= LOSSES_OF_ONE_SIZE else None
    if smaller or record.sessions < MAX_SESSIONS:
        return record.requeued(now, page_size=smaller)
    message = f"Given up after {record.sessions} sessions. {words}"
    advice = " ".join(filter(None, (details.get("hint"), "This request is not tried again: queue it once more.")))
    return record.failed(
        now, "quickbooks_connection_error", message, {**details, "hint": advice, "sessions": record.sessions}
    )


def interrupted(record: QueuedRequest, now: datetime, words: str, details: dict[str, Any]) -> QueuedRequest:
    """End a page after the first. It is never asked for again: its iterator may have moved on (decision 0014)."""
    advice = "The pages before this one are complete. Queue the query again to get them all."
    message = f"Page {record.paging.page} of this query did not come. {words}"
    return record.failed(now, "iteration_interrupted", message, {**details, "hint": advice})


def unknown(record: QueuedRequest, now: datetime, message: str, details: dict[str, Any]) -> QueuedRequest:
    """End a write of which nobody can tell whether it was executed."""
    advice = f"{details['hint']} {_LOOK_FIRST}" if "hint" in details else _LOOK_FIRST
    return record.failed(now, "outcome_unknown", message, {**details, "hint": advice})


def not_parsed(record: QueuedRequest, words: str, now: datetime) -> QueuedRequest:
    """End a request that QuickBooks could not parse: it will never do so."""
    facts = describe_hresult(PARSE_ERROR)
    details = {"hresult": facts.code, "reason": facts.reason, "hint": facts.hint}
    return record.failed(now, "qbxml_parse_error", words, details)
