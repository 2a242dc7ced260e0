"""The dependencies of a new batch: which request waits for which, and the values that are known already.

A request of a batch can name an earlier one by its `ref`, or a request of the connection that has ended with a response
by its id. The first kind is a dependency. A value of the second kind is resolved here. The number of requests outside
the batch and the size of their responses are bounded, because a small call could otherwise read the whole history.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

from domain import qbxml
from domain.errors import InvalidRequest, Problem, shortened
from domain.records.batch import MAX_DEPENDANTS, is_id, position_of
from domain.records.request import State
from domain.suggestions import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from domain.records.connection import Connection
    from domain.records.request import QueuedRequest
    from domain.storage.ports import RecordReads

DEPENDS_ON = "depends_on"

_MAX_QUOTED = 50
_MAX_LISTED = 5

MAX_OUTSIDE = 24
"""The maximum number of requests outside a batch that it names. Each counts as a read of the app."""

MAX_OUTSIDE_BYTES = 8 * 1024 * 1024
"""The maximum bytes of the responses that a batch takes values from, as on a page of a list. Only one is parsed at a
time."""


class InBatch(Protocol):
    """A request to queue, as far as links matter (`new_request.NewRequest`)."""

    @property
    def request(self) -> qbxml.Request:
        """The request, with placeholders in place of its references."""

    @property
    def may_iterate(self) -> bool:
        """Whether it may be sent in pages."""

    @property
    def ref(self) -> str | None:
        """Its name for the requests behind it."""

    @property
    def depends_on(self) -> tuple[str, ...]:
        """The names of the requests that it depends on, besides those that it refers to."""

    @property
    def references(self) -> tuple[qbxml.Reference, ...]:
        """Its references."""


@dataclass(frozen=True, slots=True)
class Links:
    """The links of a request of a batch: its references, and the positions of its dependencies and its dependants.

    A position is that of an id (`domain.records.batch`). Only in a batch that continues another one it differs from the
    index of the request.
    """

    references: tuple[qbxml.Reference, ...] = ()
    dependencies: tuple[int, ...] = ()
    dependants: tuple[int, ...] = ()


NO_LINKS = Links()


def links_of(
    store: RecordReads,
    connection: Connection,
    ids: Sequence[str],
    batch: Sequence[InBatch],
    count_reads: Callable[[int], None],
    *,
    former: Collection[str] = (),
) -> list[Links]:
    """Return the links of each request of a batch, whose ids will be `ids`.

    Requests with the ids `former` are not counted among those outside the batch.

    Reads the requests outside the batch that are named, after `count_reads` has accepted their number: one call for the
    records, one for the responses that values are taken from, and more for large ones. Raises the error of
    `count_reads`, and InvalidRequest with every problem.
    """
    if not any(new.ref or new.depends_on or new.references for new in batch):
        return [NO_LINKS] * len(batch)
    return _Linking(store, connection, ids, batch, count_reads, former).links()


@dataclass
class _Linking:
    store: RecordReads
    connection: Connection
    ids: Sequence[str]
    batch: Sequence[InBatch]
    count_reads: Callable[[int], None]
    former: Collection[str]
    problems: list[Problem] = field(default_factory=list)

    def links(self) -> list[Links]:
        positions = self._positions()
        outside = self._outside(positions)
        dependencies = [self._dependencies(index, positions, outside) for index, _ in enumerate(self.batch)]
        named = [self._named(index, positions, outside) for index, _ in enumerate(self.batch)]
        references = self._resolved(named, outside)
        places = [position_of(request_id) for request_id in self.ids]
        links = [
            Links(
                references[index],
                tuple(places[other] for other in dependencies[index]),
                tuple(places[other] for other, others in enumerate(dependencies) if index in others),
            )
            for index, _ in enumerate(self.batch)
        ]
        for index, link in enumerate(links):
            if len(link.dependants) > MAX_DEPENDANTS:
                message = f"{len(link.dependants)} requests depend on it directly; at most {MAX_DEPENDANTS} may"
                self.problems.append(Problem("ref", message, index=index))
        if self.problems:
            raise InvalidRequest(self.problems)
        return links

    def _positions(self) -> Mapping[str, int]:
        """Return the position of each ref."""
        positions: dict[str, int] = {}
        for index, new in enumerate(self.batch):
            if new.ref is None:
                continue
            if new.ref in positions:
                message = f"is used by request {positions[new.ref]} too"
                self.problems.append(Problem("ref", message, index=index))
            positions.setdefault(new.ref, index)
        return positions

    def _targets(self, index: int) -> Iterator[tuple[str, str, str | None]]:
        """Yield each name that a request gives, with the field and the place in it."""
        new = self.batch[index]
        for number, name in enumerate(new.depends_on):
            yield name, DEPENDS_ON, f"/{number}"
        for reference in new.references:
            yield reference.source, "request_json", reference.place

    def _outside(self, positions: Mapping[str, int]) -> Mapping[str, QueuedRequest | str]:
        """Return the named requests outside the batch, or what is wrong with a name.

        Raises InvalidRequest if there are too many.
        """
        names = {
            name: None
            for index, _ in enumerate(self.batch)
            for name, _, _ in self._targets(index)
            if name not in positions
        }
        ids = [name for name in names if is_id(name)]
        outside = len({*ids} - {*self.former})
        if outside > MAX_OUTSIDE:
            message = f"name {outside} requests outside the batch; at most {MAX_OUTSIDE} are allowed"
            raise InvalidRequest([*self.problems, Problem("requests", message, suggestion="Use several batches.")])
        if outside:
            self.count_reads(outside)
        records = {record.id: record for record in self.store.records_by_id(ids)} if ids else {}
        found: dict[str, QueuedRequest | str] = {
            name: f"No request before it has the ref {shortened(name, _MAX_QUOTED)!r}."
            for name in names
            if name not in ids
        }
        return found | {request_id: self._usable(request_id, records.get(request_id)) for request_id in ids}

    def _usable(self, request_id: str, record: QueuedRequest | None) -> QueuedRequest | str:
        """Return a record outside the batch, or why no request can name it."""
        if record is None or (record.connection_id, record.app_id) != (self.connection.id, self.connection.app_id):
            return _MISSING.format(request_id)
        if record.state is not State.RESPONSE_RECEIVED:
            return (
                f"The request {request_id} is {record.state}. A request outside the batch must have ended with a "
                "response."
            )
        if record.paging.page_size is not None or record.paging.page > 1:
            return _ITERATED
        return record

    def _dependencies(
        self, index: int, positions: Mapping[str, int], outside: Mapping[str, QueuedRequest | str]
    ) -> tuple[int, ...]:
        dependencies: set[int] = set()
        for name, field_name, place in self._targets(index):
            position, stored = positions.get(name), outside.get(name)
            message = stored if isinstance(stored, str) else None
            if position is not None:
                message = self._problem_with(index, position)
            if message:
                how = self._how_to_name(index, name) if name not in positions and not is_id(name) else None
                self.problems.append(Problem(field_name, message, path=place, suggestion=how, index=index))
            elif position is not None:
                dependencies.add(position)
        return tuple(sorted(dependencies))

    def _how_to_name(self, index: int, name: str) -> str:
        """Return how the request at `index` can name an earlier one."""
        refs = [new.ref for new in self.batch[:index] if new.ref is not None]
        if name.isdecimal() and int(name) < index and self.batch[int(name)].ref is None:
            return f"Requests are named by their refs, not by their positions: give request {int(name)} a ref."
        if suggestion := did_you_mean(name, refs):
            return suggestion
        if refs:
            return f"It can name {', '.join(refs[:_MAX_LISTED])}."
        return f'Give the other request a ref: "ref": {json.dumps(shortened(name, _MAX_QUOTED))}.'

    def _problem_with(self, index: int, position: int) -> str | None:
        """Return why a request cannot depend on the one at this position."""
        if position == index:
            return "A request cannot depend on itself."
        if position > index:
            return f"Request {position} comes later. A request can depend only on earlier ones."
        target = self.batch[position]
        return _ITERATED if target.request.iterator or target.may_iterate else None

    def _named(
        self, index: int, positions: Mapping[str, int], outside: Mapping[str, QueuedRequest | str]
    ) -> tuple[qbxml.Reference, ...]:
        """Return the references of a request with the ids of the requests that they name, or none after a problem."""
        new = self.batch[index]
        named: list[qbxml.Reference] = []
        for reference in new.references:
            position, record = positions.get(reference.source), outside.get(reference.source)
            if position is not None:
                source, name = self.ids[position], self.batch[position].request.name
            elif record is None or isinstance(record, str):
                continue  # a dependency that cannot be is a problem already
            else:
                source, name = record.id, record.request_name
            if problem := qbxml.path_problem(reference.path, name):
                message, suggestion = problem
                self.problems.append(Problem("request_json", message, None, None, reference.place, suggestion, index))
                continue
            named.append(replace(reference, source=source))
        return tuple(named) if len(named) == len(new.references) else ()

    def _resolved(
        self, named: Sequence[tuple[qbxml.Reference, ...]], outside: Mapping[str, QueuedRequest | str]
    ) -> list[tuple[qbxml.Reference, ...]]:
        """Return the references of each request with the known values, or none for a request with a problem."""
        known = {reference.source for references in named for reference in references} & {*outside}
        sources = [record for record in outside.values() if not isinstance(record, str) and record.id in known]
        size = sum(record.response_size for record in sources)
        if size > MAX_OUTSIDE_BYTES:
            message = f"take values from responses with {size:,} bytes; at most {MAX_OUTSIDE_BYTES:,} are allowed"
            self.problems.append(Problem("requests", message, suggestion="Use several batches."))
            return [()] * len(named)
        result = list(named)
        for source, response in self._responses(sources):
            for index, references in enumerate(result):
                result[index] = self._with_values(index, references, source, response)
        return [self._fitted(index, references) for index, references in enumerate(result)]

    def _responses(self, sources: Sequence[QueuedRequest]) -> Iterator[tuple[str, qbxml.ResponseValues | None]]:
        """Yield the id of each request with its response, or with None if it was deleted meanwhile."""
        if not sources:
            return
        batch = self.store.request_batch([record.id for record in sources])
        records = {record.id: record for record in batch.records}
        for source in sources:
            record = records.get(source.id)
            stored = batch.whole(record, max_response_bytes=MAX_OUTSIDE_BYTES) if record else None
            yield source.id, qbxml.ResponseValues(stored.response_xml or "") if stored else None

    def _with_values(
        self,
        index: int,
        references: tuple[qbxml.Reference, ...],
        source: str,
        response: qbxml.ResponseValues | None,
    ) -> tuple[qbxml.Reference, ...]:
        """Return the references of a request with the values of a response."""
        places = [reference.place for reference in references if reference.source == source]
        if places and response is None:
            self.problems.append(Problem("request_json", _MISSING.format(source), path=places[0], index=index))
            return ()
        return self._or_problem(index, lambda: qbxml.resolved(references, source, response)) if response else references

    def _fitted(self, index: int, references: tuple[qbxml.Reference, ...]) -> tuple[qbxml.Reference, ...]:
        """Return the references of a request in the notation of their places."""
        request = self.batch[index].request
        if not references:
            return ()
        request_xml = qbxml.filled(request.to_xml(), references)
        return self._or_problem(index, lambda: qbxml.fitted(request_xml, request.version, references))

    def _or_problem(self, index: int, made: Callable[[], tuple[qbxml.Reference, ...]]) -> tuple[qbxml.Reference, ...]:
        """Return the references that are made, or none if one of them has no value that it can have."""
        try:
            return made()
        except qbxml.BadReference as error:
            place = error.reference.place
            self.problems.append(Problem("request_json", error.message, path=place, index=index))
            return ()


_MISSING = "This connection has no request {}."
_ITERATED = "An iterated query has several responses, so no request can depend on it."
