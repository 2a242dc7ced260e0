"""Outcomes of the requests that were sent together in one message set.

The functions take the records of the set in its order, each `sent`. The text that was sent has a label of the service
for each request (`label_in_set`), because users repeat labels. The stored responses have the labels of the users.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from domain import qbxml
from domain.web_connector.outcomes.attribution import is_about, label_in_set, response_about
from domain.web_connector.outcomes.error_reasons import Reason, reason_details
from domain.web_connector.outcomes.lost_response import RESPONSE_LIMIT, outcome_unknown
from domain.web_connector.outcomes.outcome import (
    Ended,
    NotFalling,
    PageReceived,
    Requeued,
    has_response,
    not_interpreted,
    not_understood,
    of_message_set,
    of_own_response,
)
from domain.web_connector.outcomes.processor_exception import is_exception, of_exception
from domain.web_connector.protocol.soap import MAX_BODY_BYTES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from domain.records.request import QueuedRequest
    from domain.records.session import Session
    from domain.web_connector.outcomes.outcome import Outcome
    from domain.web_connector.protocol.soap import Call

MISSING = "QuickBooks returned no response to this request of a message set of several requests."


def of_set(session: Session, records: Sequence[QueuedRequest], call: Call, now: datetime) -> Sequence[Outcome] | None:
    """Return the outcome of each request, or None if the call is not about the set.

    A read that has no response of its own is sent again alone, because another read may be the cause.
    """
    outcomes = _of_call(session, records, call, now)
    if outcomes is None or not records[0].is_read:
        return outcomes
    return [
        Requeued(record.divided(now)) if isinstance(outcome, Ended) and not has_response(outcome.after) else outcome
        for record, outcome in zip(records, outcomes, strict=True)
    ]


def _of_call(session: Session, records: Sequence[QueuedRequest], call: Call, now: datetime) -> Sequence[Outcome] | None:
    text = call["response"]
    try:
        if call.is_beginning:
            return _of_oversized(records, text, now)
        if is_exception(call["hresult"]):
            return _of_exception(session, records, call, now)
        return _of_response(session, records, text, now)
    except Exception as error:  # noqa: BLE001 - an error in one set must not block the requests behind it
        return [not_interpreted(record, stored, error, now) for record, stored in _stored_once(records, text or None)]


def _of_exception(session: Session, records: Sequence[QueuedRequest], call: Call, now: datetime) -> Sequence[Outcome]:
    """Return the outcomes after an exception. A response that comes with it is stored once."""
    outcomes: list[Outcome] = [of_exception(session, record, call, now, in_set=True) for record in records]
    return [outcomes[0], *(replace(outcome, response_xml=None) for outcome in outcomes[1:])]


def _of_response(
    session: Session, records: Sequence[QueuedRequest], text: str, now: datetime
) -> Sequence[Outcome] | None:
    """Return the outcomes after a response to the message set, or to the question for its stored response."""
    response = response_about(records, text)
    if response is None:
        return None
    if isinstance(response, qbxml.UnreadableResponse):
        message = f"QuickBooks' response cannot be read. {response}"
        return [not_understood(record, stored, message, now) for record, stored in _stored_once(records, text)]
    parts = qbxml.response_parts(text)
    if not parts and records[0].is_read:
        return [Requeued(record.divided(now)) for record in records]
    if not parts:
        code = response.message_set_status
        outcomes = [
            of_message_set(session, record, stored, code, now) for record, stored in _stored_once(records, text)
        ]
        known = [outcome for outcome in outcomes if outcome is not None]
        return known if len(known) == len(records) else None
    matched = _matched(records, parts)
    of_records = [_of_part(session, record, matched.get(record.id), now) for record in records]
    return of_records if len(matched) == len(parts) else _with_text(of_records, text)


def _matched(records: Sequence[QueuedRequest], parts: Sequence[qbxml.ResponsePart]) -> Mapping[str, qbxml.ResponsePart]:
    """Return the response to each request, by the id of its record.

    QuickBooks returns one response to each request, in their order. If it returns more, the first one counts. Responses
    without labels belong to the writes of a set if there is one for each; their text names the set.
    """
    if not records[0].is_read and len(parts) == len(records) and not any(part.request_label for part in parts):
        return {record.id: part for record, part in zip(records, parts, strict=True)}
    by_label = {part.request_label: part for part in reversed(parts)}
    labels = {record.id: label_in_set(record) for record in records}
    return {record_id: by_label[label] for record_id, label in labels.items() if label in by_label}


def _with_text(outcomes: Sequence[Outcome], text: str) -> Sequence[Outcome]:
    """Return the outcomes with the whole text in the first one that ended without a response.

    A person needs the text to find out what QuickBooks has executed, because a part of it belongs to no request.
    """
    without = [isinstance(outcome, Ended) and not outcome.response_xml for outcome in outcomes]
    if True not in without:
        return outcomes
    first = without.index(True)
    return [*outcomes[:first], replace(outcomes[first], response_xml=text), *outcomes[first + 1 :]]


def _of_oversized(records: Sequence[QueuedRequest], beginning: str, now: datetime) -> Sequence[Outcome] | None:
    """Return the outcomes if the response is too large for a call. `beginning` is its first part."""
    if not is_about(records, beginning, qbxml.named_responses(beginning)):
        return None
    message = f"QuickBooks' response to the message set has more than {RESPONSE_LIMIT}. It cannot be stored."
    details = reason_details(Reason.RESPONSE_TOO_LARGE, limit_bytes=MAX_BODY_BYTES)
    return [Ended(outcome_unknown(record, now, message, details)) for record in records]


def _of_part(session: Session, record: QueuedRequest, part: qbxml.ResponsePart | None, now: datetime) -> Outcome:
    """Return the outcome of one request. A write without a response of its own may have been executed."""
    outcome: Outcome | NotFalling | None = None
    if part is not None:
        document = part.document(record.request_label)
        try:
            # Its label identifies the response, so it is not compared with the last one.
            without_last = replace(session, last_response=None)
            outcome = of_own_response(without_last, record, document, qbxml.parse_response(document), now)
        except Exception as error:  # noqa: BLE001 - an error in one request must not block the others
            outcome = not_interpreted(record, document, error, now)
    if isinstance(outcome, PageReceived):
        return Ended(outcome.after, outcome.response_xml)
    if outcome is None or isinstance(outcome, NotFalling):
        return Ended(outcome_unknown(record, now, MISSING, reason_details(Reason.RESPONSE_NOT_UNDERSTOOD)))
    return outcome


def _stored_once(records: Sequence[QueuedRequest], text: str | None) -> list[tuple[QueuedRequest, str | None]]:
    """Return the records, each with the text to store. A text about the whole set is stored with the first one."""
    return [(record, text if index == 0 else None) for index, record in enumerate(records)]
