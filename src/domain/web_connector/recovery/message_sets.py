"""Message sets: QuickBooks keeps the answer to a write for whoever asks for it later (`qbxml.md` §4).

| newMessageSetID | oldMessageSetID | QuickBooks |
|---|---|---|
| x, unknown | | executes, and keeps the answer under x |
| x, kept | | answers what it kept, and executes nothing |
| x | x | the same; should nothing be kept, it says so (9002, 600) and executes nothing |
| y | x | forgets x, then as y alone |
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from domain.web_connector.responses.pages import of_size

if TYPE_CHECKING:
    from domain import qbxml
    from domain.requests.record import QueuedRequest

NEVER_EXECUTED = frozenset({600, 9002})
"""Nothing is kept under this id."""

OTHER_CONTENT = 9001
"""Something else was executed under this id: QuickBooks compares what is sent with what it knows."""

NOT_KEPT = 9005
"""QuickBooks could not keep the answer; whether it executed the request is not said."""

_NAMED = re.compile(r"""<QBXMLMsgsRs\s[^>]*?\bnewMessageSetID\s*=\s*["']([^"']+)["']""")


def written(record: QueuedRequest, request: qbxml.Request, forget: str | None) -> str:
    """Return what goes out for `record`; QuickBooks is told to `forget` a message set with a write.

    A page that was too large, or was lost often, is asked for with fewer objects.
    """
    if record.is_read:
        return of_size(request, record.paging.page_size).to_wire()
    text = request.to_wire(record.message_set_id)
    if forget is None:
        return text
    # The first one: values cannot hold a bare quotation mark, and the message set comes before them.
    return text.replace(' newMessageSetID="', f' oldMessageSetID="{forget}" newMessageSetID="', 1)


def status_check(record: QueuedRequest) -> str:
    """Return the question for the answer that QuickBooks kept: an empty message set, which executes nothing."""
    known = record.message_set_id
    return (
        f'<?xml version="1.0" encoding="utf-8"?>\n<?qbxml version="{record.qbxml_version}"?>\n'
        f'<QBXML><QBXMLMsgsRq oldMessageSetID="{known}" newMessageSetID="{known}" onError="stopOnError"/></QBXML>'
    )


def is_about_another(record: QueuedRequest, text: str) -> bool:
    """Whether an answer names a message set, and another one: it came late, or twice."""
    named = _NAMED.search(text)
    return named is not None and named[1].casefold() != record.message_set_id.casefold()
