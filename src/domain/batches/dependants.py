"""Dependants: requests of a batch that wait for an earlier one of it (docs/decisions/0083).

A dependant is not in the queue. When its last dependency ends with a response, it gets the values that it refers to and
enters the queue, behind the requests that wait there. If a dependency ends in any other way, the dependant ends in an
error, and so do its own dependants. All of this is part of the commit that ends the dependency. A session sends a
request with dependants alone, so a commit ends at most one, and 100 operations suffice: a batch has 25 requests.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from domain import qbxml
from domain.records.batch import MAX_REQUESTS, id_at, position_of
from domain.records.request import ENDED, ErrorCode, State
from domain.records.search_text import error_lines, with_lines
from domain.records.session import RequestInFlight
from domain.storage.changes import ChangeRequest, RemoveRequest

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from domain.records.audit import Actor
    from domain.records.request import QueuedRequest
    from domain.storage.changes import Change
    from domain.storage.ports import RecordReads

DELETED = "deleted"

_SETTLE_IT_FIRST = "Look at the error of the request in dependency_id. When its cause is settled, continue the batch."
_COMPARE = "Compare path with the response to the request in dependency_id, and correct the reference."

MAX_READ_BYTES = 64 * 1024 * 1024
"""More than all requests of a batch have."""


def with_dependants(store: RecordReads, changes: Iterable[Change], now: datetime) -> list[Change]:
    """Return changes together with those of the dependants of the requests that end in them.

    Without dependants it makes no call to the store. With them it makes one, and a second one if a value cannot be
    resolved or a request is in chunks.
    """
    changes = list(changes)
    return [*changes, *changes_of_dependants(store, changes, now)]


def changes_of_dependants(store: RecordReads, changes: Iterable[Change], now: datetime) -> list[ChangeRequest]:
    """Return the changes of the dependants of the requests that end in `changes`."""
    dependants = _Dependants(store, now)
    for change in changes:
        if isinstance(change, ChangeRequest) and change.before.dependants and _ends(change):
            dependants.follow(_End.of(change))
        elif isinstance(change, RemoveRequest) and change.before.dependants and change.before.state not in ENDED:
            dependants.follow(_End(change.before, DELETED))
    return list(dependants.changes.values())


def waiting_dependants(store: RecordReads, record: QueuedRequest) -> Sequence[str]:
    """Return the ids of the requests that wait for `record` directly. Without dependants it makes no call."""
    if not record.dependants:
        return ()
    position = position_of(record.id)
    found = store.records_by_id([id_at(record.id, other) for other in record.dependants])
    return sorted(dependant.id for dependant in found if _waits_for(dependant, position))


def _ends(change: ChangeRequest) -> bool:
    return change.before.state not in ENDED and change.after.state in ENDED


def _waits_for(record: QueuedRequest, position: int) -> bool:
    return record.state is State.WAITING and position in record.dependencies


@dataclass(frozen=True, slots=True)
class _End:
    """The end of a request: with a response, or with the error code or state `code`."""

    record: QueuedRequest
    code: str | None = None
    response: qbxml.ResponseValues = field(default_factory=lambda: qbxml.ResponseValues(""))

    @classmethod
    def of(cls, change: ChangeRequest) -> _End:
        after = change.after
        if after.state is State.RESPONSE_RECEIVED:
            return cls(after, response=qbxml.ResponseValues(change.response_xml or ""))
        return cls(after, after.error.code if after.error else after.state.value)


@dataclass(frozen=True, slots=True)
class _Dependant:
    """A dependant as it is stored, and with the changes of this commit."""

    before: QueuedRequest
    record: QueuedRequest
    request_xml: str | None
    references: tuple[qbxml.Reference, ...]
    queued_by: Actor | None


@dataclass
class _Dependants:
    """The dependants of one commit. Several changes of one are merged in `changes`."""

    store: RecordReads
    now: datetime
    changes: dict[str, ChangeRequest] = field(default_factory=dict)
    _known: dict[str, _Dependant | None] = field(default_factory=dict)

    def follow(self, first: _End) -> None:
        """Change the dependants of a request that ends, and of those that end because of it."""
        ends = deque([first])
        while ends:
            end = ends.popleft()
            position = position_of(end.record.id)
            self._read(end)
            for other in end.record.dependants:
                dependant = self._known[id_at(end.record.id, other)]
                if dependant and _waits_for(dependant.record, position):
                    failure = self._change(dependant, end)
                    if failure:
                        ends.append(failure)

    def _read(self, end: _End) -> None:
        """Read the direct dependants of a request, or all requests behind it in its batch if they may end as well."""
        position = position_of(end.record.id)
        positions = end.record.dependants if end.code is None else range(position + 1, MAX_REQUESTS)
        ids = [id_at(end.record.id, other) for other in positions]
        missing = [request_id for request_id in ids if request_id not in self._known]
        if not {id_at(end.record.id, other) for other in end.record.dependants} & {*missing}:
            return
        batch = self.store.request_batch(missing)
        self._known.update(dict.fromkeys(missing))
        listed = batch.with_bodies(list(batch.records), max_response_bytes=0, max_total_bytes=MAX_READ_BYTES)
        for item in listed:
            self._known[item.record.id] = _Dependant(
                item.record, item.record, item.request_xml, item.references, item.queued_by
            )

    def _change(self, dependant: _Dependant, end: _End) -> _End | None:
        """Release or end a dependant. Return its end if it ends."""
        record, references = dependant.record, dependant.references
        if end.code is not None:
            message = f"The request {end.record.id}, on which it depends, ended: {end.code}. It was not sent."
            details = {"dependency_id": end.record.id, "dependency_code": end.code, "hint": _SETTLE_IT_FIRST}
            return self._failed(dependant, ErrorCode.DEPENDENCY_FAILED, message, details)
        try:
            if any(reference.source == end.record.id for reference in references):
                references = qbxml.resolved(references, end.record.id, end.response)
                references = qbxml.fitted(dependant.request_xml or "", record.qbxml_version, references)
        except qbxml.BadReference as error:
            reference = error.reference
            details = {
                "dependency_id": reference.source,
                "path": reference.path,
                "place": reference.place,
                "hint": _COMPARE,
            }
            return self._failed(dependant, ErrorCode(error.code), f"{error.message} It was not sent.", details)
        except Exception as error:  # noqa: BLE001 - an error in one request must not block the others
            message = (
                f"The service could not resolve its references: unexpected {type(error).__name__}. It was not sent."
            )
            details = {"dependency_id": end.record.id, "hint": _COMPARE}
            return self._failed(dependant, ErrorCode.REFERENCE_UNRESOLVED, message, details)
        after = record.without_dependency(position_of(end.record.id), self.now).as_change_of(dependant.before)
        self._known[record.id] = replace(dependant, record=after, references=references)
        changed = references if references != dependant.references else self._changed_before(record.id)
        self.changes[record.id] = ChangeRequest(dependant.before, after, references=changed)
        return None

    def _changed_before(self, request_id: str) -> tuple[qbxml.Reference, ...] | None:
        change = self.changes.get(request_id)
        return change.references if change else None

    def _failed(self, dependant: _Dependant, code: ErrorCode, message: str, details: dict[str, str]) -> _End:
        after = dependant.record.failed(self.now, code, message, details).as_change_of(dependant.before)
        self._known[after.id] = replace(dependant, record=after)
        stored = RequestInFlight(dependant.before, dependant.request_xml, queued_by=dependant.queued_by)
        search_text = with_lines(stored.search_text, error_lines(after)) if stored.search_text else None
        self.changes[after.id] = ChangeRequest(dependant.before, after, search_text=search_text)
        return _End(after, code)
