"""The records of a company file in memory, with the indexes that requests need."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right, insort
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cache
from math import inf
from typing import TYPE_CHECKING, TypeAlias

from simulator.basics.errors import RequestError
from simulator.books.behaviours import BEHAVIOURS, ON
from simulator.books.kinds import GROUPS, ITEMS, KINDS, TRANSACTIONS, Kind
from simulator.books.ledger import BY_QUANTITY, NOTHING, SETTLES, Ledger
from simulator.books.records import Fields, Record
from simulator.books.uses import Uses, references

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from simulator.basics.clock import MachineClock
    from simulator.books.ledger import Effects, Posting
    from simulator.books.records import Draft


TOO_MUCH = Decimal(10) ** 10
"""No transaction reaches this amount: rates have ten digits before the point, and balances must fit into thirteen."""

Times: TypeAlias = tuple[float, float]
"""A range of time in Unix seconds, both ends included."""
ALWAYS: Times = (-inf, inf)
_WITH_BALANCES = {"Account", "Customer", "Vendor", *ITEMS}
_AFTER_IDS = "~"
"""A text after every id, which has hexadecimal digits and a hyphen."""


@dataclass(frozen=True, slots=True)
class Deletion:
    """A deleted record, as ListDeletedQuery and TxnDeletedQuery return it."""

    kind: str
    id: str
    created: int
    deleted: int
    name: str


class Table:
    """The records of one kind in the order of queries: lists by full name, transactions by number."""

    def __init__(self) -> None:
        self._keys: list[tuple[str, int, str]] = []
        self._records: dict[str, Record] = {}
        self._times: list[tuple[int, str]] | None = None
        """TimeModified and id of each record, in order, from the first query by time on."""

    def __iter__(self) -> Iterator[Record]:
        return (self._records[key[2]] for key in self._keys)

    def __len__(self) -> int:
        return len(self._keys)

    def add(self, record: Record) -> None:
        """Insert a record at its position."""
        key = _order(record)
        if self._keys and key < self._keys[-1]:
            insort(self._keys, key)
        else:
            self._keys.append(key)
        self._records[record.id] = record
        if self._times is not None:
            insort(self._times, (record.modified, record.id))

    def copy(self, records: Mapping[str, Record]) -> Table:
        """Return a table with copies of the records, which are given by id."""
        table = Table()
        table._keys = self._keys.copy()
        table._records = {record_id: records[record_id] for record_id in self._records}
        table._times = None if self._times is None else self._times.copy()
        return table

    def modified(self, times: Times) -> list[Record]:
        """Return the records that were changed in a range of time, in no order.

        It takes as long as there are such records, however many others there are.
        """
        if self._times is None:
            self._times = sorted((record.modified, record_id) for record_id, record in self._records.items())
        first, last = times
        start, end = bisect_left(self._times, (first, "")), bisect_right(self._times, (last, _AFTER_IDS))
        return [self._records[record_id] for _, record_id in self._times[start:end]]

    def set_times(self, record: Record, modified: int, edit_sequence: int) -> None:
        """Give a record of the table another TimeModified and EditSequence."""
        if self._times is not None:
            del self._times[bisect_left(self._times, (record.modified, record.id))]
            insort(self._times, (modified, record.id))
        record.modified, record.edit_sequence = modified, edit_sequence

    def remove(self, record: Record) -> None:
        """Remove a record. Its name must not have changed since it was added."""
        del self._keys[bisect_left(self._keys, _order(record))]
        del self._records[record.id]
        if self._times is not None:
            del self._times[bisect_left(self._times, (record.modified, record.id))]


class Rules:
    """The rules of a kind of record. The classes in `simulator.rules` override the methods of this one.

    An Add or Mod calls `complete` and `check`. Then the books store the record and call `effects`, and an Add calls
    `after_add`. A response calls `derived`.
    """

    def complete(self, books: Books, draft: Draft) -> None:
        """Add the values that the request does not set: defaults, numbers, amounts. Raises `RequestError`."""

    def check(self, books: Books, draft: Draft) -> None:
        """Check a complete draft. Raises `RequestError` if QuickBooks would refuse it."""

    def effects(self, books: Books, record: Record) -> Effects:  # noqa: ARG002 - for the kinds that have effects
        """Return the effects on accounts, other transactions and stock, without changing anything."""
        return NOTHING

    def after_add(self, books: Books, record: Record, draft: Draft) -> None:
        """Add the further records that an Add creates, such as the transaction of an opening balance."""

    def derived(self, books: Books, record: Record) -> Fields:  # noqa: ARG002 - for the kinds that have such fields
        """Return the fields that are computed when the record is shown: balances, quantities, links."""
        return {}

    def add(self, books: Books, draft: Draft) -> Record:
        """Store a complete draft."""
        return books.add(draft.kind, draft.fields)

    def check_delete(self, books: Books, record: Record) -> None:
        """Check that the record can be deleted. Raises `RequestError`."""

    def check_void(self, books: Books, record: Record) -> None:
        """Check that the transaction can be voided. Raises `RequestError`."""

    def number_series(self, kind: Kind, fields: Fields) -> str:  # noqa: ARG002 - for transactions
        """Return the name of the series that a transaction's RefNumber belongs to, '' for none."""
        return ""


@dataclass(slots=True)
class Books:
    """Everything that a company file records.

    `rules_of` returns the rules of a kind. `preferences` are switches that rules and requests read. `custom_fields`
    are the definitions of data extensions. Ids are unique over all lists and over all transactions.
    """

    clock: MachineClock
    rules_of: Callable[[Kind], Rules]
    preferences: Fields = field(default_factory=dict)
    custom_fields: list[Fields] = field(default_factory=list)
    behaviours: dict[str, str] = field(default_factory=dict)
    """The positions of `BEHAVIOURS` that were set."""
    last_restore: int = 0
    """When the file was restored from a backup, in Unix seconds. 0 means never."""
    ledger: Ledger = field(default_factory=Ledger)
    deletions: list[Deletion] = field(default_factory=list)
    lists: dict[str, Record] = field(default_factory=dict)
    transactions: dict[str, Record] = field(default_factory=dict)
    last_list_number: int = 0
    last_txn_number: int = 0
    last_line_number: int = 0
    last_numbers: dict[str, str] = field(default_factory=dict)
    """The RefNumber that was used last in each series."""
    assumptions: set[str] = field(default_factory=set)
    """The rows of FIDELITY.md that the request in progress depends on, as its rules found in the books."""
    _tables: dict[str, Table] = field(default_factory=lambda: {name: Table() for name in KINDS})
    _names: dict[tuple[str, str], Record] = field(default_factory=dict)
    _uses: Uses = field(default_factory=Uses)
    _numbers: dict[str, dict[str, list[str]]] = field(default_factory=lambda: {name: {} for name in KINDS})
    _undo: list[Callable[[], None]] | None = None

    def copy(self) -> Books:
        """Return equal books. A change of either does not reach the other.

        The copies share what never changes: the fields of records and the effects of transactions. A change replaces
        them.
        """
        self.bring_up_to_date()
        lists, transactions = (
            {record_id: record.copy() for record_id, record in records.items()}
            for records in (self.lists, self.transactions)
        )
        return replace(
            self,
            preferences=deepcopy(self.preferences),
            custom_fields=deepcopy(self.custom_fields),
            behaviours=self.behaviours.copy(),
            ledger=self.ledger.copy(),
            deletions=self.deletions.copy(),
            lists=lists,
            transactions=transactions,
            last_numbers=self.last_numbers.copy(),
            assumptions=set(),
            _tables={
                name: table.copy(lists if KINDS[name].is_list else transactions) for name, table in self._tables.items()
            },
            _names={name: lists[record.id] for name, record in self._names.items()},
            _uses=self._uses.copy(lambda record: (lists if record.kind.is_list else transactions)[record.id]),
            _numbers={
                kind: {number: ids.copy() for number, ids in numbers.items()} for kind, numbers in self._numbers.items()
            },
        )

    def does(self, behaviour: str) -> bool:
        """Return whether QuickBooks behaves in this way, which no document tells."""
        return self.behaviours.get(behaviour, BEHAVIOURS[behaviour].default) == ON

    def assume(self, name: str) -> None:
        """Note that the request in progress depends on a row of FIDELITY.md that no document confirms.

        For what depends on the books: a row with `covers` finds what shows in the request.
        """
        self.assumptions.add(name)

    def bring_up_to_date(self) -> None:
        """Compute what waits for the first read, so that reading changes nothing but `Uses`, which has a lock."""
        self.ledger.bring_up_to_date()

    def __getitem__(self, kind: str) -> Table:
        return self._tables[kind]

    def of(self, group: str) -> Iterator[Record]:
        """Yield the records of a kind, or of a group of kinds (`Item`, `Entity`, `Terms`) in the order of names."""
        return self.modified(GROUPS[group], ALWAYS)

    def modified(self, kinds: Sequence[str], times: Times) -> Iterator[Record]:
        """Yield the records of these kinds that were changed in a range of time, in the order of queries."""
        if times != ALWAYS:
            return iter(sorted((record for kind in kinds for record in self._tables[kind].modified(times)), key=_order))
        if len(kinds) == 1:
            return iter(self._tables[kinds[0]])
        return iter(sorted((record for kind in kinds for record in self._tables[kind]), key=_order))

    def list_object(self, list_id: str, kinds: tuple[str, ...]) -> Record | None:
        """Find a list object of one of these kinds by its ListID."""
        record = self.lists.get(list_id)
        return record if record is not None and record.kind.name in kinds else None

    def transaction(self, txn_id: str, kinds: tuple[str, ...] = ()) -> Record | None:
        """Find a transaction by its TxnID, of one of these kinds unless there are none."""
        record = self.transactions.get(txn_id)
        return record if record is not None and (not kinds or record.kind.name in kinds) else None

    def named(self, full_name: str, kinds: tuple[str, ...]) -> Record | None:
        """Find a list object of one of these kinds by its full name. Upper and lower case are equal."""
        name = full_name.lower()
        for namespace in _namespaces(kinds):
            record = self._names.get((namespace, name))
            if record is not None and record.kind.name in kinds:
                return record
        return None

    def numbered(self, number: str, kinds: tuple[str, ...]) -> list[Record]:
        """Find the transactions of these kinds with a RefNumber, ignoring case, oldest first."""
        ids = (record_id for kind in kinds for record_id in self._numbers[kind].get(number.lower(), ()))
        return sorted((self.transactions[record_id] for record_id in ids), key=_order)

    def has_other_creation_time(self, list_id: str) -> bool:
        """Return whether an object has the number of this ListID, but another creation time after its hyphen."""
        start = f"{list_id.partition('-')[0]}-"
        return list_id not in self.lists and any(other_id.startswith(start) for other_id in self.lists)

    def owner_of_name(self, kind: Kind, full_name: str) -> Record | None:
        """Return the record that has this name already, among all kinds that share names with `kind`."""
        return self._names.get((kind.namespace, full_name.lower()))

    def is_used(self, record_id: str) -> bool:
        """Return whether another record refers to this one."""
        return bool(self._uses.of(record_id))

    def users(self, record_id: str) -> list[str]:
        """Return the ids of the records that refer to this one."""
        return list(self._uses.of(record_id))

    def children(self, record: Record) -> list[Record]:
        """Return the records directly below this one, in their list's order."""
        users = [self.lists[record_id] for record_id in self.users(record.id) if record_id in self.lists]
        return sorted((user for user in users if user.fields.get("ParentRef") == record.reference()), key=_order)

    @contextmanager
    def atomic(self) -> Iterator[None]:
        """Undo all changes if the block raises an exception. Transactions that are too large raise one in it."""
        counters = self.last_list_number, self.last_txn_number, self.last_line_number
        settings = deepcopy((self.preferences, self.custom_fields, self.last_numbers))
        steps = self._undo = []
        try:
            yield
        except BaseException:
            for step in reversed(steps):
                step()
            self.last_list_number, self.last_txn_number, self.last_line_number = counters
            self.preferences, self.custom_fields, self.last_numbers = settings
            raise
        finally:
            self._undo = None

    def add(self, kind: Kind, fields: Fields, *, at: int | None = None) -> Record:
        """Store a new record and enter its effects. `at` is its time in Unix seconds, by default now."""
        record = self.unsaved(kind, fields, at=at)
        self.insert(record)
        self._touch_others(record, {}, NOTHING)
        if self._undo is not None:
            self._undo.append(lambda: self._take_out(record))
            self._check_size(record)
        self._note_number(record)
        return record

    def unsaved(self, kind: Kind, fields: Fields, *, at: int | None = None) -> Record:
        """Return a new record with an id that the books do not contain."""
        now = self.clock.seconds() if at is None else at
        if kind.is_list:
            return Record(kind, self.new_list_id(now), fields, now, now, now)
        self.last_txn_number += 1
        number = self.last_txn_number
        return Record(kind, f"{number:X}-{now}", fields, now, now, now, number)

    def insert(self, record: Record) -> None:
        """Add a complete record, new or from a file, to all tables and indexes."""
        record.full_name = self.full_name_of(record.kind, record.fields)
        self._index(record)
        (self.lists if record.kind.is_list else self.transactions)[record.id] = record

    def change(self, record: Record, fields: Fields) -> None:
        """Replace the fields of a record, and give it a new EditSequence."""
        former, effects = record.fields, self.ledger.effects.get(record.id, NOTHING)
        self.rewrite(record, fields)
        self.touch(record)
        self._touch_others(record, former, effects)
        if self._undo is not None:
            self._check_size(record)
        if fields.get("RefNumber") != former.get("RefNumber"):
            self._note_number(record)

    def rewrite(self, record: Record, fields: Fields) -> None:
        """Replace the fields of a record. It keeps its TimeModified and its EditSequence."""
        former = record.fields
        self._replace(record, fields)
        if self._undo is not None:
            self._undo.append(lambda: self._replace(record, former))

    def touch(self, record: Record) -> None:
        """Record a change: TimeModified becomes now, and the EditSequence a new one."""
        table, times = self._tables[record.kind.name], (record.modified, record.edit_sequence)
        now = self.clock.seconds()
        table.set_times(record, now, max(now, record.edit_sequence + 1))
        if self._undo is not None:
            self._undo.append(lambda: table.set_times(record, *times))

    def _touch_others(self, record: Record, former: Fields, effects: Effects) -> None:
        """Touch what the change of a transaction moves in other records, as far as QuickBooks does so.

        `former` and `effects` are the fields and effects before the change, empty for a new record.
        """
        if record.kind.is_list or not self.behaviours:
            return
        now, is_kept = self.ledger.effects.get(record.id, NOTHING), record.id in self.transactions
        ids: set[str] = set()
        for behaviour, kind, links in (
            ("payment_touches_paid", SETTLES, set(now.links) - set(effects.links)),
            ("deletion_touches_paid", SETTLES, set(effects.links) - set(now.links)),
            ("fulfilment_touches_order", BY_QUANTITY, {*effects.links, *now.links}),
        ):
            if self.does(behaviour):
                ids |= {txn_id for link in links if link.kind == kind for txn_id in (link.source, link.target)}
        touched = [self.transactions[txn_id] for txn_id in sorted(ids - {record.id}) if txn_id in self.transactions]
        if self.does("balances_touch_lists"):
            fields = [former, record.fields] if is_kept else [former]
            touched += self._moved(fields, (*effects.postings, *now.postings))
        for other in touched:
            self.touch(other)

    def _moved(self, changed: list[Fields], postings: tuple[Posting, ...]) -> list[Record]:
        """Return the accounts, names and items whose balances or quantities a transaction can move."""
        pending = {list_id for fields in changed for list_id in references(fields)}
        pending |= {list_id for posting in postings for list_id in (posting.account, posting.entity, posting.item)}
        found: set[str] = set()
        while pending:
            record = self.lists.get(pending.pop())
            if record is not None and record.kind.name in _WITH_BALANCES and record.id not in found:
                found.add(record.id)
                pending |= references(record.fields)  # the objects above it, and the accounts of an item
        return [self.lists[list_id] for list_id in sorted(found)]

    def remove(self, record: Record, *, is_listed: bool = True) -> None:
        """Delete a record and remove its effects. `is_listed` tells whether a query for deleted objects finds it."""
        effects = self.ledger.effects.get(record.id, NOTHING)
        self._take_out(record)
        self._touch_others(record, record.fields, effects)
        if not is_listed:
            if self._undo is not None:
                self._undo.append(lambda: self.insert(record))
            return
        name = record.full_name if record.kind.is_list else record.fields.get("RefNumber", "")
        deletion = Deletion(record.kind.name, record.id, record.created, self.clock.seconds(), name)
        self.deletions.append(deletion)

        def undo() -> None:
            self.insert(record)
            self.deletions.remove(deletion)

        if self._undo is not None:
            self._undo.append(undo)

    def next_number(self, series: str, first: str) -> str:
        """Return the number after the one that was used last in a series. A number that is in use is passed over.

        `first` begins a series. Returns '' if the number would be too long.
        """
        number = following(self.last_numbers[series]) if series in self.last_numbers else first
        while number and self._is_numbered(series, number):
            number = following(number)
        return number

    def _is_numbered(self, series: str, number: str) -> bool:
        same = self.numbered(number, TRANSACTIONS)
        return any(self.rules_of(record.kind).number_series(record.kind, record.fields) == series for record in same)

    def _note_number(self, record: Record) -> None:
        number, series = (
            record.fields.get("RefNumber", ""),
            self.rules_of(record.kind).number_series(record.kind, record.fields),
        )
        if series and number[-1:].isdecimal():
            self.last_numbers[series] = number

    def new_list_id(self, at: int | None = None) -> str:
        """Return a ListID."""
        self.last_list_number += 1
        return f"{0x80000000 + self.last_list_number:X}-{self.clock.seconds() if at is None else at}"

    def new_line_id(self, at: int | None = None) -> str:
        """Return a TxnLineID."""
        self.last_line_number += 1
        return f"{self.last_line_number:X}-{self.clock.seconds() if at is None else at}"

    def full_name_of(self, kind: Kind, fields: Fields) -> str:
        """Return the full name of a list object with these fields, '' for a transaction."""
        if kind.name_field is None:
            return ""
        name = str(fields.get(kind.name_field, ""))
        parent = self.lists.get((fields.get("ParentRef") or {}).get("ListID", ""))
        return f"{parent.full_name}:{name}" if parent else name

    def _check_size(self, record: Record) -> None:
        """Refuse a transaction whose amounts are too large. Raises `RequestError` 3210."""
        if record.kind.is_list:
            return
        total = Decimal(record.fields.get("TotalAmount") or "0")
        amounts = (total, *(posting.amount for posting in self.ledger.postings(record.id)))
        if any(abs(amount) >= TOO_MUCH for amount in amounts):
            field = f'The "Amount" field has an invalid value "{max(amounts, key=abs)}".'
            raise RequestError(3210, f"{field}  QuickBooks error message: It is too large.")

    def _take_out(self, record: Record) -> None:
        self._unindex(record)
        del (self.lists if record.kind.is_list else self.transactions)[record.id]

    def _replace(self, record: Record, fields: Fields) -> None:
        """Replace the fields of a record. If its rules refuse the new fields, it keeps the former ones."""
        former, former_name = record.fields, record.full_name
        self._unindex(record)
        record.fields, record.full_name = fields, self.full_name_of(record.kind, fields)
        try:
            self._index(record)
        except BaseException:
            record.fields, record.full_name = former, former_name
            self._index(record)
            raise
        if record.full_name != former_name:
            for child in self.children(record):
                self._rename(child)

    def _rename(self, record: Record) -> None:
        children = self.children(record)
        self._unindex(record)
        record.full_name = self.full_name_of(record.kind, record.fields)
        self._index(record)
        if self.does("rename_touches_children"):
            self.touch(record)
        for child in children:
            self._rename(child)

    def _index(self, record: Record) -> None:
        # Effects are computed first, because only this step can fail.
        if not record.kind.is_list and not record.is_void:
            effects = self.rules_of(record.kind).effects(self, record)
            self.ledger.put(record.id, effects, record.fields.get("TxnDate", ""), record.number)
        self._tables[record.kind.name].add(record)
        if record.full_name:
            self._names[record.kind.namespace, record.full_name.lower()] = record
        self._uses.add(record)
        if "RefNumber" in record.fields:
            self._numbers[record.kind.name].setdefault(record.fields["RefNumber"].lower(), []).append(record.id)

    def _unindex(self, record: Record) -> None:
        self._tables[record.kind.name].remove(record)
        if record.full_name:
            del self._names[record.kind.namespace, record.full_name.lower()]
        self._uses.remove(record)
        if "RefNumber" in record.fields:
            self._numbers[record.kind.name][record.fields["RefNumber"].lower()].remove(record.id)
        if not record.kind.is_list:
            self.ledger.remove(record.id)


_LAST_DIGITS = re.compile(r"[0-9]+$")
_MAX_NUMBER_LENGTH = 11


def following(number: str) -> str:
    """Return the next RefNumber: its last digits count, so INV-009 is followed by INV-010. '' if it is too long."""
    text = _LAST_DIGITS.sub(lambda digits: str(int(digits[0]) + 1).zfill(len(digits[0])), number)
    return text if len(text) <= _MAX_NUMBER_LENGTH else ""


@cache
def _namespaces(kinds: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(KINDS[kind].namespace for kind in kinds))


def _order(record: Record) -> tuple[str, int, str]:
    """Sort key: lists by name, with children between their parent and its next sibling, and transactions by number."""
    return record.full_name.lower().replace(":", "\x00"), record.number, record.id
