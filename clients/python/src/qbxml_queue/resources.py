"""Resources: the objects of QuickBooks by their names, such as `books.customers`.

`qbxml_queue.schema.resources` has their types. The operations are written once, as those of `protocol` are.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property, partial
from threading import RLock
from typing import TYPE_CHECKING, Any, TypeVar, cast

from qbxml_queue import custom_fields
from qbxml_queue.arguments import queue_options, read_once, same_call, separated
from qbxml_queue.batches import AddOptions, BatchBase, Entry, StepOptions
from qbxml_queue.errors import (
    Ambiguous,
    ApiError,
    Conflict,
    CustomFieldsNotWritten,
    NotFound,
    RequestFailed,
    StaleEditSequence,
    StillQueued,
    StillWaiting,
)
from qbxml_queue.merging import changed_meanwhile, line_ids, merged
from qbxml_queue.options import (
    CallOptions,
    CreateOptions,
    ListOptions,
    ObjectOptions,
    UpdateOptions,
    check_options,
)
from qbxml_queue.protocol import PAGE_SIZE, WAIT_SECONDS, Pages, can_be_paged
from qbxml_queue.results import result_of
from qbxml_queue.schema.kinds import KINDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from qbxml_queue.kinds import Kind
    from qbxml_queue.protocol import Protocol, Steps
    from qbxml_queue.reports import Reports
    from qbxml_queue.schema.records import QueuedRequest

T = TypeVar("T")

REPEATS = 3
"""How often a change is repeated after somebody else has changed the object."""

_REFUSALS = frozenset({400, 404, 409, 413, 422})
"""The statuses after which a write is surely not in the queue. After any other one, an earlier try of the same call,
whose answer was lost, may have queued it."""

_OWNERS = ("CustomerRef", "VendorRef", "AccountRef", "BankAccountRef", "CreditCardAccountRef")
"""The elements that own the number of a transaction. A transaction has one of them."""


@dataclass(slots=True)
class Attempt:
    """A write that was begun: a request, and the custom fields that are written behind it in the same batch.

    `read` is the object as it was before. `identifier` is unknown before an addition. An attempt without a request
    writes what a former one has not written.
    """

    cause: str
    request: dict[str, Any] | None
    read: dict[str, Any] | None = None
    identifier: str | None = None
    custom_fields: dict[str, str | None] = field(default_factory=dict)
    number: int = 1
    outcome: str | None = None
    request_id: str | None = None
    batch: BatchBase | None = None

    @property
    def key(self) -> str:
        """The idempotency key. Each attempt has its own, which follows from the cause."""
        return self.cause if self.number == 1 else f"{self.cause}/{self.number}"


@dataclass(frozen=True)
class Alteration:
    """What an update changes."""

    identifier: str
    fields: dict[str, Any]
    removed: list[str]
    custom_fields: dict[str, str | None]


class Begun:
    """The writes that may be in the queue, by the call that began them.

    Equal calls can run at once, in threads too. Each begins a write of its own, and each repeated call goes on with one
    of them.
    """

    def __init__(self) -> None:
        self._all: dict[str, list[Attempt]] = {}
        self._lock = RLock()  # An operation that is closed by the garbage collector keeps its write.

    def keep(self, call: str, attempt: Attempt) -> None:
        """Keep a write for the same call."""
        with self._lock:
            self._all.setdefault(call, []).append(attempt)

    def take(self, call: str) -> Attempt | None:
        """Remove and return the oldest write of a call, or None."""
        with self._lock:
            begun = self._all.pop(call, [])
            if len(begun) > 1:
                self._all[call] = begun[1:]
            return begun[0] if begun else None

    def forget_rest_of(self, identifier: str) -> None:
        """Forget what is left to write of an object, after a call has changed it. That call has the right names."""
        with self._lock:
            self._all = {
                call: left
                for call, begun in self._all.items()
                if (left := [one for one in begun if one.request is not None or one.identifier != identifier])
            }


class Operations:
    """What the methods of a resource do."""

    def __init__(self, kind: Kind, protocol: Protocol) -> None:
        self._kind = kind
        self._protocol = protocol
        self._writes = Begun()
        self.reads: dict[str, str] = {}
        """What was queued by calls that did not wait until its end. The same call goes on with it."""

    def create(self, **given: Any) -> Steps[dict[str, Any]]:
        """Add an object."""
        return (yield from self._add("create", CreateOptions, given))

    def ensure(self, **given: Any) -> Steps[dict[str, Any]]:
        """Add an object that does not exist."""
        return (yield from self._add("ensure", CallOptions, given))

    def _add(self, method: str, kind: type, given: dict[str, Any]) -> Steps[dict[str, Any]]:
        request, wanted, options = addition(self._kind, method, kind, given)
        call = same_call(method, {"request": request, "custom_fields": wanted}, options)
        deadline = self._deadline(options)
        attempt = self._writes.take(call)
        if attempt is None:
            attempt = Attempt(self._cause(options), request, custom_fields=wanted)
            # A program that was restarted repeats a call with its key, and then the same body.
            if wanted and options.get("if_exists", "fail") != "fail" and "idempotency_key" not in options:
                attempt.read = yield from self._existing(call, request, options, deadline)
                attempt.custom_fields = custom_fields.differing(wanted, attempt.read) if attempt.read else wanted
        written, outcome = yield from self._finished(call, attempt, options, deadline)
        return {**written, "@outcome": outcome or "created"}

    def _existing(
        self, call: str, request: dict[str, Any], options: dict[str, Any], deadline: float
    ) -> Steps[dict[str, Any] | None]:
        """Return the object that an addition would find, if it is certainly that one."""
        fields = request[f"{self._kind.name}AddRq"][f"{self._kind.name}Add"]
        name = sought_name(self._kind, fields)
        if name is None:
            return None
        reading = self._reading(options, deadline, with_custom_fields=True)
        found = yield from self._found(str(self._kind.sought), name, reading, of=call)
        same = [one for one in found if has_owner(fields, one)]
        return same[0] if len(same) == 1 else None

    def get(self, identifier: str, /, **given: Any) -> Steps[dict[str, Any]]:
        """Return the object with an id. Raises NotFound."""
        check_options("get", ObjectOptions, given)
        return (yield from self._get(identifier, given))

    def _get(self, identifier: str, options: dict[str, Any], *, of: str = "get") -> Steps[dict[str, Any]]:
        found = yield from self._found(self._kind.key, identifier, options, of=of)
        if not found:
            raise NotFound(self._kind.name, identifier)
        return found[0]

    def find(self, sought: str, /, **given: Any) -> Steps[dict[str, Any] | None]:
        """Return the object with a name or number, or None. Raises Ambiguous."""
        check_options("find", ObjectOptions, given)
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
        call, deadline = same_call(method, request, given), self._deadline(given)
        attempt = self._writes.take(call) or Attempt(self._cause(given), request)
        return result_of((yield from self._kept(call, attempt, self._end(attempt, given, deadline))))

    def update(self, identifier: str, /, **given: Any) -> Steps[dict[str, Any]]:
        """Change fields of an object. Raises Conflict if somebody else changes the same ones meanwhile."""
        change, options = alteration(self._kind, identifier, given)
        call = same_call("update", vars(change), options)
        deadline = self._deadline(options)
        attempt = self._writes.take(call)
        if attempt is None:
            read = yield from self._read_again(call, change, options, deadline)
            attempt = self._change(change, change.removed, read, self._cause(options), 1)
        while True:
            try:
                written, _ = yield from self._finished(call, attempt, options, deadline)
                self._writes.forget_rest_of(identifier)
            except StaleEditSequence as stale:
                if attempt.number > REPEATS:
                    raise
                # If this read does not end, the same call compares with what the first one has read.
                again = self._read_again(call, change, options, deadline)
                now = yield from self._kept(call, attempt, again)
                attempt = self._repeated(change, attempt, now, stale)
            else:
                return written

    def _repeated(self, change: Alteration, attempt: Attempt, now: dict[str, Any], stale: StaleEditSequence) -> Attempt:
        """Return the next attempt, after somebody else has changed other fields. Raises Conflict, or `stale`."""
        before = cast("dict[str, Any]", attempt.read)
        changes = changed_meanwhile(self._kind, change.fields, change.removed, before, now)
        if changes is None:
            raise stale
        if change.custom_fields:
            changes += custom_fields.conflicts(change.custom_fields, before, now)
        if changes:
            raise Conflict(self._kind.name, change.identifier, changes) from stale
        left = [line for line in change.removed if line in line_ids(self._kind, now)]
        return self._change(change, left, now, attempt.cause, attempt.number + 1)

    def _change(
        self, change: Alteration, removed: Sequence[str], read: dict[str, Any], cause: str, number: int
    ) -> Attempt:
        """Return the attempt that changes the object as it was read."""
        name, key = self._kind.name, self._kind.key
        attempt = Attempt(cause, None, read, change.identifier, number=number)
        if change.custom_fields:
            attempt.custom_fields = custom_fields.differing(change.custom_fields, read)
        if change.fields or removed or not change.custom_fields:
            content = {
                key: read[key],
                "EditSequence": read["EditSequence"],
                **merged(self._kind, change.fields, removed, read),
            }
            attempt.request = {f"{name}ModRq": {f"{name}Mod": content}}
        return attempt

    def _read_again(
        self, call: str, change: Alteration, options: dict[str, Any], deadline: float
    ) -> Steps[dict[str, Any]]:
        reading = self._reading(options, deadline, with_custom_fields=bool(change.custom_fields))
        return (yield from self._get(change.identifier, reading, of=call))

    def _reading(self, options: dict[str, Any], deadline: float, *, with_custom_fields: bool) -> dict[str, Any]:
        """Return the options of a read that belongs to a write."""
        reading = {name: value for name, value in options.items() if name in {"version", "priority"}}
        asked = {"custom_fields": True} if with_custom_fields else {}
        return {**reading, **asked, "timeout": deadline - self._protocol.clock()}

    def _found(
        self, element: str, value: str, given: dict[str, Any], *, of: str = "get"
    ) -> Steps[list[dict[str, Any]]]:
        """Return what a query finds. Only the same write resumes a read `of` a write: another read may be too old."""
        options = dict(given)
        asked = is_asked(self._kind, options)
        filters = {element: [value]} | ({"IncludeLineItems": True} if self._kind.has_lines else {})
        request = query(self._kind, custom_fields.asked(filters) if asked else filters)
        record = yield from read_once(self._protocol, self.reads, request, options, of=of)
        return objects(self._kind, result_of(record), with_custom_fields=asked)

    def _finished(
        self, call: str, attempt: Attempt, options: dict[str, Any], deadline: float
    ) -> Steps[tuple[dict[str, Any], str | None]]:
        """Do a write, unless it is done, and return the object and what became of it. Raises StillQueued."""
        if attempt.custom_fields:
            yield from self._kept(call, attempt, self._end_together(attempt, options, deadline))
            return self._all_written(call, attempt)
        if attempt.request is None:
            if attempt.read is not None:
                return attempt.read, None
            reading = self._reading(options, deadline, with_custom_fields=True)
            read = yield from self._kept(call, attempt, self._get(str(attempt.identifier), reading, of=call))
            return read, attempt.outcome
        record = yield from self._kept(call, attempt, self._end(attempt, options, deadline))
        written = result_of(record)[f"{self._kind.name}Ret"]
        if attempt.read is not None and "custom_fields" in attempt.read:
            written = {**written, "custom_fields": attempt.read["custom_fields"]}
        return written, record.get("outcome")

    def _kept(self, call: str, attempt: Attempt, steps: Steps[T]) -> Steps[T]:
        """Take the steps of a write. One that may be in the queue is kept: the same call does not queue it again."""
        try:
            return (yield from steps)
        except BaseException as error:
            if _may_be_queued(attempt, error):
                self._writes.keep(call, attempt)
            if isinstance(error, StillWaiting):
                raise StillQueued(error.record) from None
            raise

    def _end(self, attempt: Attempt, options: dict[str, Any], deadline: float) -> Steps[QueuedRequest]:
        """Queue the request of an attempt, unless it is queued, and return its record after its end."""
        if attempt.request_id is None:
            request = cast("dict[str, Any]", attempt.request)
            queued = yield from self._protocol.queue(
                request, {**queue_options(options), "idempotency_key": attempt.key}
            )
            attempt.request_id = queued["id"]
        return (yield from self._protocol.wait(attempt.request_id, deadline - self._protocol.clock()))

    def _end_together(self, attempt: Attempt, options: dict[str, Any], deadline: float) -> Steps[None]:
        """Queue an attempt with custom fields as a batch, unless it is queued, and wait for its end."""
        batch = attempt.batch = attempt.batch or self._batch(attempt, options)
        if not batch.is_queued:
            yield from self._protocol.queue_batch(batch, queue_options(options))
            attempt.request_id = batch.entries[0].record["id"]
        for entry in batch.entries:
            entry.update((yield from self._protocol.wait(entry.record["id"], deadline - self._protocol.clock())))

    def _batch(self, attempt: Attempt, options: dict[str, Any]) -> BatchBase:
        """Return the requests of an attempt: the write, its custom fields, and the query for the object after them."""
        batch = BatchBase(attempt.key, options.get("priority"), None)
        told = {name: value for name, value in options.items() if name in StepOptions.__annotations__}
        before: list[Entry[Any]] = []
        identifier: Any = attempt.identifier
        if attempt.request is not None:
            looks = {"if_exists": options["if_exists"]} if "if_exists" in options else {}
            before.append(batch.append(attempt.request, **told, **looks))
            identifier = identifier or before[0].value(self._kind.key)
        for request in custom_fields.written(self._kind, identifier, attempt.custom_fields):
            batch.append(request, **told, depends_on=before)
        told.pop("approval", None)
        filters = {self._kind.key: [identifier]} | ({"IncludeLineItems": True} if self._kind.has_lines else {})
        batch.append(query(self._kind, custom_fields.asked(filters)), **told, depends_on=batch.entries)
        return batch

    def _all_written(self, call: str, attempt: Attempt) -> tuple[dict[str, Any], str | None]:
        """Return the object after a batch has ended. What was not written is kept for the same call.

        Raises RequestFailed if the object was not written, and CustomFieldsNotWritten.
        """
        *entries, reading = cast("BatchBase", attempt.batch).entries
        outcome, identifier = attempt.outcome, attempt.identifier
        if attempt.request is not None:
            first = entries.pop(0)
            identifier = result_of(first.record)[f"{self._kind.name}Ret"][self._kind.key]
            outcome = first.record.get("outcome")
        failures: dict[str, RequestFailed] = {}
        for name, entry in zip(attempt.custom_fields, entries, strict=True):
            try:
                result_of(entry.record)
            except RequestFailed as failure:
                failures[name] = failure
        left = {name: value for name, value in attempt.custom_fields.items() if name in failures}
        rest = Attempt(attempt.cause, None, None, identifier, left, attempt.number + 1, outcome, attempt.request_id)
        if failures:
            self._writes.keep(call, rest)
            raise CustomFieldsNotWritten(self._kind.name, str(identifier), failures)
        try:
            [read] = objects(self._kind, result_of(reading.record), with_custom_fields=True)
        except RequestFailed:
            self._writes.keep(call, rest)
            raise
        return read, outcome

    def _cause(self, options: Mapping[str, Any]) -> str:
        return str(options.get("idempotency_key") or self._protocol.new_key())

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
        self._asked = is_asked(kind, self._options)
        if self._asked:
            filters = custom_fields.asked(filters)
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
                first = (yield from self._protocol.queue(self._request, queue_options(self._options)))["id"]
            self._pages = Pages(self._protocol, first)
        if self._pages.was_last:
            return None
        deadline = self._protocol.clock() + self._options.get("timeout", WAIT_SECONDS)
        try:
            return objects(self._kind, (yield from self._pages.next(deadline)), with_custom_fields=self._asked)
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
        request, wanted, options = addition(self._kind, method, kind, given)
        step = self._batch.append(request, **options)
        told = {name: value for name, value in options.items() if name not in {"if_exists", "depends_on"}}
        for written in custom_fields.written(self._kind, step.value(self._kind.key) if wanted else None, wanted):
            self._batch.append(written, **told)
        return step

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
        return self.__dict__.setdefault(name, self._resource(KINDS[name]))  # two threads must get the same one

    def __dir__(self) -> Iterable[str]:
        return [*super().__dir__(), *KINDS]

    def _resource(self, kind: Kind) -> Any:
        raise NotImplementedError


class ResourcesOfClient(ByName):
    """The resources of a client, which has `protocol`, `run` and `objects`, and its reports."""

    @cached_property
    def reports(self) -> Reports:
        """The reports of QuickBooks."""
        from qbxml_queue.reports import Reports  # noqa: PLC0415 - many programs read none

        client: Any = self
        return Reports(client.protocol, client.run)

    def _resource(self, kind: Kind) -> Resource:
        client: Any = self
        return Resource(kind, client.protocol, client.run, client.objects)


class ResourcesOfBatch(ByName):
    """The resources of a batch."""

    def _resource(self, kind: Kind) -> StepsOfResource:
        return StepsOfResource(kind, cast("BatchBase", self))


def addition(
    kind: Kind, method: str, options: type, given: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, str | None], dict[str, Any]]:
    """Return the addition that the arguments of `create` or `ensure` say, its custom fields and its options."""
    fields, told = separated(method, options, given)
    wanted = custom_fields.checked(kind, method, told.pop("custom_fields", None))
    _rename_lines(fields, told, kind.added_line)
    if method == "ensure":
        told["if_exists"] = kind.if_exists
    return {f"{kind.name}AddRq": {f"{kind.name}Add": fields}}, wanted, told


def alteration(kind: Kind, identifier: str, given: dict[str, Any]) -> tuple[Alteration, dict[str, Any]]:
    """Return the change that the arguments of `update` say, and its options."""
    fields, options = separated("update", UpdateOptions, given)
    wanted = custom_fields.checked(kind, "update", options.pop("custom_fields", None))
    removed = list(options.pop("remove_lines", ()))
    line = f"{kind.name}LineMod"
    _rename_lines(fields, options, line if line in kind.changed_lines else None)
    custom_fields.check_lines(kind, identifier, fields)
    return Alteration(identifier, fields, removed, wanted), options


def sought_name(kind: Kind, fields: Mapping[str, Any]) -> str | None:
    """Return the full name, or the number, of an object that is added."""
    if kind.key == "TxnID":
        return fields.get("RefNumber")
    parent = fields.get("ParentRef")
    above = parent if isinstance(parent, str | None) else parent.get("FullName") if isinstance(parent, dict) else ""
    name = fields.get("Name")
    if name is None or above == "" or kind.sought != "FullName":
        return None
    return f"{above}:{name}" if above else str(name)


def has_owner(fields: Mapping[str, Any], found: Mapping[str, Any]) -> bool:
    """Return whether an object has the customer, the vendor or the account of an addition, if it names one."""
    for owner in _OWNERS:
        given, there = fields.get(owner), found.get(owner, {})
        if isinstance(given, str):
            return given.casefold() == str(there.get("FullName")).casefold()
        if given is not None:
            return isinstance(given, dict) and given.get("ListID") == there.get("ListID")
    return True


def is_asked(kind: Kind, options: dict[str, Any]) -> bool:
    """Take `custom_fields` out of the options of a read. Raises TypeError if the object cannot have any."""
    asked = bool(options.pop("custom_fields", False))
    if asked:
        custom_fields.checked(kind, "get", {})
    return asked


def removal(kind: Kind, method: str, identifier: Any) -> dict[str, Any]:
    """Return the request that deletes or voids an object."""
    what = "ListDel" if kind.key == "ListID" else "TxnDel" if method == "delete" else "TxnVoid"
    return {f"{what}Rq": {f"{what}Type": kind.name, kind.key: identifier}}


def query(kind: Kind, filters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the query of a resource."""
    return {f"{kind.name}QueryRq": dict(filters)}


def objects(kind: Kind, result: Mapping[str, Any], *, with_custom_fields: bool) -> list[dict[str, Any]]:
    """Return the objects in the result of a query."""
    found = [one for name in kind.returns for one in result[name]]
    return [custom_fields.with_custom_fields(one) for one in found] if with_custom_fields else found


def check_method(kind: Kind, method: str, methods: Sequence[str]) -> None:
    """Raise AttributeError for a method that a resource does not have."""
    if method not in methods:
        message = f"{kind.name} has no method {method!r}. It has {', '.join(methods)}."
        raise AttributeError(message)


def _may_be_queued(attempt: Attempt, error: BaseException) -> bool:
    """Return whether a write may be in the queue after an error."""
    if not isinstance(error, ApiError) or attempt.request is None or attempt.request_id is not None:
        return True
    return error.status not in _REFUSALS


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
