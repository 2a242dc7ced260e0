"""The dependencies of a new batch: which request waits for which, and the values that are known already.

A request of a batch can name an earlier one by its `ref`, or a request of the connection that has ended with a response
by its id. The first kind is a dependency. A value of the second kind is resolved here.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

from domain import qbxml
from domain.errors import InvalidRequest, Problem
from domain.records.batch import MAX_DEPENDANTS, is_id
from domain.records.request import State
from domain.storage.ports import RequestDetail

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from domain.records.connection import Connection
    from domain.records.request import StoredRequest
    from domain.storage.ports import Database

DEPENDS_ON = "depends_on"


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
    """The links of a request of a batch: its references, and the positions of its dependencies and its dependants."""

    references: tuple[qbxml.Reference, ...] = ()
    dependencies: tuple[int, ...] = ()
    dependants: tuple[int, ...] = ()


def links_of(store: Database, connection: Connection, ids: Sequence[str], batch: Sequence[InBatch]) -> list[Links]:
    """Return the links of each request of a batch, whose ids will be `ids`.

    Reads the requests outside the batch that are named: one call, and more for large responses. Raises InvalidRequest
    with every problem.
    """
    if not any(new.ref or new.depends_on or new.references for new in batch):
        return [Links()] * len(batch)
    return _Linking(store, connection, ids, batch).links()


@dataclass
class _Linking:
    store: Database
    connection: Connection
    ids: Sequence[str]
    batch: Sequence[InBatch]
    problems: list[Problem] = field(default_factory=list)

    def links(self) -> list[Links]:
        positions = self._positions()
        outside = self._outside(positions)
        dependencies = [self._dependencies(index, positions, outside) for index, _ in enumerate(self.batch)]
        references = [self._references(index, positions, outside) for index, _ in enumerate(self.batch)]
        links = [
            Links(
                references[index],
                dependencies[index],
                tuple(other for other, others in enumerate(dependencies) if index in others),
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

    def _outside(self, positions: Mapping[str, int]) -> Mapping[str, StoredRequest | str]:
        """Return the named requests outside the batch with their responses, or what is wrong with a name."""
        names = {
            name: None
            for index, _ in enumerate(self.batch)
            for name, _, _ in self._targets(index)
            if name not in positions
        }
        ids = [name for name in names if is_id(name)]
        found: dict[str, StoredRequest | str] = {
            name: f"No request before it has the ref {name!r}." for name in names if name not in ids
        }
        for request_id in ids:
            detail = self.store.request_detail(request_id, self.connection.id)
            record = detail.stored.record if isinstance(detail, RequestDetail) else None
            if not isinstance(detail, RequestDetail) or record is None or record.app_id != self.connection.app_id:
                found[request_id] = f"This connection has no request {request_id}."
            elif record.state is not State.RESPONSE_RECEIVED:
                found[request_id] = (
                    f"The request {request_id} is {record.state}. A request outside the batch must have ended with a "
                    "response."
                )
            elif record.paging.page_size is not None or record.paging.page > 1:
                found[request_id] = _ITERATED
            else:
                found[request_id] = detail.stored
        return found

    def _dependencies(
        self, index: int, positions: Mapping[str, int], outside: Mapping[str, StoredRequest | str]
    ) -> tuple[int, ...]:
        dependencies: set[int] = set()
        for name, field_name, place in self._targets(index):
            position, stored = positions.get(name), outside.get(name)
            message = stored if isinstance(stored, str) else None
            if position is not None:
                message = self._problem_with(index, position)
            if message:
                self.problems.append(Problem(field_name, message, path=place, index=index))
            elif position is not None:
                dependencies.add(position)
        return tuple(sorted(dependencies))

    def _problem_with(self, index: int, position: int) -> str | None:
        """Return why a request cannot depend on the one at this position."""
        if position == index:
            return "A request cannot depend on itself."
        if position > index:
            return f"Request {position} comes later. A request can depend only on earlier ones."
        target = self.batch[position]
        return _ITERATED if target.request.iterator or target.may_iterate else None

    def _references(
        self, index: int, positions: Mapping[str, int], outside: Mapping[str, StoredRequest | str]
    ) -> tuple[qbxml.Reference, ...]:
        """Return the references of a request with the ids of the requests that they name, and the known values."""
        new = self.batch[index]
        named: list[qbxml.Reference] = []
        for reference in new.references:
            position, stored = positions.get(reference.source), outside.get(reference.source)
            if position is None and (stored is None or isinstance(stored, str)):
                continue
            name = self.batch[position].request.name if position is not None else _name(stored)
            if problem := qbxml.path_problem(reference.path, name):
                message, suggestion = problem
                self.problems.append(Problem("request_json", message, None, None, reference.place, suggestion, index))
                continue
            source = self.ids[position] if position is not None else reference.source
            named.append(replace(reference, source=source))
        if len(named) < len(new.references):
            return ()  # a problem was found
        return self._resolved(index, tuple(named), outside)

    def _resolved(
        self, index: int, references: tuple[qbxml.Reference, ...], outside: Mapping[str, StoredRequest | str]
    ) -> tuple[qbxml.Reference, ...]:
        request = self.batch[index].request
        try:
            for source in {reference.source for reference in references}:
                stored = outside.get(source)
                if stored is not None and not isinstance(stored, str):
                    references = qbxml.resolved(references, source, stored.response_xml or "")
            request_xml = qbxml.filled(request.to_xml(), references)
            return qbxml.fitted(request_xml, request.version, references)
        except qbxml.BadReference as error:
            place = error.reference.place
            self.problems.append(Problem("request_json", error.message, path=place, index=index))
            return ()


_ITERATED = "An iterated query has several responses, so no request can depend on it."


def _name(stored: StoredRequest | str | None) -> str:
    if stored is None or isinstance(stored, str):
        raise AssertionError("the request exists")
    return stored.record.request_name
