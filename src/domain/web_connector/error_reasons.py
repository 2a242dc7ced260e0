"""The reasons in `error.details.reason` that are the service's own; QuickBooks' are in `domain.qbxml`.

`docs/quickbooks-errors.md` is made from this table.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


class Reason(StrEnum):
    """Why a request ended without an answer that can be taken, or a connection is held."""

    ANSWER_LOST = "answer_lost"
    ANSWER_NOT_UNDERSTOOD = "answer_not_understood"
    OTHER_FILE = "other_file"
    RESPONSE_TOO_LARGE = "response_too_large"
    ITERATOR_EXPIRED = "iterator_expired"
    REQUEST_NOT_WRITABLE = "request_not_writable"
    COMPANY_FILE_MISMATCH = "company_file_mismatch"


MEANINGS: Mapping[Reason, tuple[str, str]] = {
    Reason.ANSWER_LOST: (
        "The Web Connector's session ended before QuickBooks' answer came.",
        "Look at the Web Connector on the QuickBooks machine: its status column and log say what stopped it.",
    ),
    Reason.ANSWER_NOT_UNDERSTOOD: (
        "An answer came that is no answer to the request.",
        "Look at the kept response and into the company file before you queue the request again.",
    ),
    Reason.OTHER_FILE: (
        "The company file that is open is not known to be the one that the write was sent to.",
        "Open the company file that the request was sent to and look there.",
    ),
    Reason.RESPONSE_TOO_LARGE: (
        "QuickBooks' answer is larger than a call can carry.",
        "Ask for less: iterate with a smaller max_returned, narrow the filter, or name the elements in include[].",
    ),
    Reason.ITERATOR_EXPIRED: (
        "QuickBooks does not know the iterator of this query any more.",
        "The pages before this one are complete. Queue the query again to get them all.",
    ),
    Reason.REQUEST_NOT_WRITABLE: (
        "The stored request cannot be written for QuickBooks any more.",
        "Correct the request and queue it again.",
    ),
    Reason.COMPANY_FILE_MISMATCH: (
        "Another company file is open than the one that the connection is pinned to.",
        (
            "Open the company file of this connection in QuickBooks and update again. Should the connection be meant"
            " for the file that is open, reset its company file (POST …/reset_company_file): the next session's file is"
            " taken then. A company_file that the connection names has to be that file's path, or null (PATCH …)."
        ),
    ),
}
"""What each means, for a developer, and what to do, for a user."""


def hint(reason: Reason) -> str:
    """Return what to do."""
    return MEANINGS[reason][1]
