"""Outcomes of the requests that were sent together in one message set.

The functions take the records of the set in its order, each `sent`, and return the outcome of each. They return None if
the call is about an earlier message set. The text that was sent names each request by the id of its record, because
users repeat labels. The stored responses have the labels of the users.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from domain import qbxml
from domain.web_connector.outcomes.error_reasons import Reason, reason_details
from domain.web_connector.outcomes.lost_response import RESPONSE_LIMIT, outcome_unknown
from domain.web_connector.outcomes.message_sets import is_about_another, names_message_set
from domain.web_connector.outcomes.outcome import (
    Ended,
    NotFalling,
    PageReceived,
    Requeued,
    not_interpreted,
    not_understood,
    of_message_set,
    of_response,
)
from domain.web_connector.outcomes.processor_exception import of_exception
from domain.web_connector.protocol.soap import MAX_BODY_BYTES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from domain.records.request import QueuedRequest
    from domain.records.session import LastResponse, Session
    from domain.web_connector.outcomes.outcome import Outcome
    from domain.web_connector.protocol.soap import Call

MISSING = "QuickBooks returned no response to this request of a message set of several requests."

_REQUEST_ID = re.compile(r"""\brequestID\s{0,10}=\s{0,10}["']([^"']{0,100})["']""")


def is_sent_as_set(records: Sequence[QueuedRequest]) -> bool:
    """Whether the requests in flight were sent as a message set of several requests."""
    return len(records) > 1 or any(record.message_set for record in records)


def label_as_sent(records: Sequence[QueuedRequest]) -> str:
    """Return the request label of the first request in flight as QuickBooks got it."""
    return records[0].id if is_sent_as_set(records) else records[0].request_label


def of_set_exception(
    session: Session, records: Sequence[QueuedRequest], call: Call, now: datetime
) -> Sequence[Outcome]:
    """Return the outcomes after an exception. A response that comes with it is stored once."""
    outcomes: list[Outcome] = [of_exception(session, record, call, now, in_set=True) for record in records]
    return [outcomes[0], *(replace(outcome, response_xml=None) for outcome in outcomes[1:])]


def of_set_response(
    session: Session, records: Sequence[QueuedRequest], text: str, now: datetime
) -> Sequence[Outcome] | None:
    """Return the outcomes after a response to the message set, or to the question for its stored response."""
    if is_about_another(records[0], text) or not (records[0].is_read or _names(records, text)):
        return None
    try:
        response, parts = qbxml.parse_response(text), qbxml.response_parts(text)
    except qbxml.UnreadableResponse as error:
        message = f"QuickBooks' response cannot be read. {error}"
        return [not_understood(record, stored, message, now) for record, stored in _stored_once(records, text)]
    if not parts:
        code = response.message_set_status
        outcomes = [
            of_message_set(session, record, stored, code, now) for record, stored in _stored_once(records, text)
        ]
        known = [outcome for outcome in outcomes if outcome is not None]
        return known if len(known) == len(records) else None
    matched = _matched(records, parts)
    if not matched and records[0].is_read and _is_duplicate(parts[0], session.last_response):
        return None
    of_records = [_of_part(session, record, matched.get(record.id), now) for record in records]
    return of_records if len(matched) == len(parts) else _with_text(of_records, text)


def _matched(records: Sequence[QueuedRequest], parts: Sequence[qbxml.ResponsePart]) -> Mapping[str, qbxml.ResponsePart]:
    """Return the response to each request, by the id of its record, which was sent as its label.

    QuickBooks returns one response to each request, in their order. If it returns more, the first one counts. Responses
    without labels belong to the writes of a set if there is one for each; their text names the set.
    """
    if not records[0].is_read and len(parts) == len(records) and not any(part.request_label for part in parts):
        return {record.id: part for record, part in zip(records, parts, strict=True)}
    by_label = {part.request_label: part for part in reversed(parts)}
    return {record.id: by_label[record.id] for record in records if record.id in by_label}


def _with_text(outcomes: Sequence[Outcome], text: str) -> Sequence[Outcome]:
    """Return the outcomes with the whole text in the first one that ended without a response.

    A person needs the text to find out what QuickBooks has executed, because a part of it belongs to no request.
    """
    without = [isinstance(outcome, Ended) and not outcome.response_xml for outcome in outcomes]
    if True not in without:
        return outcomes
    first = without.index(True)
    return [*outcomes[:first], replace(outcomes[first], response_xml=text), *outcomes[first + 1 :]]


def _names(records: Sequence[QueuedRequest], text: str) -> bool:
    """Whether a text names the message set of these writes, or one of them.

    Another text is the response to an earlier read. Otherwise QuickBooks is asked for the stored response.
    """
    return names_message_set(records[0], text) or any(record.id in text for record in records)


def of_oversized_set(records: Sequence[QueuedRequest], beginning: str, now: datetime) -> Sequence[Outcome] | None:
    """Return the outcomes if the response is too large for a call. `beginning` is its first part.

    Reads are sent again, each alone. The responses to writes cannot be stored.
    """
    label = _REQUEST_ID.search(beginning)
    if is_about_another(records[0], beginning) or (label and label[1] not in {record.id for record in records}):
        return None
    message = f"QuickBooks' response to the message set has more than {RESPONSE_LIMIT}. It cannot be stored."
    details = reason_details(Reason.RESPONSE_TOO_LARGE, limit_bytes=MAX_BODY_BYTES)
    return [
        Requeued(record.divided(now)) if record.is_read else Ended(outcome_unknown(record, now, message, details))
        for record in records
    ]


def _of_part(session: Session, record: QueuedRequest, part: qbxml.ResponsePart | None, now: datetime) -> Outcome:
    """Return the outcome of one request. A write without a response of its own may have been executed."""
    outcome: Outcome | NotFalling | None = None
    if part is not None:
        document = part.document(record.request_label)
        try:
            # Its id identifies the response, so it is not compared with the last one.
            outcome = of_response(replace(session, last_response=None), record, document, now)
        except Exception as error:  # noqa: BLE001 - an error in one request must not block the others
            outcome = not_interpreted(record, document, error, now)
    if isinstance(outcome, PageReceived):
        return Ended(outcome.after, outcome.response_xml)
    if outcome is not None and not isinstance(outcome, NotFalling):
        return outcome
    if record.is_read:
        return Requeued(record.divided(now))
    return Ended(outcome_unknown(record, now, MISSING, reason_details(Reason.RESPONSE_NOT_UNDERSTOOD)))


def _is_duplicate(part: qbxml.ResponsePart, last: LastResponse | None) -> bool:
    """Whether a response is a duplicate of the last one that the session stored."""
    if last is None or part.name.removesuffix("Rs") != last.request_name.removesuffix("Rq"):
        return False
    return not part.request_label or part.request_label.split() == last.request_label.split()


def _stored_once(records: Sequence[QueuedRequest], text: str) -> list[tuple[QueuedRequest, str | None]]:
    """Return the records, each with the text to store. A text about the whole set is stored with the first one."""
    return [(record, text if index == 0 else None) for index, record in enumerate(records)]
