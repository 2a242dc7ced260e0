"""Which request a text from QuickBooks is about.

The Web Connector names only the session. A text that was delayed or delivered twice can arrive while a later request is
in flight. What the text names decides whose it is (docs/decisions/0120):

| the text names | a read in flight | a write in flight, or its status check |
|---|---|---|
| the ID of another message set | another request's | another request's |
| the ID of the write's message set | - | its own |
| a response with another element or another label | another request's | another request's |
| responses with its element and its label | its own | its own |
| responses with its element, without a label | its own | another request's |
| only a status of the message set | its own | its own |
| nothing | its own | another request's |

The first row that applies counts. A message set of several requests is in flight as a whole, and each response must be
to one of them. A read takes a text that names nothing, because it can be repeated. A write does not: QuickBooks is
asked for its stored response instead.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from domain import qbxml
from domain.records.request import State

if TYPE_CHECKING:
    from collections.abc import Sequence

    from domain.records.request import QueuedRequest

_TAG = "<QBXMLMsgsRs"
_MAX_TAG_CHARACTERS = 1_000
_MESSAGE_SET_ID = re.compile(r"""\bnewMessageSetID\s*=\s*["']([^"']+)["']""")


def is_sent_as_set(records: Sequence[QueuedRequest]) -> bool:
    """Whether the requests in flight were sent as a message set of several requests.

    Some of them may still wait to be sent: their queries were answered in one set, and they write one after the other.
    """
    return sum(record.state is State.SENT for record in records) > 1 or any(record.message_set for record in records)


def label_in_set(record: QueuedRequest) -> str:
    """Return the label of a request in a message set of several requests, where users' labels may repeat.

    A read is later sent alone if the response to its set was unusable. Its label then differs, so that a copy of that
    response is not taken for its own. Writes are sent again in the same set, whose text must not change.
    """
    return f"set-{record.id}" if record.is_read else record.id


def response_about(records: Sequence[QueuedRequest], text: str) -> qbxml.Response | qbxml.UnreadableResponse | None:
    """Return the response in a text, or why it cannot be read. Return None if the text is about other requests."""
    try:
        response = qbxml.parse_response(text)
    except qbxml.UnreadableResponse as error:
        return error if is_about(records, text, qbxml.named_responses(text)) else None
    names = [qbxml.ResponseName(status.name, status.request_label) for status in response.statuses]
    has_status = bool(response.message_set_status)
    return response if is_about(records, text, names, has_status=has_status) else None


def is_about(
    records: Sequence[QueuedRequest], text: str, names: Sequence[qbxml.ResponseName], *, has_status: bool = False
) -> bool:
    """Whether a text is about the requests in flight.

    `names` are the responses in the text, as far as it can be read. `has_status` is whether its message set has a
    status other than success.
    """
    first = records[0]
    message_set_id = _message_set_id(text)
    if message_set_id is not None:
        return not first.is_read and message_set_id.casefold() == first.message_set_id.casefold()
    if not names:
        return first.is_read or has_status
    in_set = is_sent_as_set(records)
    labels = [label_in_set(record) if in_set else record.request_label for record in records]
    return all(
        (first.is_read or name.request_label)
        and any(names_request(name, record, label) for record, label in zip(records, labels, strict=True))
        for name in names
    )


def names_request(name: qbxml.ResponseName, record: QueuedRequest, label: str) -> bool:
    """Whether a response has the element of a request, and its label if it has one.

    The comparison ignores differences in white space, because XML normalises it in attributes.
    """
    if name.element.removesuffix("Rs") != record.request_name.removesuffix("Rq"):
        return False
    return not name.request_label or name.request_label.split() == label.split()


def _message_set_id(text: str) -> str | None:
    """Return the ID of the message set that a text names, or None. The text can be anything."""
    # Search for the first tag only, and only near the start.
    start = text.find(_TAG)
    if start < 0:
        return None
    tag, _, _ = text[start : start + _MAX_TAG_CHARACTERS].partition(">")
    attribute = _MESSAGE_SET_ID.search(tag)
    return attribute[1] if attribute else None
