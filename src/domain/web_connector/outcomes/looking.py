"""`if_exists`: how a request continues that looks for its object before it adds it (`domain.records.lookup`).

While such a request asks, it is a read to everything else: `in_flight` returns it as the query that is in flight, and
`continued` and `after_read` turn what happens to the query into what happens to the request. While it adds, it is a
write like any other, and `continued` only looks at how that ended:

| step | answer | next |
|---|---|---|
| LOOK | one object | ends as `found` |
| LOOK | none | ADD, in the same session |
| ADD | added | ends as `created` |
| ADD | the name is in use | LOOK_AGAIN, if none was found before |
| ADD, recovered | never executed | LOOK, because somebody may have added it meanwhile |
| ADD, recovered | QuickBooks cannot tell | LAST_LOOK, in the same company file |
| LOOK_AGAIN | none | LOOK_ELSEWHERE, if other lists share its names |
| LOOK_AGAIN, LOOK_ELSEWHERE | no object of this type | ends as `name_in_use` |
| LAST_LOOK | none | ends as `outcome_unknown` |
| any query | several | ends as `ambiguous_match` |

A session that ends before that begins with LOOK, or with the recovery of what may have been executed.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any
from xml.etree.ElementTree import Element, SubElement, tostring

from domain import qbxml
from domain.existing.identity import has_name, holder_query, holder_query_name, identity_query, object_id, with_identity
from domain.existing.queries import query_name
from domain.qbxml.codes.statuses import NAME_IN_USE
from domain.qbxml.response.objects import returned_objects
from domain.records.lookup import LookupStep
from domain.records.request import LAST_IN_LINE, ErrorCode, Recovery, State
from domain.web_connector.outcomes.error_reasons import Reason, reason_details
from domain.web_connector.outcomes.lost_response import MAX_SESSIONS, outcome_unknown
from domain.web_connector.outcomes.outcome import Ended, Requeued, SentAgain, not_understood

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from domain.records.request import QueuedRequest
    from domain.records.session import RequestInFlight
    from domain.web_connector.outcomes.outcome import Outcome

ANSWERED = frozenset({0, 1, 500})
"""The status codes of an answer: objects were found; nothing matches; no object has the name."""

MAX_IDS = 20
"""Maximum number of ids in the error of an ambiguous match."""

_NAME_HINT = "Use another name, or the object that holds it."
_NUMBER_HINT = "Find out which of them is meant, and give the others another number."


def in_flight(record: QueuedRequest) -> QueuedRequest:
    """Return a record as what it has in flight: while it looks, the query for its object."""
    if record.lookup is None or not record.looks:
        return record
    name, lookup = _query_name(record, record.lookup.step), record.lookup
    attempts = replace(record.attempts, sessions=lookup.sessions)
    label = _label(record)
    return replace(record, request_name=name, request_label=label, attempts=attempts, recovery=Recovery(), lookup=None)


def query_of(record: QueuedRequest, addition: qbxml.Request) -> qbxml.Request:
    """Return the query that a record sends at its step. Raises InvalidRequest."""
    elsewhere = record.lookup is not None and record.lookup.step is LookupStep.LOOK_ELSEWHERE
    query = (holder_query(addition) if elsewhere else None) or identity_query(addition)
    return query.with_request_label(_label(record))


def after_read(record: QueuedRequest, query: QueuedRequest, now: datetime) -> QueuedRequest:
    """Return a record that looks, after its query is queued again, or has ended in an error."""
    if record.lookup is None:
        return query
    if query.error:
        if record.lookup.step is LookupStep.LAST_LOOK:
            return outcome_unknown(record, now, query.error.message, dict(query.error.details))
        return record.failed(now, ErrorCode(query.error.code), query.error.message, query.error.details)
    lookup = replace(record.lookup, sessions=query.attempts.sessions)
    attempts = replace(query.attempts, sessions=record.attempts.sessions)
    # A write keeps its place, because those behind it may need its object.
    keeps_place = record.recovery.begun or query.queue_priority == LAST_IN_LINE
    priority = record.queue_priority if keeps_place else query.queue_priority
    return replace(record, lookup=lookup, attempts=attempts, queue_priority=priority).requeued(now)


def after_session_end(record: QueuedRequest, after: QueuedRequest, now: datetime) -> QueuedRequest:
    """Return a record that adds, after the end of its session. If recovery gave up, it looks for its object."""
    gave_up = record.recovering and _is_unknown(after) and record.recovery.company_file_key is not None
    if record.lookup is None or not gave_up:
        return after
    return replace(record, lookup=record.lookup.at(LookupStep.LAST_LOOK)).requeued(now)


def continued(outcome: Outcome, stored: RequestInFlight, open_key: str | None, now: datetime) -> Outcome:
    """Return the outcome of a request, given that of what it had in flight. `open_key` is the open company file's."""
    record, after = stored.record, outcome.after
    if record.lookup is None:
        return outcome
    if not record.looks:
        return _after_addition(record, outcome, open_key, now)
    if after.state is State.RESPONSE_RECEIVED:
        return _after_answer(stored, outcome.response_xml or "", open_key, now)
    text = outcome.response_xml if after.error else None
    return replace(outcome, after=after_read(record, after, now), response_xml=text)


def _after_addition(record: QueuedRequest, outcome: Outcome, open_key: str | None, now: datetime) -> Outcome:
    """Return the outcome of an addition, or its next step."""
    after = outcome.after
    if isinstance(outcome, SentAgain):
        was_never_executed = record.recovering and not after.recovering
        return replace(outcome, after=_at(after, LookupStep.LOOK)) if was_never_executed else outcome
    code = after.error.details.get("status_code") if after.error else None
    if after.error and after.error.code == ErrorCode.QUICKBOOKS_ERROR and code == NAME_IN_USE:
        if has_name(_subject(record)) and record.attempts.sessions <= MAX_SESSIONS:
            return _next(record, LookupStep.LOOK_AGAIN, now)
    elif record.recovering and _is_unknown(after) and open_key and open_key == record.recovery.company_file_key:
        return _next(record, LookupStep.LAST_LOOK, now)
    return outcome


def _after_answer(stored: RequestInFlight, text: str, open_key: str | None, now: datetime) -> Outcome:
    """Return the outcome of a request whose query was answered."""
    record = stored.record
    statuses, rows = qbxml.parse_response(text).statuses, returned_objects(text)
    if len(statuses) != 1 or statuses[0].code not in ANSWERED:
        message = f"QuickBooks did not answer the query for the object: status {statuses[0].code}."
        return not_understood(record, text, message, now)
    step = record.lookup.step if record.lookup else LookupStep.LOOK
    if step is LookupStep.LAST_LOOK and open_key != record.recovery.company_file_key:
        return _asked_in_another_file(record, now)
    addition = qbxml.stored_request(stored.request_xml or "", record.qbxml_version)
    found = with_identity(addition, rows)
    if not found:
        return _not_found(record, step, rows, text, now)
    if len(found) > 1:
        return Ended(_ambiguous(record, found, now), text)
    return Ended(record.moved(State.RESPONSE_RECEIVED, now), _as_added(record, found[0]))


def _not_found(record: QueuedRequest, step: LookupStep, rows: Sequence[Element], text: str, now: datetime) -> Outcome:
    """Return the outcome of a request whose object was not found. `rows` are other objects in the answer `text`."""
    if step is LookupStep.LOOK:
        return _next(record, LookupStep.ADD, now)
    if step is LookupStep.LAST_LOOK:
        message = "QuickBooks cannot tell whether it executed this request, and has no object with its identity."
        return Ended(outcome_unknown(record, now, message, reason_details(Reason.RESPONSE_LOST)), text)
    if step is LookupStep.LOOK_AGAIN and holder_query_name(_subject(record)):
        return _next(record, LookupStep.LOOK_ELSEWHERE, now)
    return Ended(_name_in_use(record, rows, now), text)


def _asked_in_another_file(record: QueuedRequest, now: datetime) -> Outcome:
    """Return the outcome of a last query that was answered in a company file that may be another one."""
    if record.lookup and record.lookup.sessions < MAX_SESSIONS:
        return Requeued(record.requeued(now))
    message = "The open company file may not be the one that the write was sent to."
    return Ended(outcome_unknown(record, now, message, reason_details(Reason.OTHER_FILE)))


def _ambiguous(record: QueuedRequest, found: Sequence[Element], now: datetime) -> QueuedRequest:
    details: dict[str, Any] = {"ids": [object_id(row) for row in found[:MAX_IDS]], "hint": _NUMBER_HINT}
    message = f"QuickBooks has {len(found)} objects with this identity."
    return record.failed(now, ErrorCode.AMBIGUOUS_MATCH, message, details)


def _name_in_use(record: QueuedRequest, rows: Sequence[Element], now: datetime) -> QueuedRequest:
    holder = rows[0] if rows else None
    kind = holder.tag.removesuffix("Ret") if holder is not None else None
    details = {"list": kind, "list_id": object_id(holder) if holder is not None else None, "hint": _NAME_HINT}
    where = f"The list {kind} holds it" if kind else "No query shows which object holds it"
    return record.failed(now, ErrorCode.NAME_IN_USE, f"QuickBooks refused the name, which is in use. {where}.", details)


def _next(record: QueuedRequest, step: LookupStep, now: datetime) -> SentAgain:
    """Return the outcome of a request that sends its next step in the same session."""
    recovery = replace(record.recovery, active=False)
    if step is LookupStep.LAST_LOOK:
        queued = record.queued_for_recovery(now, running_until=record.recovery.running_until)
    else:
        queued = replace(record.requeued(now), recovery=recovery)
    # It stays listed as it was before the claim, so this step costs no entry of an index.
    return SentAgain(_at(replace(queued.moved(State.TICKETED, now), claim=record.claim), step), is_step=record.looks)


def _at(record: QueuedRequest, step: LookupStep) -> QueuedRequest:
    return replace(record, lookup=record.lookup and record.lookup.at(step))


def _is_unknown(after: QueuedRequest) -> bool:
    return after.error is not None and after.error.code == ErrorCode.OUTCOME_UNKNOWN


def _subject(record: QueuedRequest) -> str:
    return record.request_name.removesuffix("AddRq")


def _query_name(record: QueuedRequest, step: LookupStep) -> str:
    subject = _subject(record)
    return (holder_query_name(subject) if step is LookupStep.LOOK_ELSEWHERE else None) or query_name(subject)


def _label(record: QueuedRequest) -> str:
    """Return the label of a query. A late answer to an earlier one has another label."""
    return f"look-{record.lookup.number if record.lookup else 0}-{record.id}"


def _as_added(record: QueuedRequest, row: Element) -> str:
    """Return an object in the form of the response to its addition."""
    root = Element("QBXML")
    attributes = {"requestID": record.request_label, "statusCode": "0", "statusSeverity": "Info"}
    response = SubElement(
        SubElement(root, "QBXMLMsgsRs"), f"{_subject(record)}AddRs", {**attributes, "statusMessage": "Status OK"}
    )
    response.append(row)
    return f'<?xml version="1.0" ?>\n{tostring(root, encoding="unicode")}\n'
