"""The operations of the inspection API: reads of the books, snapshots and resets.

None of them runs while a session changes the books. Reads run beside a session that answers a query or a report.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from simulator.books.kinds import LISTS, TRANSACTIONS
from simulator.inspection import views

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from simulator.books import Record
    from simulator.company import Company, Snapshot

Json = dict[str, Any]

DEFAULT_LIMIT, MAX_LIMIT = 100, 500
MAX_OFFSET = 10_000_000
MAX_SEARCH_LENGTH = 200
MAX_SNAPSHOTS = 20


class NotFoundError(Exception):
    """The kind, record, snapshot or path does not exist: 404."""


class BadParameterError(Exception):
    """A parameter has an invalid value: 400."""


def _no_problems() -> list[str]:
    return []


@dataclass(slots=True)
class Inspector:
    """Answers requests about one company. `more_problems` adds the failed expectations of a fault script."""

    company: Company
    more_problems: Callable[[], list[str]] = _no_problems
    _snapshots: dict[str, Snapshot] = field(default_factory=dict)
    _first: Snapshot | None = None
    _last_id: int = 0

    def __post_init__(self) -> None:
        """Remember the company as it is now, for `reset`."""
        self._first = self.company.snapshot()

    def get(self, path: Sequence[str], parameters: dict[str, str]) -> Json:
        """Return the answer to a GET request. Raises `NotFoundError` or `BadParameterError`."""
        with self.company.lock.reading():
            match path:
                case ["lists" | "transactions" as name, *rest] if len(rest) <= 2:  # noqa: PLR2004 - kind and id
                    response = self._of_kind(rest, parameters, is_list=name == "lists")
                case ["ledger", *rest] if len(rest) <= 1:
                    response = self._ledger(rest, parameters)
                case ["executed"]:
                    rows = views.executed(self.company, writes=parameters.get("writes") == "true")
                    response = _page_of(rows, parameters)
                case ["books"]:
                    response = views.summary(self.company, len(self._problems()))
                case ["problems"]:
                    response = {"data": self._problems()}
                case ["simplifications"]:
                    response = {"strict": self.company.strict, "data": views.simplifications(self.company)}
                case ["preferences"]:
                    response = self.company.preferences
                case ["behaviours"]:
                    response = self.company.behaviours
                case ["snapshots"]:
                    response = {"data": [{"id": snapshot_id} for snapshot_id in self._snapshots]}
                case _:
                    raise NotFoundError(f"There is no /{'/'.join(path)}.")
        return response

    def post(self, path: Sequence[str]) -> Json:
        """Change the company as a whole. Raises `NotFoundError` or `BadParameterError`."""
        with self.company.lock:
            match path:
                case ["reset"]:
                    assert self._first is not None  # noqa: S101 - __post_init__ takes it
                    self.company.restore(self._first)
                    return views.summary(self.company, len(self._problems()))
                case ["lists" | "transactions" as name, kind, record_id, "edit"]:
                    self._record(kind, record_id, is_list=name == "lists")
                    self.company.edit(record_id)
                    return self._record(kind, record_id, is_list=name == "lists")
                case ["preferences" | "behaviours" as switches, name, value]:
                    return self._set(switches, name, value)
                case ["snapshots"]:
                    return self._take_snapshot()
                case ["snapshots", snapshot_id, "restore"]:
                    self.company.restore(self._snapshot(snapshot_id))
                    return views.summary(self.company, len(self._problems()))
                case ["snapshots", snapshot_id, "restore_backup"]:
                    self.company.restore_backup(self._snapshot(snapshot_id))
                    return views.summary(self.company, len(self._problems()))
        raise NotFoundError(f"There is no POST /{'/'.join(path)}.")

    def delete(self, path: Sequence[str]) -> Json:
        """Delete a snapshot. Raises `NotFoundError`."""
        with self.company.lock:
            match path:
                case ["snapshots", snapshot_id]:
                    self._snapshot(snapshot_id)
                    del self._snapshots[snapshot_id]
                    return {"deleted": snapshot_id}
        raise NotFoundError(f"There is no DELETE /{'/'.join(path)}.")

    def _set(self, switches: str, name: str, value: str) -> Json:
        company = self.company
        try:
            (company.set_preference if switches == "preferences" else company.set_behaviour)(name, value)
        except ValueError as error:
            raise BadParameterError(str(error)) from error
        return company.preferences if switches == "preferences" else company.behaviours

    def _problems(self) -> list[str]:
        return [*views.problems(self.company), *self.more_problems()]

    def _of_kind(self, path: Sequence[str], parameters: dict[str, str], *, is_list: bool) -> Json:
        match path:
            case []:
                return {"data": views.counts(self.company.books, LISTS if is_list else TRANSACTIONS)}
            case [kind]:
                return self._records(kind, parameters, is_list=is_list)
        return self._record(*path, is_list=is_list)

    def _records(self, name: str, parameters: dict[str, str], *, is_list: bool) -> Json:
        books = self.company.books
        kind = _kind(name, is_list=is_list)
        search = parameters.get("search", "").lower()
        if len(search) > MAX_SEARCH_LENGTH:
            raise BadParameterError(f"search can have {MAX_SEARCH_LENGTH} characters at most.")
        number = parameters.get("ref_number")
        records = books.numbered(number, (kind,)) if number else list(books[kind])
        if search:
            records = [record for record in records if any(search in text.lower() for text in self._texts(record))]
        if not is_list and parameters.get("order") == "newest":
            records.reverse()
        page = _page_of(records, parameters)
        show = views.summary_row if parameters.get("view") == "summary" else views.row
        return {**page, "data": [show(books, record) for record in page["data"]]}

    def _texts(self, record: Record) -> Iterator[str]:
        """Yield the searchable texts: name, number, memo, and the names of customers and vendors."""
        yield record.full_name
        for name in ("RefNumber", "Memo"):
            yield record.fields.get(name, "")
        for name in ("CustomerRef", "VendorRef", "PayeeEntityRef", "EntityRef"):
            if name in record.fields:
                yield views.name_of(self.company.books, record.fields[name].get("ListID", ""))

    def _record(self, name: str, record_id: str, *, is_list: bool) -> Json:
        books = self.company.books
        kind = _kind(name, is_list=is_list)
        record = books.list_object(record_id, (kind,)) if is_list else books.transaction(record_id, (kind,))
        if record is None:
            raise NotFoundError(f"There is no {kind} {record_id}.")
        return views.list_object(record, books) if is_list else views.transaction(books, record)

    def _ledger(self, path: Sequence[str], parameters: dict[str, str]) -> Json:
        books = self.company.books
        if not path:
            return {"accounts": views.trial_balance(books)}
        account = books.list_object(path[0], ("Account",))
        if account is None:
            raise NotFoundError(f"Account {path[0]} does not exist.")
        return {"account": account.full_name, **_page_of(views.account_postings(books, account.id), parameters)}

    def _take_snapshot(self) -> Json:
        if len(self._snapshots) >= MAX_SNAPSHOTS:
            raise BadParameterError(f"There are {MAX_SNAPSHOTS} snapshots already. Delete one first.")
        self._last_id += 1
        self._snapshots[str(self._last_id)] = self.company.snapshot()
        return {"id": str(self._last_id)}

    def _snapshot(self, snapshot_id: str) -> Snapshot:
        if snapshot_id not in self._snapshots:
            raise NotFoundError(f"Snapshot {snapshot_id} does not exist.")
        return self._snapshots[snapshot_id]


def _kind(name: str, *, is_list: bool) -> str:
    kind = views.kind_of(name, is_list=is_list)
    if kind is None:
        what = "list" if is_list else "transaction type"
        raise NotFoundError(f"{name[:MAX_SEARCH_LENGTH]} is not a {what}.")
    return kind


def _page_of(rows: Sequence[Any], parameters: dict[str, str]) -> Json:
    offset = _number(parameters, "offset", 0, MAX_OFFSET)
    limit = _number(parameters, "limit", DEFAULT_LIMIT, MAX_LIMIT)
    return {"data": rows[offset : offset + limit], "total": len(rows), "offset": offset, "limit": limit}


def _number(parameters: dict[str, str], name: str, default: int, maximum: int) -> int:
    text = parameters.get(name, str(default))
    if not (text.isascii() and text.isdigit() and len(text) <= len(str(maximum)) and int(text) <= maximum):
        raise BadParameterError(f"{name} must be a whole number from 0 to {maximum}.")
    return int(text)
