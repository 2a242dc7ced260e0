"""A small company that answers the queries of runs, with a clock, iterators that end with their session, and deletions.

It is written from the schema and from what is known of QuickBooks, and shares no code with the runs.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


@dataclass
class Record:
    """A record of the company."""

    kind: str
    id: str
    name: str
    date: str
    modified: datetime
    edit_sequence: int = 1
    memo: str = ""
    amount: int = 0
    pays: dict[str, int] = field(default_factory=dict)
    """What a payment has paid, by id."""
    balance: int = 0
    """The balance of an entry of a list, which changes without notice."""
    created: datetime = datetime(2026, 3, 1, tzinfo=UTC)


PAID_FIELDS = {
    "Invoice": ("AppliedAmount", "BalanceRemaining", "IsPaid"),
    "Charge": ("BalanceRemaining", "IsPaid"),
    "Bill": ("IsPaid", "OpenAmount"),
}


@dataclass
class Books:
    """A company. `clock` is that of its machine.

    `payment_touches` and `deletion_touches` are whether a payment, or its deletion, changes the time of what it pays.
    `merge_lists_source` is whether the source of a merge is among the deletions.
    """

    clock: datetime = datetime(2026, 3, 14, 12, tzinfo=UTC)
    records: dict[str, Record] = field(default_factory=dict)
    deleted: list[tuple[Record, datetime]] = field(default_factory=list)
    lists: frozenset[str] = frozenset({"Customer", "Account", "Vendor"})
    iterators: dict[str, list[str]] = field(default_factory=dict)
    numbers: Iterator[int] = field(default_factory=lambda: iter(range(1, 1 << 40)))
    payment_touches: bool = False
    deletion_touches: bool = False
    merge_lists_source: bool = False

    def tick(self, seconds: float = 1) -> None:
        """Let time pass."""
        self.clock += timedelta(seconds=seconds)

    def add(self, kind: str, name: str, *, date: str = "2026-03-01") -> Record:
        """Add a record."""
        amount = 10_000 if kind in PAID_FIELDS else 0
        id_ = f"{next(self.numbers):X}-1"
        record = Record(kind, id_, name, date, self.clock, amount=amount, created=self.clock)
        self.records[record.id] = record
        return record

    def change(self, record: Record, **fields: Any) -> None:
        """Change a record."""
        for name, value in fields.items():
            setattr(record, name, value)
        record.modified, record.edit_sequence = self.clock, record.edit_sequence + 1

    def delete(self, record: Record) -> None:
        """Delete a record."""
        del self.records[record.id]
        self.deleted.append((record, self.clock))
        self._touch(record, self.deletion_touches)

    def merge(self, source: Record, target: Record) -> None:
        """Merge an entry of a list into another one."""
        self.change(target)
        del self.records[source.id]
        if self.merge_lists_source:
            self.deleted.append((source, self.clock))

    def void(self, record: Record) -> None:
        """Void a transaction: it has no amount, and pays nothing."""
        self.change(record, amount=0)
        self._touch(record, self.deletion_touches)
        record.pays = {}

    def left(self, record: Record) -> int:
        """Return how much of a transaction is not paid."""
        return record.amount - sum(other.pays.get(record.id, 0) for other in self.records.values())

    def pay(self, record: Record, amount: int) -> Record:
        """Add a payment of an invoice, a charge or a bill."""
        payment = self.add("BillPaymentCheck" if record.kind == "Bill" else "ReceivePayment", "")
        payment.amount, payment.pays = amount, {record.id: amount}
        self._touch(payment, self.payment_touches)
        return payment

    def apply(self, payment: Record, record: Record, amount: int) -> None:
        """Let a payment or a credit pay something else."""
        self._touch(payment, self.deletion_touches)
        self.change(payment, pays={record.id: amount})
        self._touch(payment, self.payment_touches)

    def _touch(self, payment: Record, touches: bool) -> None:
        for id_ in payment.pays if touches else ():
            if id_ in self.records:
                self.change(self.records[id_])

    def end_session(self) -> None:
        """End all iterators."""
        self.iterators.clear()

    def answer(self, text: str) -> str:
        """Return the response to a message."""
        message_set = ET.fromstring(text)[0]  # noqa: S314 - as above
        root = ET.Element("QBXML")
        responses = ET.SubElement(root, "QBXMLMsgsRs")
        for query in message_set:
            self._answer(query, responses)
        return ET.tostring(root, encoding="unicode")

    def _answer(self, query: ET.Element, responses: ET.Element) -> None:
        response = ET.SubElement(responses, query.tag.removesuffix("Rq") + "Rs")
        response.set("requestID", query.get("requestID", ""))
        kind = query.tag.removesuffix("QueryRq")
        if kind in {"ListDeleted", "TxnDeleted"}:
            self._answer_deletions(query, response, kind.removesuffix("Deleted"))
        elif kind == "Transaction":
            self._answer_activity(query, response)
        elif ids := [element.text or "" for element in query.findall("TxnID")]:
            self._write(query, response, ids, kind)
            if any(id_ not in self.records for id_ in ids):
                _status(response, 500, "Warn", "Some were not found.")
        elif query.get("iterator") == "Continue":
            self._answer_page(query, response, query.get("iteratorID", ""), kind)
        else:
            found = [record.id for record in self._matching(query, kind)]
            limit = int(query.findtext("MaxReturned") or len(found) or 1)
            if query.get("metaData") == "MetaDataOnly":
                _status(response, 0 if found else 1, "Info", "OK")
                response.set("retCount", str(len(found)))
            elif query.get("iterator") == "Start":
                iterator_id = f"{{{next(self.numbers)}}}"
                self.iterators[iterator_id] = found
                self._answer_page(query, response, iterator_id, kind)
            else:
                self._write(query, response, found[:limit], kind)

    def _answer_page(self, query: ET.Element, response: ET.Element, iterator_id: str, kind: str) -> None:
        if iterator_id not in self.iterators:
            _status(response, 3000, "Error", "The iterator does not exist.")
            return
        limit = int(query.findtext("MaxReturned") or 0)
        ids, rest = self.iterators[iterator_id][:limit], self.iterators[iterator_id][limit:]
        self.iterators[iterator_id] = rest
        self._write(query, response, ids, kind)
        response.set("iteratorRemainingCount", str(len(rest)))
        response.set("iteratorID", iterator_id)

    def _write(self, query: ET.Element, response: ET.Element, ids: Sequence[str], kind: str) -> None:
        wanted = {element.text for element in query.findall("IncludeRetElement")}
        found = [self.records[id_] for id_ in ids if id_ in self.records]
        _status(response, 0 if found else 1, "Info", "OK" if found else "None")
        for record in found:
            row = ET.SubElement(response, f"{kind}Ret")
            is_list = kind in self.lists
            fields = {
                "ListID" if is_list else "TxnID": record.id,
                "TimeCreated": _text(record.created),
                "TimeModified": _text(record.modified),
                "EditSequence": str(record.edit_sequence),
                "Name" if is_list else "TxnDate": record.name if is_list else record.date,
                "Memo": record.memo,
                **self._computed(record),
            }
            for name, value in fields.items():
                if not wanted or name in wanted:
                    ET.SubElement(row, name).text = value

    def _computed(self, record: Record) -> dict[str, str]:
        """Return the fields that follow from other records."""
        if record.kind == "Customer":
            return {"Balance": _money(record.balance)}
        left = self.left(record)
        values = {
            "AppliedAmount": _money(left - record.amount),
            "BalanceRemaining": _money(left),
            "IsPaid": "true" if left <= 0 else "false",
            "OpenAmount": _money(left),
        }
        return {name: values[name] for name in PAID_FIELDS.get(record.kind, ())}

    def _answer_activity(self, query: ET.Element, response: ET.Element) -> None:
        since = _moment(query.findtext("TransactionModifiedDateRangeFilter/FromModifiedDate"))
        changed = [
            record
            for record in self.records.values()
            if record.kind not in self.lists and _within(record.modified.replace(microsecond=0), since, None)
        ]
        found = changed[: int(query.findtext("MaxReturned") or 0)]
        _status(response, 0 if found else 1, "Info", "OK")
        for record in found:
            row = ET.SubElement(response, "TransactionRet")
            ET.SubElement(row, "TxnID").text = record.id
            ET.SubElement(row, "TimeModified").text = _text(record.modified)
            ET.SubElement(row, "Amount").text = _money(record.amount)

    def _matching(self, query: ET.Element, kind: str) -> list[Record]:
        is_list = kind in self.lists
        prefix = "" if is_list else "ModifiedDateRangeFilter/"
        times = query.findtext(f"{prefix}FromModifiedDate"), query.findtext(f"{prefix}ToModifiedDate")
        if is_list:
            names = query.findtext("NameRangeFilter/FromName"), query.findtext("NameRangeFilter/ToName")
        else:
            names = query.findtext("TxnDateRangeFilter/FromTxnDate"), query.findtext("TxnDateRangeFilter/ToTxnDate")
        return sorted(
            (
                record
                for record in self.records.values()
                if record.kind == kind
                and _within(record.modified.replace(microsecond=0), *map(_moment, times))
                and _within(record.name.upper() if is_list else record.date, *names)
                and (query.findtext("PaidStatus") != "NotPaidOnly" or self.left(record) > 0)
            ),
            key=lambda record: record.name,
        )

    def _answer_deletions(self, query: ET.Element, response: ET.Element, family: str) -> None:
        kinds = {element.text for element in query.findall(f"{family}DelType")}
        since = _moment(query.findtext("DeletedDateRangeFilter/FromDeletedDate"))
        found = [(record, at) for record, at in self.deleted if record.kind in kinds and (not since or at >= since)]
        _status(response, 0 if found else 1, "Info", "OK")
        for record, at in found:
            row = ET.SubElement(response, f"{family}DeletedRet")
            ET.SubElement(row, f"{family}DelType").text = record.kind
            ET.SubElement(row, f"{family}ID").text = record.id
            ET.SubElement(row, "TimeCreated").text = _text(record.created)
            ET.SubElement(row, "TimeDeleted").text = _text(at)


def _status(response: ET.Element, code: int, severity: str, message: str) -> None:
    response.set("statusCode", str(code))
    response.set("statusSeverity", severity)
    response.set("statusMessage", message)


def _money(cents: int) -> str:
    return f"{cents // 100}.{cents % 100:02}"


def _text(moment: datetime) -> str:
    return moment.replace(microsecond=0).isoformat()


def _moment(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None


def _within(value: object, first: object, last: object) -> bool:
    return (first is None or value >= first) and (last is None or value <= last)  # type: ignore[operator]
