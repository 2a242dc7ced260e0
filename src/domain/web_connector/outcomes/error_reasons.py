"""Errors of requests and connections: the service's own reasons, and the members of an error that explain it.

The reasons from QuickBooks are in `domain.qbxml.codes`. `docs/errors.md` is generated from both.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any

from domain.errors import shortened
from domain.qbxml.codes.hresults import describe_hresult
from domain.records.request import MAX_MESSAGE_CHARACTERS
from domain.timestamps import timestamp

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

MAX_HRESULT_CHARACTERS = 30


class Reason(StrEnum):
    """The reason why a request ended without a usable response, or why a connection is held."""

    RESPONSE_LOST = "response_lost"
    SESSION_TAKEN_OVER = "session_taken_over"
    RESPONSE_NOT_UNDERSTOOD = "response_not_understood"
    RESPONSES_OF_OTHERS = "responses_of_others"
    OTHER_FILE = "other_file"
    RESPONSE_TOO_LARGE = "response_too_large"
    ITERATOR_EXPIRED = "iterator_expired"
    ITERATOR_NOT_FALLING = "iterator_not_falling"
    ITERATOR_INVALID = "iterator_invalid"
    TOO_MANY_PAGES = "too_many_pages"
    REQUEST_NOT_WRITABLE = "request_not_writable"
    COMPANY_FILE_MISMATCH = "company_file_mismatch"
    COMPANY_FILE_MOVED = "company_file_moved"
    CHECK_NOT_ANSWERED = "check_not_answered"


MEANINGS: Mapping[Reason, tuple[str, str]] = {
    Reason.RESPONSE_LOST: (
        "The Web Connector session ended before QuickBooks' response arrived.",
        "Check the status column and the log of the Web Connector on the QuickBooks machine. They show why it stopped.",
    ),
    Reason.SESSION_TAKEN_OVER: (
        "Another session of this user began before QuickBooks' response arrived.",
        (
            "Check whether two Web Connectors use the connection's .qwc file, and remove it from one. If there is only"
            " one, its log shows why it began again: QBWC1042 is a response that did not arrive, perhaps because it is"
            " too large. If the request is a query that takes minutes, ask for less."
        ),
    ),
    Reason.RESPONSE_NOT_UNDERSTOOD: (
        "QuickBooks returned something that is not a response to this request.",
        "Check the stored response and the company file before you queue the request again.",
    ),
    Reason.RESPONSES_OF_OTHERS: (
        "QuickBooks returned only responses to other requests.",
        "Restart QuickBooks and the Web Connector. Check that nothing between them and the service repeats calls.",
    ),
    Reason.OTHER_FILE: (
        "The open company file may not be the one that the write was sent to.",
        "Open the company file that the request was sent to and check whether it was executed there.",
    ),
    Reason.RESPONSE_TOO_LARGE: (
        "QuickBooks' response is larger than one call can carry.",
        (
            "Ask for less: let a query that can iterate be sent in pages (iterate=auto, without max_returned), request"
            " smaller pages (iterate=true with a smaller max_returned; in QBXML, iterator with MaxReturned), narrow the"
            " filter, or name the elements in include[] (IncludeRetElement). If the response is small, the log of the"
            " Web Connector shows why it did not arrive: an error of the network, or another Web Connector with the"
            " same .qwc file."
        ),
    ),
    Reason.ITERATOR_EXPIRED: (
        "The iterator of this query has expired in QuickBooks.",
        "The pages before this one are complete. Queue the query again to get all pages.",
    ),
    Reason.ITERATOR_NOT_FALLING: (
        "After a page, QuickBooks did not report fewer remaining objects than before it.",
        "The pages before this one are complete. Queue the query again. If that does not help, restart QuickBooks.",
    ),
    Reason.ITERATOR_INVALID: (
        "QuickBooks returned an iterator that cannot be continued.",
        "The pages before this one are complete. Queue the query again. If that does not help, restart QuickBooks.",
    ),
    Reason.TOO_MANY_PAGES: (
        "The query has more pages than the service fetches.",
        "Ask for more objects in a page (MaxReturned), or narrow the filter.",
    ),
    Reason.REQUEST_NOT_WRITABLE: (
        "The stored request can no longer be written as QBXML.",
        "Correct the request.",
    ),
    Reason.COMPANY_FILE_MISMATCH: (
        "The open company file is not the connection's.",
        (
            "Open the company file of this connection in QuickBooks and update again. If the connection is meant for"
            " the open file, reset its company file (POST …/reset_company_file): the next session then accepts the file"
            " that is open. If the connection has a company_file, it must be that file's path or null (PATCH …)."
        ),
    ),
    Reason.COMPANY_FILE_MOVED: (
        "A company file with the connection's mark is open at a path that nobody has accepted.",
        (
            "If the open file is a copy or a restored backup, open the right file and update again. If it is the"
            " connection's file at another path, accept this path (POST …/accept_company_file)."
        ),
    ),
    Reason.CHECK_NOT_ANSWERED: (
        "QuickBooks did not answer the onboarding check, which asks for its version and its company.",
        "Restart QuickBooks and the Web Connector, open the company file, then choose Update Selected.",
    ),
}
"""For each reason, its meaning for developers and a hint for users."""


def reason_details(reason: Reason, **details: Any) -> dict[str, Any]:
    """Return the members of an error that explain its cause and say what to do."""
    return {"reason": reason.value, **details, "hint": MEANINGS[reason][1]}


def hresult_details(hresult: str) -> dict[str, Any]:
    """Return the members of an error that explain an HRESULT."""
    meaning = describe_hresult(hresult)
    return {"hresult": hresult, "reason": meaning.reason, "hint": meaning.hint}


def connection_error(hresult: str, message: str, now: datetime) -> dict[str, Any]:
    """Return the `last_error` of a connection whose Web Connector cannot work with QuickBooks."""
    details = hresult_details(shortened(hresult.strip(), MAX_HRESULT_CHARACTERS))
    text = shortened(message.strip() or describe_hresult(hresult).message, MAX_MESSAGE_CHARACTERS)
    return {"code": "quickbooks_connection_error", "message": text, **details, "at": timestamp(now)}


def error_message(error: Mapping[str, Any]) -> str:
    """Return a connection error as a message for the user of the Web Connector."""
    return f"{error['hresult']}: {error['message']}"
