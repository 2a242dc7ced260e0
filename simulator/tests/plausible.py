"""Makes random requests plausible, with references, ids and dates that exist in a company of the simulator."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.books import GROUPS, KINDS
from simulator.books.kinds import referred_kinds
from simulator.requests.reading import stored_name

if TYPE_CHECKING:
    from random import Random
    from xml.etree.ElementTree import Element

    from simulator.books import Books, Record

_SHARE = 0.9
"""The share of ids and references that are replaced. The others stay random to test failures as well."""

_TYPE_ELEMENTS = ("ListDelType", "TxnDelType", "TxnVoidType", "ListMergeType", "ListDataExtType", "TxnDataExtType")
_VERBS = ("QueryRq", "AddRq", "ModRq", "DelRq", "VoidRq", "MergeRq")
_FILTERED = {
    "EntityFilter": "EntityRef",
    "TimeTrackingEntityFilter": "EntityRef",
    "TransactionEntityFilter": "EntityRef",
    "AccountFilter": "AccountRef",
    "TransactionAccountFilter": "AccountRef",
    "ItemFilter": "ItemRef",
    "TransactionItemFilter": "ItemRef",
    "ClassFilter": "ClassRef",
    "TransactionClassFilter": "ClassRef",
    "SiteFilter": "InventorySiteRef",
}
_SETTLED = {"ReceivePayment": ("Invoice",), "BillPaymentCheck": ("Bill",), "BillPaymentCreditCard": ("Bill",)}
"""The kinds of transactions that a payment settles."""


def make_plausible(request: Element, books: Books, random: Random) -> None:
    """Replace most references, ids, EditSequences and dates in a request by those of records in the books."""
    _Filler(request, books, random).fill()


class _Filler:
    def __init__(self, request: Element, books: Books, random: Random) -> None:
        self._request = request
        self._books = books
        self._random = random
        stem = request.tag
        for verb in _VERBS:
            stem = stem.removesuffix(verb)
        self._kinds = GROUPS.get(stem, ())
        for name in _TYPE_ELEMENTS:
            type_name = request.findtext(f".//{name}")
            if type_name:
                self._kinds = GROUPS.get(type_name, ())

    def fill(self) -> None:
        self._fill(self._request)
        if self._request.tag.endswith("ModRq") and len(self._request):
            self._identify(self._request[0])
        for node in self._request:
            if node.tag in {"MergeFrom", "MergeTo"}:
                self._identify(node)

    def _fill(self, node: Element) -> None:
        for child in node:
            self._fill(child)
        owner = self._kinds[0] if self._kinds else "Customer"
        if node.tag.endswith("Ref") and {child.tag for child in node} <= {"ListID", "FullName"}:
            kinds = self._kinds if node.tag == "ListObjRef" else referred_kinds(node.tag, owner)
            self._refer(node, kinds)
        elif node.tag in _FILTERED:
            self._refer(node, referred_kinds(_FILTERED[node.tag], owner))
        elif node.tag.startswith("AppliedToTxn"):
            self._set(node, "TxnID", self._pick(_SETTLED.get(owner, ("Invoice",))))
        elif node is self._request or node.tag in {"DataExtAdd", "DataExtMod", "DataExtDel"}:
            self._refer(node, self._kinds)
        if node.tag.endswith("Date") and node.text:
            self._date(node)
        self._change_names(node)
        if node.find("DataExtName") is not None and self._books.custom_fields and self._random.random() < _SHARE:
            self._use_definition(node)

    def _change_names(self, node: Element) -> None:
        """Remove most macros, which need another request, and make most names unique."""
        for macro in ("useMacro", "defMacro"):
            if macro in node.attrib and self._random.random() < _SHARE:
                del node.attrib[macro]
        if node.tag == "Name" and self._request.tag.endswith(("AddRq", "ModRq")) and self._random.random() < _SHARE:
            node.text = f"{self._random.randrange(1_000_000)}"[: len(node.text or "") + 5]

    def _refer(self, node: Element, kinds: tuple[str, ...]) -> None:
        for child in node:
            name = child.tag.removesuffix("WithChildren")
            if name in {"ListID", "TxnID", "FullName", "RefNumber"}:
                record = self._pick(kinds)
                if record is None and not any(len(self._books[kind]) for kind in kinds if kind in KINDS):
                    child.text = ""
                elif record is not None:
                    text = {"FullName": record.full_name, "RefNumber": record.fields.get("RefNumber")}.get(
                        name, record.id
                    )
                    child.text = text or child.text

    def _identify(self, content: Element) -> None:
        """Make a Mod change an existing record, with its EditSequence and its lines."""
        record = self._pick(self._kinds)
        if record is None:
            return
        self._set(content, record.kind.id_field, record)
        sequence = content.find("EditSequence")
        if sequence is not None:
            sequence.text = str(record.edit_sequence)
        lines = [(name, line["TxnLineID"]) for name, line in record.lines() if "TxnLineID" in line]
        for node in content:
            line_id = node.find("TxnLineID")
            if line_id is not None:
                name = stored_name(node.tag, record.kind.fields)
                ids = [stored_id for line_name, stored_id in lines if line_name == name]
                line_id.text = ids.pop(0) if ids and self._random.random() < _SHARE else "-1"
                lines = [line for line in lines if line[1] != line_id.text]
            for inner in node.iterfind("*/TxnLineID"):
                inner.text = "-1"

    def _use_definition(self, node: Element) -> None:
        definition = self._random.choice(self._books.custom_fields)
        for name in ("OwnerID", "DataExtName"):
            child = node.find(name)
            if child is not None and not self._request.tag.startswith("DataExtDefAdd"):
                child.text = definition[name]

    def _date(self, node: Element) -> None:
        if self._random.random() < _SHARE:
            # A range is always valid, because it begins in 2024 and ends in 2026.
            year = 2024 if node.tag.startswith("From") else 2026 if node.tag.startswith("To") else 2025
            node.text = f"{year}-{self._random.randint(1, 12):02d}-{self._random.randint(1, 28):02d}"

    def _set(self, node: Element, name: str, record: Record | None) -> None:
        child = node.find(name)
        if child is not None and record is not None:
            child.text = record.id

    def _pick(self, kinds: tuple[str, ...]) -> Record | None:
        if self._random.random() > _SHARE:
            return None
        records = [record for kind in kinds if kind in KINDS for record in self._books[kind] if record.is_active]
        return self._random.choice(records) if records else None
