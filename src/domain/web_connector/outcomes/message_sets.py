"""Message sets: QuickBooks stores the response to a write under an ID, and returns it on request.

| newMessageSetID | oldMessageSetID | QuickBooks |
|---|---|---|
| x, unknown | | executes the request and stores the response under x |
| x, stored | | returns the stored response and executes nothing |
| x | x | the same; if nothing is stored, it says so (9002, 600) and executes nothing |
| y | x | forgets x, then continues as with y alone |
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from domain import qbxml

if TYPE_CHECKING:
    from collections.abc import Sequence

    from domain.records.request import QueuedRequest

NEVER_EXECUTED = frozenset({600, 9002})
"""Statuses: nothing is stored under this ID."""

OTHER_CONTENT = 9001
"""Status: a different request was executed under this ID. QuickBooks compares the two."""

NOT_STORED = 9005
"""Status: QuickBooks could not store the response. The status does not tell whether it executed the request."""


def outgoing(
    requests: Sequence[qbxml.Request], message_set_id: str | None, message_set_to_forget: str | None, *, in_set: bool
) -> str:
    """Return the QBXML to send for one request, or for several that are sent `in_set`.

    `message_set_id` is None for reads. For writes, the text tells QuickBooks which message set to forget.
    """
    first, *_ = requests
    text = qbxml.message_set_to_wire(requests, message_set_id) if in_set else first.to_wire(message_set_id)
    if message_set_id is None or message_set_to_forget is None:
        return text
    # The first match is the envelope's attribute, because values never contain a bare quotation mark.
    return text.replace(' newMessageSetID="', f' oldMessageSetID="{message_set_to_forget}" newMessageSetID="', 1)


def status_check(record: QueuedRequest) -> str:
    """Return the QBXML that asks for the stored response: an empty message set, which executes nothing."""
    message_set = record.message_set_id
    return (
        f'<?xml version="1.0" encoding="utf-8"?>\n<?qbxml version="{record.qbxml_version}"?>\n'
        f'<QBXML><QBXMLMsgsRq oldMessageSetID="{message_set}" newMessageSetID="{message_set}" onError="stopOnError"/>'
        "</QBXML>"
    )
