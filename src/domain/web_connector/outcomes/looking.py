"""`if_exists`: how a request continues that looks for its object before it writes (`domain.records.lookup`).

While such a request asks, it is a read to everything else: `in_flight` returns it as the query that is in flight, and
`continued` and `after_session` turn what happens to the query into what happens to the request. While it adds or
changes, it is a write like any other, and they only look at how that ended:

| step | answer | next |
|---|---|---|
| LOOK | one object | ends as `found`. With UPDATE: as `unchanged` if nothing differs, otherwise MOD |
| LOOK | none | ADD, in the same session |
| ADD | added | ends as `created` |
| ADD | the name is in use | LOOK_AGAIN, if none was found before |
| MOD | changed | ends as `updated` |
| MOD | the object was changed after it was read | LOOK, at most MAX_SESSIONS times |
| MOD, the first write | an object does not exist: this one, or one that it names | LOOK, once |
| LOOK, LOOK_AGAIN | ADD or MOD follows, and nobody has approved it | with UPDATE, it waits for approval, then LOOK |
| ADD or MOD, recovered | never executed | LOOK, because somebody may have added or changed it meanwhile |
| ADD or MOD | it does not tell whether QuickBooks executed it | LAST_LOOK, in the same company file |
| LOOK_AGAIN | one object | as LOOK |
| LOOK_AGAIN | none | LOOK_ELSEWHERE, if other lists share its names |
| LOOK_AGAIN, LOOK_ELSEWHERE | no object of this type | ends as `name_in_use` |
| LAST_LOOK | one object | as LOOK. If it differs: MOD again if it is as it was before that, else `outcome_unknown` |
| LAST_LOOK | none | ends as `outcome_unknown` |
| any query | several | ends as `ambiguous_match` |

A session that ends before that begins with LOOK, or with the recovery of what may have been executed. QuickBooks
executes a MOD at most once, because that gives the object another `EditSequence` than the one in its text.

An UPDATE that needs approval asks before it waits for it. An approval is for one text, and the session that may send it
asks once more: if another text follows from the answer, that one waits for approval (`QueuedRequest.may_write`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from domain import qbxml
from domain.existing.identity import has_name, holder_query_name, object_id, with_identity
from domain.existing.modification import field_changes, is_as_read, modification
from domain.qbxml.codes.statuses import EDIT_SEQUENCE_OUT_OF_DATE, NAME_IN_USE, OBJECT_NOT_FOUND
from domain.qbxml.response.objects import returned_objects
from domain.records.lookup import LookupStep
from domain.records.request import LAST_IN_LINE, Claim, ErrorCode, State
from domain.storage.changes import ChangeRequest
from domain.web_connector.outcomes.error_reasons import Reason, reason_details
from domain.web_connector.outcomes.lookup_messages import after_write, as_added, modification_id, subject_of
from domain.web_connector.outcomes.lost_response import MAX_SESSIONS, outcome_unknown
from domain.web_connector.outcomes.outcome import Ended, Requeued, SentAgain, not_understood

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime
    from xml.etree.ElementTree import Element

    from domain.records.request import QueuedRequest
    from domain.records.session import RequestInFlight
    from domain.web_connector.outcomes.outcome import Outcome

ANSWERED = frozenset({0, 1, 500})
"""The status codes of an answer: objects were found; nothing matches; no object has the name."""

MAX_IDS = 20
"""Maximum number of ids in the error of an ambiguous match."""

_NAME_HINT = "Use another name, or the object that holds it."
_NUMBER_HINT = "Find out which of them is meant, and give the others another number."


def after_session(record: QueuedRequest, after: QueuedRequest, now: datetime) -> QueuedRequest:
    """Return a record after what it had in flight was queued again, or has ended, without an answer.

    If the recovery of its write gave up, it looks for its object.
    """
    if record.lookup is None:
        return after
    if record.looks:
        return _after_query(record, after, now)
    gave_up = record.recovering and _is_unknown(after) and record.recovery.company_file_key is not None
    return _at(record, LookupStep.LAST_LOOK).requeued(now) if gave_up else after_write(record, after)


def _after_query(record: QueuedRequest, query: QueuedRequest, now: datetime) -> QueuedRequest:
    """Return a record that looks, after its query was queued again, or has ended in an error."""
    if record.lookup is None:
        raise AssertionError("only a request with `if_exists` looks")
    if query.error:
        if record.lookup.step is LookupStep.LAST_LOOK:
            return outcome_unknown(record, now, query.error.message, dict(query.error.details))
        return record.failed(now, ErrorCode(query.error.code), query.error.message, query.error.details)
    lookup = replace(record.lookup, sessions=query.attempts.sessions)
    attempts = replace(query.attempts, sessions=record.attempts.sessions)
    # A write keeps its place, because those behind it may need its object.
    keeps_place = record.recovery.begun or query.queue_priority == LAST_IN_LINE
    priority = record.queue_priority if keeps_place else query.queue_priority
    queued = replace(record, lookup=lookup, attempts=attempts, queue_priority=priority).requeued(now)
    # The query of a set may be sent again in the same session, alone.
    return replace(queued, claim=query.claim)


def given_back(records: Iterable[QueuedRequest], now: datetime) -> list[ChangeRequest]:
    """Return the changes that queue requests again whose queries were answered, after a failure or a pause.

    They keep their places. Each asks again, alone, before it writes. The session may claim it at once.
    """
    claimed = [record for record in records if record.state is State.TICKETED]
    return [ChangeRequest(record, _given_back(record, now).as_change_of(record)) for record in claimed]


def in_turn(outcomes: Sequence[Outcome], now: datetime) -> Sequence[Outcome]:
    """Return the outcomes of a set of queries. Behind a request that is queued again, nothing is written before it.

    The others may need its object. They are queued again too, in their places.
    """
    result: list[Outcome] = []
    is_held = False
    for outcome in outcomes:
        held = is_held and isinstance(outcome, SentAgain) and outcome.is_step
        result.append(Requeued(_given_back(outcome.after, now), is_step=True) if held else outcome)
        is_held |= not isinstance(outcome, SentAgain) and outcome.after.is_in_queue
    return result


def _given_back(record: QueuedRequest, now: datetime) -> QueuedRequest:
    return replace(record.requeued(now), claim=Claim())


def continued(outcome: Outcome, stored: RequestInFlight, open_key: str | None, now: datetime) -> Outcome:
    """Return the outcome of a request, given that of what it had in flight. `open_key` is the open company file's."""
    record, after = stored.record, outcome.after
    if record.lookup is None:
        return outcome
    if not record.looks:
        return _after_write(record, replace(outcome, after=after_write(record, after)), open_key, now)
    if after.state is State.RESPONSE_RECEIVED:
        return _after_answer(stored, outcome.response_xml or "", open_key, now)
    text = outcome.response_xml if after.error else None
    return replace(outcome, after=_after_query(record, after, now), response_xml=text)


def _after_write(record: QueuedRequest, outcome: Outcome, open_key: str | None, now: datetime) -> Outcome:
    """Return the outcome of an addition or a Mod, or the next step."""
    after = outcome.after
    if isinstance(outcome, SentAgain):
        was_never_executed = record.recovering and not after.recovering
        return replace(outcome, after=_at(after, LookupStep.LOOK)) if was_never_executed else outcome
    if after.state is State.RESPONSE_RECEIVED and record.modifies:
        text = outcome.response_xml or ""
        status = qbxml.parse_response(text).statuses[0]
        return replace(outcome, response_xml=as_added(record, returned_objects(text), status))
    is_same_file = bool(open_key) and open_key == record.recovery.company_file_key
    if _is_unknown(after):
        return _next(record, LookupStep.LAST_LOOK, now) if is_same_file else outcome
    step = _after_refusal(record, after)
    if step is None or record.attempts.sessions > MAX_SESSIONS:
        return outcome
    if record.updates and record.recovering and not is_same_file:
        message = "QuickBooks refused what was sent first. Whether it executed what was sent later is not known."
        return Ended(outcome_unknown(record, now, message, reason_details(Reason.RESPONSE_LOST)), outcome.response_xml)
    return _next(record, step, now)


def _after_refusal(record: QueuedRequest, after: QueuedRequest) -> LookupStep | None:
    """Return the step after QuickBooks has refused a write, or None if the refusal ends the request."""
    refused = after.error is not None and after.error.code == ErrorCode.QUICKBOOKS_ERROR
    status = after.error.details.get("status_code") if after.error and refused else None
    if status == NAME_IN_USE and not record.modifies and has_name(subject_of(record)):
        return LookupStep.LOOK_AGAIN
    # Somebody may have deleted the object. Once is enough, because a reference that leads nowhere has the same status.
    was_deleted = status == OBJECT_NOT_FOUND and record.attempts.sessions == 1
    return LookupStep.LOOK if record.modifies and (status == EDIT_SEQUENCE_OUT_OF_DATE or was_deleted) else None


def _after_answer(stored: RequestInFlight, text: str, open_key: str | None, now: datetime) -> Outcome:
    """Return the outcome of a request whose query was answered."""
    record = stored.record
    statuses, rows = qbxml.parse_response(text).statuses, returned_objects(text)
    if len(statuses) != 1 or statuses[0].code not in ANSWERED:
        message = f"QuickBooks did not answer the query for the object: status {statuses[0].code}."
        return not_understood(record, text, message, now)
    step = record.lookup.step if record.lookup else LookupStep.LOOK
    if step is LookupStep.LAST_LOOK and (not open_key or open_key != record.recovery.company_file_key):
        return _asked_in_another_file(record, now)
    addition = qbxml.stored_request(stored.request_xml or "", record.qbxml_version)
    found = with_identity(addition, rows)
    if not found:
        return _not_found(record, step, rows, text, now)
    if len(found) > 1:
        return Ended(_ambiguous(record, found, now), text)
    return _found(stored, addition, found[0], text, now)


def _found(stored: RequestInFlight, addition: qbxml.Request, row: Element, text: str, now: datetime) -> Outcome:
    """Return the outcome of a request whose object was found. `row` is the object in the answer `text`."""
    record = stored.record
    needed = modification(addition, row) if record.updates else None
    if needed is None:
        return Ended(record.moved(State.RESPONSE_RECEIVED, now), as_added(record, [row]))
    if record.lookup and record.lookup.step is LookupStep.LAST_LOOK and not _may_be_sent_again(stored, row):
        message = "QuickBooks cannot tell whether it executed this request, and its object differs from it."
        return Ended(outcome_unknown(record, now, message, reason_details(Reason.RESPONSE_LOST)), text)
    return _modifying(record, needed, row, now)


def _may_be_sent_again(stored: RequestInFlight, row: Element) -> bool:
    """Whether a Mod may be sent of which QuickBooks cannot tell whether it executed it.

    Its object must be as it was read, so QuickBooks has not executed the Mod. After an addition nothing may follow: if
    the next Mod were refused, and the object were gone by then, the addition would be sent a second time.
    """
    if stored.modification_xml is None or stored.record.attempts.sessions > MAX_SESSIONS:
        return False
    return is_as_read(qbxml.stored_request(stored.modification_xml, stored.record.qbxml_version), row)


def _not_found(record: QueuedRequest, step: LookupStep, rows: Sequence[Element], text: str, now: datetime) -> Outcome:
    """Return the outcome of a request whose object was not found. `rows` are other objects in the answer `text`."""
    if step is LookupStep.LOOK:
        return _next(record, LookupStep.ADD, now) if record.may_write(None) else _approval_of_addition(record, now)
    if step is LookupStep.LAST_LOOK:
        message = "QuickBooks cannot tell whether it executed this request, and has no object with its identity."
        return Ended(outcome_unknown(record, now, message, reason_details(Reason.RESPONSE_LOST)), text)
    if step is LookupStep.LOOK_AGAIN and holder_query_name(subject_of(record)):
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
    if step is LookupStep.LAST_LOOK:
        queued = record.queued_for_recovery(now, running_until=record.recovery.running_until)
    else:
        queued = _not_recovering(record, now)
    return SentAgain(_at(_claimed_again(record, queued, now), step), is_step=record.looks)


def _modifying(record: QueuedRequest, needed: qbxml.Request, row: Element, now: datetime) -> SentAgain | Requeued:
    """Return the outcome of a request that sends a Mod of an object in the same session, or waits for its approval."""
    mod_id = modification_id(record, needed)
    queued, may_write = _not_recovering(record, now), record.may_write(mod_id)
    after = _claimed_again(record, queued, now) if may_write else _awaiting_approval(queued, now)
    after = replace(after, lookup=after.lookup and after.lookup.modifying(mod_id))
    text = needed.with_request_label(after.modification_label or "").to_xml()
    outcome = SentAgain if may_write else Requeued
    return outcome(after, is_step=True, modification_xml=text, field_changes=field_changes(needed, row))


def _approval_of_addition(record: QueuedRequest, now: datetime) -> Requeued:
    """Return the outcome of an update that waits for the approval of its addition."""
    return Requeued(_at(_awaiting_approval(_not_recovering(record, now), now), LookupStep.ADD), is_step=True)


def _awaiting_approval(queued: QueuedRequest, now: datetime) -> QueuedRequest:
    # The session that asked may also claim it after its approval.
    return replace(queued.awaiting_approval_again(now), claim=Claim())


def _not_recovering(record: QueuedRequest, now: datetime) -> QueuedRequest:
    return replace(record.requeued(now), recovery=replace(record.recovery, active=False))


def _claimed_again(record: QueuedRequest, queued: QueuedRequest, now: datetime) -> QueuedRequest:
    # It stays listed as it was before the claim, so a step costs no entry of an index.
    return replace(queued.moved(State.TICKETED, now), claim=record.claim)


def _at(record: QueuedRequest, step: LookupStep) -> QueuedRequest:
    return replace(record, lookup=record.lookup and record.lookup.at(step))


def _is_unknown(after: QueuedRequest) -> bool:
    return after.error is not None and after.error.code == ErrorCode.OUTCOME_UNKNOWN
