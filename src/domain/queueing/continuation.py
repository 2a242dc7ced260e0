"""Continues a batch in which a request failed: queues it again, and what ended with `dependency_failed` because of it.

The new requests are the successors of the former ones (`domain.queueing.successor`), so they are a batch too, and each
is queued once. Their references name each other, and requests of the former batch that have ended with a response.

If QuickBooks has executed the failed request after all, only what ended because of it is queued. Its references name
the query that has settled the failed request, whose result is the object.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from domain.batches.dependencies import MAX_OUTSIDE_BYTES
from domain.errors import Gone, InvalidRequest, InvalidState, OtherSuccessor, TooManyRequests
from domain.qbxml.response.objects import returned_objects
from domain.queueing.new_request import (
    Continues,
    NewRequest,
    QueueBatch,
    Queued,
    QueuedBatch,
    copy_of,
    with_references,
)
from domain.queueing.service import refuse_rejected
from domain.queueing.successor import HasSuccessor, Replaces
from domain.records.app import AppLimits
from domain.records.approval import UNKNOWN_AUTHOR, Author
from domain.records.batch import MAX_REQUESTS, batch_id, id_at, ids_of_batch, position_of
from domain.records.ownership import not_found
from domain.records.request import ENDED, ErrorCode, State, WhetherExecuted
from domain.records.successor import id_again
from domain.storage.retry import MAX_ATTEMPTS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from domain.qbxml import Reference
    from domain.queueing.new_request import Queueing
    from domain.records.audit import Actor
    from domain.records.connection import Connection
    from domain.records.request import QueuedRequest, StoredRequest
    from domain.storage.ports import NewRequestStore

MAX_GENERATIONS = 10
"""How many times in a row successors that failed are followed. Each is one read."""

Correction: TypeAlias = Callable[["Connection", NewRequest], NewRequest]
"""Returns the corrected request, from the connection and the copy of the one that failed. Raises InvalidRequest."""


@dataclass(frozen=True, slots=True)
class ContinueBatch:
    """The command to continue a batch.

    `step` is the id of the request that failed. It is needed if several failed. Without a `correction`, its copy is
    queued. With `force`, QuickBooks may have executed it. `author` queues.
    """

    app_id: str
    connection_id: str
    batch_id: str
    actor: Actor
    author: Author = UNKNOWN_AUTHOR
    step: str | None = None
    correction: Correction | None = None
    force: bool = False
    limits: AppLimits = AppLimits()


class Continuing:
    """The use case."""

    def __init__(self, store: NewRequestStore, queueing: Queueing) -> None:
        self._store = store
        self._queueing = queueing

    def continue_batch(self, command: ContinueBatch) -> QueuedBatch:
        """Queue the successors of the requests that can be queued now, with one commit. Return all there are.

        Raises NotFound, Gone, InvalidState, PossiblyExecuted, OtherSuccessor, InvalidRequest, and the errors of
        `Queueing.queue_batch`.
        """
        for _ in range(MAX_ATTEMPTS):
            family = self._family(command)
            step = family.failed_step(command.step)
            queued_before = family.successors_of(step)
            self._check_same(command, step, family)
            ids = family.to_queue(step)
            if not ids:
                return self._queued(command, [], queued_before)
            try:
                added = self._queueing.queue_batch(self._batch(command, step, ids, family))
            except HasSuccessor:
                continue
            return self._queued(command, added.requests, queued_before)
        raise TooManyRequests("The batch is being continued. Try again in a moment.")

    def _family(self, command: ContinueBatch) -> _Family:
        """Read the batch and its successors. Raises NotFound."""
        if batch_id(command.batch_id) != command.batch_id:
            raise not_found("batch")
        ids = ids_of_batch(command.batch_id, MAX_REQUESTS)
        records: dict[str, QueuedRequest] = {}
        following = [*ids, *map(id_again, ids)]
        # Successors may have failed too, and have successors.
        for _ in range(MAX_GENERATIONS):
            found = {
                record.id: record
                for record in self._store.records_by_id(following)
                if (record.app_id, record.connection_id) == (command.app_id, command.connection_id)
            }
            records |= found
            generation = following[-MAX_REQUESTS:]
            if not found.keys() & {*generation}:
                break
            following = [id_again(one) for one in generation]
        if not records.keys() & {*ids}:
            raise not_found("batch")
        is_queued_again = command.force or command.correction is not None
        return _Family(ids, records, {} if is_queued_again else self._results(records))

    def _results(self, records: Mapping[str, QueuedRequest]) -> Mapping[str, str]:
        """Return the query that has the object of each write which QuickBooks has executed without a response.

        If a query returned several objects, as those of a number that occurs twice, it is left out.
        """
        queries = {
            record.settling_query_id: record.id
            for record in records.values()
            if record.state is State.ERROR and record.executed is WhetherExecuted.YES and record.settling_query_id
        }
        if not queries:
            return {}
        batch = self._store.request_batch(list(queries))
        found = [batch.whole(record, max_response_bytes=MAX_OUTSIDE_BYTES) for record in batch.records]
        return {queries[one.record.id]: one.record.id for one in found if one and _has_one_object(one.response_xml)}

    def _check_same(self, command: ContinueBatch, step: QueuedRequest, family: _Family) -> None:
        """Raise OtherSuccessor if the failed request has a successor that the correction would not have made."""
        successor = family.successor(step.id)
        if successor is None or command.correction is None:
            return
        (before, after) = self._stored([step, successor])
        new = command.correction(self._queueing.connection(command.app_id, command.connection_id), copy_of(before))
        there = with_references(after, copy_of(after))
        if _content(new) != _content(there):
            message = f"The request {step.id} was queued again with other content, as {successor.id}. Look at that one."
            raise OtherSuccessor(message, {"record_id": successor.id})

    def _stored(self, records: Sequence[QueuedRequest]) -> list[StoredRequest]:
        """Return records with their requests. Raises Gone if one was deleted meanwhile."""
        # A request that failed has no response that is needed.
        batch = self._store.request_batch([record.id for record in records])
        known = {record.id: record for record in batch.records}
        result = []
        for record in records:
            stored = batch.whole(known[record.id], max_response_bytes=0) if record.id in known else None
            if stored is None:
                raise _gone(record.id)
            result.append(stored)
        return result

    def _batch(self, command: ContinueBatch, step: QueuedRequest, ids: Sequence[str], family: _Family) -> QueueBatch:
        """Return the command that queues the successors of the requests `ids`."""
        replaces = Replaces(step.id, command.force, command.actor)
        if step.id in ids:
            replaces.check(step)
            if command.correction is None:
                refuse_rejected(step)
        stored = self._stored([family.records[request_id] for request_id in ids])

        corrected = step.id if command.correction else None
        self._check_sources([one for one in stored if one.record.id != corrected], family)

        def read(connection: Connection) -> list[NewRequest]:
            batch = []
            for one in stored:
                new = copy_of(one)
                if command.correction and one.record.id == corrected:
                    new = command.correction(connection, new)
                else:
                    new = with_references(one, new)
                batch.append(family.linked(one.record, new))
            return batch

        return QueueBatch(
            command.app_id,
            command.connection_id,
            read,
            limits=command.limits,
            continues=Continues(replaces, ids, {*family.records, *family.results.values()}),
            author=command.author,
        )

    def _check_sources(self, copied: Sequence[StoredRequest], family: _Family) -> None:
        """Raise Gone if a request outside the batch that a value comes from was deleted."""
        named = {reference.source for stored in copied for reference in stored.references}
        outside = sorted(named.difference(family.ids))
        if outside:
            there = {record.id for record in self._store.records_by_id(outside)}
            for source in outside:
                if source not in there:
                    raise _gone(source)

    def _queued(self, command: ContinueBatch, added: Sequence[Queued], before: Sequence[QueuedRequest]) -> QueuedBatch:
        """Return all successors in the order of the batch."""
        former = self._queueing.stored(
            command.app_id, command.connection_id, [record.id for record in before], repeated=True
        )
        requests = sorted([*former, *added], key=lambda queued: position_of(queued.stored.record.id))
        return QueuedBatch(requests, repeated=not added)


@dataclass(frozen=True, slots=True)
class _Family:
    """The requests of a batch, with the ids `ids`, and their successors, and theirs. `records` are those that exist.

    `results` are the queries that have the object of a write without a response, by the id of the write.
    """

    ids: Sequence[str]
    records: Mapping[str, QueuedRequest]
    results: Mapping[str, str]

    def successor(self, request_id: str) -> QueuedRequest | None:
        """Return the successor of a request of the batch, or None."""
        return self.records.get(id_again(request_id))

    def failed_step(self, request_id: str | None) -> QueuedRequest:
        """Return the request that failed: the one with this id, or the only one."""
        if request_id is not None and request_id not in self.ids:
            raise InvalidRequest.of("request_id", "is not a request of this batch")
        if request_id is not None and request_id not in self.records:
            raise _gone(request_id)
        members = [self.records[one] for one in self.ids if one in self.records]
        failed = [record for record in members if _has_failed(record)]
        if request_id is not None:
            step = self.records[request_id]
            if step not in failed:
                raise InvalidState(f"The request {step.id} {_state(step)}.", {"state": step.state.value})
            return step
        if len(failed) > 1:
            ids = ", ".join(record.id for record in failed)
            raise InvalidRequest.of("request_id", f"is missing. Several requests failed: {ids}")
        if not failed:
            self._refuse_without_failure(members)
        return failed[0]

    def _refuse_without_failure(self, members: Sequence[QueuedRequest]) -> None:
        for record in members:
            if _is_unsent(record):
                raise _gone(id_at(record.id, record.dependencies[0]))
        raise InvalidState("No request of the batch has failed.")

    def affected(self, step: QueuedRequest) -> list[QueuedRequest]:
        """Return the requests that ended because of the step, in the order of the batch."""
        reached, found = {position_of(step.id)}, []
        for request_id in self.ids:
            record = self.records.get(request_id)
            if record and _is_unsent(record) and reached & {*record.dependencies}:
                reached.add(position_of(request_id))
                found.append(record)
        return found

    def successors_of(self, step: QueuedRequest) -> list[QueuedRequest]:
        """Return the successors of the step and of what ended because of it, as far as there are any."""
        found = (self.successor(record.id) for record in (step, *self.affected(step)))
        return [record for record in found if record]

    def to_queue(self, step: QueuedRequest) -> list[str]:
        """Return the ids of the step and of what ended because of it, as far as their successors can be queued now.

        If the object of the step is known, only the others are queued. A successor can be queued once, and when all
        that it depends on has a response or is queued with it. Raises Gone if something that it depends on was deleted.
        """
        affected = self.affected(step)
        is_done = self.successor(step.id) or (affected and step.id in self.results)
        ids = [] if is_done else [step.id]
        for record in affected:
            dependencies = [id_at(record.id, position) for position in record.dependencies]
            if self.successor(record.id):
                continue
            if all(one in ids or self.source(one) for one in dependencies):
                ids.append(record.id)
        return ids

    def source(self, request_id: str) -> str | None:
        """Return the id of the request that has the response for this place of the batch, or None without one.

        It is the one that ended with a response, or the query for what it has made. Raises Gone if it was deleted.
        """
        if request_id not in self.records:
            raise _gone(request_id)
        one, result = request_id, None
        while record := self.records.get(one):
            if record.state is State.RESPONSE_RECEIVED:
                return record.id
            result = self.results.get(one, result)
            one = id_again(one)
        return result

    def linked(self, record: QueuedRequest, new: NewRequest) -> NewRequest:
        """Return the successor of a request with links to those that ended with a response, or are queued with it."""

        def named(source: str) -> str:
            return (self.source(source) or source) if source in self.ids else source

        depends_on = dict.fromkeys([*new.depends_on, *(id_at(record.id, one) for one in record.dependencies)])
        return replace(
            new,
            ref=record.id,
            depends_on=tuple(map(named, depends_on)),
            references=tuple(self._from_result(replace(one, source=named(one.source))) for one in new.references),
        )

    def _from_result(self, reference: Reference) -> Reference:
        """Return a reference whose path begins with the only object of a query, if it names a query."""
        if reference.source not in self.results.values():
            return reference
        row, slash, rest = reference.path.partition("/")
        return replace(reference, path=f"{row.partition('[')[0]}[1]{slash}{rest}")


def _is_unsent(record: QueuedRequest) -> bool:
    """Whether a request ended because of another one."""
    return record.error is not None and record.error.code == ErrorCode.DEPENDENCY_FAILED


def _has_failed(record: QueuedRequest) -> bool:
    """Whether a request failed itself, or was discarded."""
    return record.state in ENDED and record.state is not State.RESPONSE_RECEIVED and not _is_unsent(record)


def _has_one_object(response_xml: str | None) -> bool:
    return response_xml is not None and len(returned_objects(response_xml)) == 1


def _state(record: QueuedRequest) -> str:
    if _is_unsent(record):
        return f"was not sent because {id_at(record.id, record.dependencies[0])} failed. Continue with that one"
    return f"has not failed; it is {record.state}"


def _content(new: NewRequest) -> object:
    """Return what a correction and the successor that it made have in common."""
    request = new.request.with_request_label(new.request.request_label or "")
    return request.to_xml(), request.version, [(one.place, one.path) for one in new.references]


def _gone(request_id: str) -> Gone:
    return Gone(f"The request {request_id} was deleted, so the batch cannot be continued.", {"record_id": request_id})
