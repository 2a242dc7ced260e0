"""Resources: the objects of QuickBooks by their names, such as `books.customers`.

`qbxml_queue.schema.resources` has their types. The operations are written once, as those of `protocol` are.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from qbxml_queue.batches import AddOptions, BatchBase, Entry, StepOptions
from qbxml_queue.errors import Ambiguous, ApiError, Conflict, NotFound, StaleEditSequence, StillQueued, StillWaiting
from qbxml_queue.merging import changed_meanwhile, line_ids, merged
from qbxml_queue.options import (
    CallOptions,
    CreateOptions,
    ListOptions,
    ReadOptions,
    UpdateOptions,
    check_options,
)
from qbxml_queue.protocol import PAGE_SIZE, WAIT_SECONDS, Pages, can_be_paged
from qbxml_queue.results import result_of
from qbxml_queue.schema.kinds import KINDS
from qbxml_queue.values import to_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from qbxml_queue.kinds import Kind
    from qbxml_queue.options import QueueOptions
    from qbxml_queue.protocol import Protocol, Steps
    from qbxml_queue.schema.records import QueuedRequest

REPEATS = 3
"""How often a change is repeated after somebody else has changed the object."""

_EXECUTED_MAYBE = 500
"""From this status on, the service may have executed a call."""

_DELETED = 404
"""The status of a request that was deleted."""

_EXTRA = {
    "create": ("lines",),
    "ensure": ("lines",),
    "update": ("lines", "remove_lines"),
    "list": ("modified_since",),
}
"""Arguments of methods that are neither fields nor options."""


@dataclass(slots=True)
class Attempt:
    """A write that was begun. `read` is the object that it changes, as it was."""

    request: dict[str, Any]
    key: str
    read: dict[str, Any] | None = None
    number: int = 1
    request_id: str | None = None


class Operations:
    """What the methods of a resource do."""

    def __init__(self, kind: Kind, protocol: Protocol) -> None:
        self._kind = kind
        self._protocol = protocol
        self._writes: dict[str, Attempt] = {}
        self.reads: dict[str, str] = {}
        """What was queued by calls that did not wait until its end. The same call goes on with it."""

    def create(self, **given: Any) -> Steps[dict[str, Any]]:
        """Add an object."""
        return (yield from self._add("create", CreateOptions, given))

    def ensure(self, **given: Any) -> Steps[dict[str, Any]]:
        """Add an object that does not exist."""
        return (yield from self._add("ensure", CallOptions, given))

    def _add(self, method: str, kind: type, given: dict[str, Any]) -> Steps[dict[str, Any]]:
        name = self._kind.name
        request, options = addition(self._kind, method, kind, given)
        record = yield from self._written(same_call(method, request, options), request, options)
        added: dict[str, Any] = result_of(record)[f"{name}Ret"]
        return {**added, "@outcome": record.get("outcome") or "created"}

    def get(self, identifier: str, /, **given: Any) -> Steps[dict[str, Any]]:
        """Return the object with an id. Raises NotFound."""
        check_options("get", ReadOptions, given)
        found = yield from self._found(self._kind.key, identifier, given)
        if not found:
            raise NotFound(self._kind.name, identifier)
        return found[0]

    def find(self, sought: str, /, **given: Any) -> Steps[dict[str, Any] | None]:
        """Return the object with a name or number, or None. Raises Ambiguous."""
        check_options("find", ReadOptions, given)
        assert self._kind.sought  # noqa: S101 - others have no method `find`
        found = yield from self._found(self._kind.sought, sought, given)
        if len(found) > 1:
            raise Ambiguous(self._kind.name, sought, [one[self._kind.key] for one in found])
        return found[0] if found else None

    def delete(self, identifier: str, /, **given: Any) -> Steps[dict[str, Any]]:
        """Delete the object with an id."""
        return (yield from self._remove("delete", identifier, given))

    def void(self, identifier: str, /, **given: Any) -> Steps[dict[str, Any]]:
        """Void the object with an id."""
        return (yield from self._remove("void", identifier, given))

    def _remove(self, method: str, identifier: str, given: dict[str, Any]) -> Steps[dict[str, Any]]:
        check_options(method, CallOptions, given)
        request = removal(self._kind, method, identifier)
        record = yield from self._written(same_call(method, request, given), request, given)
        return result_of(record)

    def update(self, identifier: str, /, **given: Any) -> Steps[dict[str, Any]]:
        """Change fields of an object. Raises Conflict if somebody else changes the same ones meanwhile."""
        fields, options = separated("update", UpdateOptions, given)
        removed = options.pop("remove_lines", ())
        line = f"{self._kind.name}LineMod"
        _rename_lines(fields, options, line if line in self._kind.changed_lines else None)
        call = same_call("update", {"id": identifier, "fields": fields, "removed": list(removed)}, options)
        deadline = self._deadline(options)
        attempt = self._writes.pop(call, None)
        if attempt is None:
            read = yield from self._read_again(identifier, options, deadline)
            attempt = self._change(fields, removed, read, options, 1)
        while True:
            try:
                record = yield from self._finished(call, attempt, options, deadline)
                changed: dict[str, Any] = result_of(record)[f"{self._kind.name}Ret"]
            except StaleEditSequence as stale:
                if attempt.number > REPEATS:
                    raise
                before = cast("dict[str, Any]", attempt.read)
                self._writes[call] = attempt  # The same call compares with what this one has read.
                now = yield from self._read_again(identifier, options, deadline)
                del self._writes[call]
                changes = changed_meanwhile(self._kind, fields, removed, before, now)
                if changes is None:
                    raise
                if changes:
                    raise Conflict(self._kind.name, identifier, changes) from stale
                left = [line for line in removed if line in line_ids(self._kind, now)]
                attempt = self._change(fields, left, now, options, attempt.number + 1)
            else:
                return changed

    def _change(
        self, fields: dict[str, Any], removed: Sequence[str], read: dict[str, Any], options: dict[str, Any], number: int
    ) -> Attempt:
        """Return the Mod that changes the object as it was read."""
        name, key = self._kind.name, self._kind.key
        content = {
            key: read[key],
            "EditSequence": read["EditSequence"],
            **merged(self._kind, fields, removed, read),
        }
        chosen = options.get("idempotency_key") or self._protocol.new_key()
        return Attempt(
            {f"{name}ModRq": {f"{name}Mod": content}}, chosen if number == 1 else f"{chosen}/{number}", read, number
        )

    def _read_again(self, identifier: str, options: dict[str, Any], deadline: float) -> Steps[dict[str, Any]]:
        reading = {name: options[name] for name in ("version", "priority") if name in options}
        return (yield from self.get(identifier, timeout=deadline - self._protocol.clock(), **reading))

    def _found(self, element: str, value: str, options: dict[str, Any]) -> Steps[list[dict[str, Any]]]:
        request = query(self._kind, {element: [value]} | ({"IncludeLineItems": True} if self._kind.has_lines else {}))
        call, deadline = same_call("get", request, options), self._deadline(options)
        waiting = self.reads.pop(call, None)
        if waiting is None:
            waiting = (yield from self._protocol.queue(request, _queued(options)))["id"]
        try:
            record = yield from self._protocol.wait(waiting, deadline - self._protocol.clock())
        except StillWaiting as error:
            self.reads[call] = waiting
            raise StillQueued(error.record) from None
        return objects(self._kind, result_of(record))

    def _written(self, call: str, request: dict[str, Any], options: dict[str, Any]) -> Steps[QueuedRequest]:
        key = options.get("idempotency_key") or self._protocol.new_key()
        attempt = self._writes.pop(call, None) or Attempt(request, key)
        return (yield from self._finished(call, attempt, options, self._deadline(options)))

    def _finished(self, call: str, attempt: Attempt, options: dict[str, Any], deadline: float) -> Steps[QueuedRequest]:
        """Queue a write, unless it is queued, and return its record after its end. Raises StillQueued.

        A write that may be in the queue is kept, so that the same call does not queue it again.
        """
        try:
            if attempt.request_id is None:
                queued = yield from self._protocol.queue(
                    attempt.request, {**_queued(options), "idempotency_key": attempt.key}
                )
                attempt.request_id = queued["id"]
            return (yield from self._protocol.wait(attempt.request_id, deadline - self._protocol.clock()))
        except BaseException as error:
            if _may_be_queued(attempt, error):
                self._writes[call] = attempt
            if isinstance(error, StillWaiting):
                raise StillQueued(error.record) from None
            raise

    def _deadline(self, options: Mapping[str, Any]) -> float:
        return self._protocol.clock() + float(options.get("timeout", WAIT_SECONDS))


class Listing:
    """The objects that a query finds, page by page. It is queued when the first page is wanted.

    `reads` has the queries of earlier listings whose first page nobody has waited for.
    """

    def __init__(self, kind: Kind, protocol: Protocol, reads: dict[str, str], given: dict[str, Any]) -> None:
        filters, self._options = separated("list", ListOptions, given)
        if "modified_since" in self._options:
            _put(filters, kind.modified, self._options.pop("modified_since"))
        page_size = self._options.pop("page_size", PAGE_SIZE)
        self._request = query(kind, filters)
        # The low lane takes no request that may be sent in pages.
        if self._options.get("priority") != "low" and can_be_paged(self._request, self._options):
            self._request = query(kind, {"@iterator": "Start", "MaxReturned": page_size, **filters})
        self._kind = kind
        self._protocol = protocol
        self._reads = reads
        self._pages: Pages | None = None

    def next(self) -> Steps[list[dict[str, Any]] | None]:
        """Return the objects of the next page, or None after the last one. Raises StillQueued."""
        call = same_call("list", self._request, self._options)
        first = None
        if self._pages is None:
            first = self._reads.pop(call, None)
            if first is None:
                first = (yield from self._protocol.queue(self._request, _queued(self._options)))["id"]
            self._pages = Pages(self._protocol, first)
        if self._pages.was_last:
            return None
        deadline = self._protocol.clock() + self._options.get("timeout", WAIT_SECONDS)
        try:
            return objects(self._kind, (yield from self._pages.next(deadline)))
        except StillWaiting as error:
            if first is not None:
                self._reads[call] = first
            raise StillQueued(error.record) from None


class Resource:
    """One resource of a client, with the methods that its object has."""

    def __init__(
        self, kind: Kind, protocol: Protocol, run: Callable[[Steps[Any]], Any], each: Callable[[Any], Any]
    ) -> None:
        self._kind = kind
        self._protocol = protocol
        self._operations = Operations(kind, protocol)
        self._run = run
        self._each = each

    def __getattr__(self, method: str) -> Callable[..., Any]:
        check_method(self._kind, method, self._kind.methods)
        if method == "list":
            return self._list
        return partial(self._make, getattr(self._operations, method))

    def __dir__(self) -> Iterable[str]:
        return self._kind.methods

    def _make(self, operation: Callable[..., Steps[Any]], *arguments: Any, **given: Any) -> Any:
        return self._run(operation(*arguments, **given))

    def _list(self, **given: Any) -> Any:
        return self._each(Listing(self._kind, self._protocol, self._operations.reads, given))


class StepsOfResource:
    """One resource of a batch."""

    METHODS = ("create", "ensure", "delete", "void")

    def __init__(self, kind: Kind, batch: BatchBase) -> None:
        self._kind = kind
        self._batch = batch

    def __getattr__(self, method: str) -> Callable[..., Entry[Any]]:
        check_method(self._kind, method, [one for one in self.METHODS if one in self._kind.methods])
        return partial(self._add if method in {"create", "ensure"} else self._remove, method)

    def _add(self, method: str, **given: Any) -> Entry[Any]:
        kind = AddOptions if method == "create" else StepOptions
        request, options = addition(self._kind, method, kind, given)
        return self._batch.append(request, **options)

    def _remove(self, method: str, identifier: Any, /, **options: Any) -> Entry[Any]:
        check_options(method, StepOptions, options)
        return self._batch.append(removal(self._kind, method, identifier), **options)


class ByName:
    """Gives a client, or a batch, its resources by their names."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if name not in KINDS:
            likely = get_close_matches(name, KINDS, 1)
            mend = f" Did you mean {likely[0]!r}?" if likely else ""
            message = f"{type(self).__name__} has no attribute {name!r}.{mend}"
            raise AttributeError(message)
        resource = self.__dict__[name] = self._resource(KINDS[name])
        return resource

    def __dir__(self) -> Iterable[str]:
        return [*super().__dir__(), *KINDS]

    def _resource(self, kind: Kind) -> Any:
        raise NotImplementedError


class ResourcesOfClient(ByName):
    """The resources of a client, which has `protocol`, `run` and `objects`."""

    def _resource(self, kind: Kind) -> Resource:
        client: Any = self
        return Resource(kind, client.protocol, client.run, client.objects)


class ResourcesOfBatch(ByName):
    """The resources of a batch."""

    def _resource(self, kind: Kind) -> StepsOfResource:
        return StepsOfResource(kind, cast("BatchBase", self))


def same_call(method: str, content: dict[str, Any], options: Mapping[str, Any]) -> str:
    """Return what two calls have in common that are the same. Their timeouts may differ."""
    told = {name: value for name, value in options.items() if name != "timeout"}
    return json.dumps([method, to_json(content), told], sort_keys=True)


def addition(kind: Kind, method: str, options: type, given: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the addition that the arguments of `create` or `ensure` say, and its options."""
    fields, told = separated(method, options, given)
    _rename_lines(fields, told, kind.added_line)
    if method == "ensure":
        told["if_exists"] = kind.if_exists
    return {f"{kind.name}AddRq": {f"{kind.name}Add": fields}}, told


def removal(kind: Kind, method: str, identifier: Any) -> dict[str, Any]:
    """Return the request that deletes or voids an object."""
    what = "ListDel" if kind.key == "ListID" else "TxnDel" if method == "delete" else "TxnVoid"
    return {f"{what}Rq": {f"{what}Type": kind.name, kind.key: identifier}}


def query(kind: Kind, filters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the query of a resource."""
    return {f"{kind.name}QueryRq": dict(filters)}


def objects(kind: Kind, result: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the objects in the result of a query."""
    return [one for name in kind.returns for one in result[name]]


def separated(method: str, kind: type, given: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the fields among arguments, whose names QBXML writes with a capital, and the options.

    Raises TypeError for an option that a method does not have.
    """
    fields = {name: value for name, value in given.items() if not name[:1].islower()}
    options = {name: value for name, value in given.items() if name not in fields}
    check_options(method, kind, {name: value for name, value in options.items() if name not in _EXTRA[method]})
    return fields, options


def check_method(kind: Kind, method: str, methods: Sequence[str]) -> None:
    """Raise AttributeError for a method that a resource does not have."""
    if method not in methods:
        message = f"{kind.name} has no method {method!r}. It has {', '.join(methods)}."
        raise AttributeError(message)


def _may_be_queued(attempt: Attempt, error: BaseException) -> bool:
    """Return whether a write may be in the queue after an error."""
    if not isinstance(error, ApiError):
        return True
    if attempt.request_id is not None:
        return error.status != _DELETED
    return error.status >= _EXECUTED_MAYBE


def _rename_lines(fields: dict[str, Any], options: dict[str, Any], element: str | None) -> None:
    if "lines" in options:
        if element is None or element in fields:
            raise TypeError(f"lines stands for {element}, which is given too." if element else "It has no lines.")
        fields[element] = options.pop("lines")


def _put(filters: dict[str, Any], path: Sequence[str], value: Any) -> None:
    *outer, last = path
    for name in outer:
        filters = filters.setdefault(name, {})
    if last in filters:
        raise TypeError(f"modified_since and {last} are the same limit. Give one of them.")
    filters[last] = value


def _queued(options: Mapping[str, Any]) -> QueueOptions:
    return cast("QueueOptions", {name: value for name, value in options.items() if name != "timeout"})
