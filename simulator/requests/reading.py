"""Reads the content of an Add or Mod into the form in which records are stored, and looks up references."""

from __future__ import annotations

from copy import deepcopy
from functools import cache
from typing import TYPE_CHECKING, Any

from simulator.basics.errors import RequestError
from simulator.books.custom_fields import carriers_of, required_definition, value_of
from simulator.books.kinds import Kind, referred_kinds
from simulator.books.records import VOID, Draft, Fields
from simulator.schema import Aggregate, Simple, schema
from simulator.schema.values import canonical, check_value, is_true

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from xml.etree.ElementTree import Element as Node

    from simulator.books import Books, Record
    from simulator.schema import Element

_NOT_IN_LIST = "QuickBooks error message: Invalid argument.  The specified record does not exist in the list."

_JOURNAL_LINES = "JournalDebitLine|JournalCreditLine"
_NEW_LINE = "-1"
_IDENTITY = {"ListID", "TxnID", "EditSequence"}
"""The elements of a Mod that identify the record."""
_ROW_KEYS = ("TxnLineID", "ListID", "NoteID")
"""The fields that identify a row of a repeated element, for a Mod to change it."""
_ITEM_LINES = ("ItemLineRet|ItemGroupLineRet", "ItemLineRet", "ItemGroupLineRet")
_CLEARING = {
    "ClearExpenseLines": ("ExpenseLineRet",),
    "ClearItemLines": _ITEM_LINES,
    "ClearItemsInGroup": ("ItemGroupLine", "ItemInventoryAssemblyLine"),
}
"""The switches of a Mod that remove all lines of one type."""


def not_found(record_id: str) -> RequestError:
    """Return the error for an id that no record has."""
    return RequestError(3120, f'Object "{record_id}" specified in the request cannot be found.  {_NOT_IN_LIST}')


class Reader:
    """Reads the content of one request for one kind."""

    def __init__(self, books: Books, kind: Kind) -> None:
        self._books = books
        self._kind = kind
        self._is_mod = False

    def draft(self, node: Node, model: Aggregate, before: Record | None = None) -> Draft:
        """Return the record that `node` describes: a new one, or `before` with the changes of a Mod.

        In a Mod, an element that is left out keeps its value, and an empty one clears its field. A line with a
        TxnLineID changes that line, and -1 adds one. If a Mod names any lines, the others are removed. Raises
        `RequestError`.
        """
        self._is_mod = before is not None
        draft = Draft(self._kind, {} if before is None else deepcopy(before.fields), before=before)
        # Changing a void transaction restores its effects.
        for name in (VOID, *_cleared(node)):
            draft.fields.pop(name, None)
        children = [child for child in node if before is None or child.tag not in _IDENTITY]
        self._merge(children, model, self._kind.fields, draft.fields, draft.extra)
        draft.fields_set = {stored for child in children if (stored := stored_name(child.tag, self._kind.fields))}
        return draft

    def reference(self, node: Node, *, top: bool = True) -> Fields:
        """Return a reference to the list object that `node` names. Raises `RequestError` 3120, 3130, 3140 or 3240."""
        list_id, full_name = node.findtext("ListID"), node.findtext("FullName")
        kinds = referred_kinds(node.tag, self._kind.name)
        record = (
            self._books.list_object(list_id, kinds) if list_id else self._books.named((full_name or "").strip(), kinds)
        )
        if record is None:
            raise self._dangling(node.tag, list_id, full_name, top=top)
        if not record.is_active:
            invalid = self._invalid(node.tag, list_id or full_name, top=top)
            raise RequestError(3140, f"{invalid}  QuickBooks error message: The list element is inactive.")
        return record.reference()

    def reference_in(self, parent: Node, name: str) -> Fields:
        """Return the reference in a child that the schema requires. Raises `RequestError` as `reference` does."""
        node = parent.find(name)
        if node is None:
            raise RequestError(3150, f'There is a missing element: "{name}".')
        return self.reference(node)

    def _dangling(self, tag: str, list_id: str | None, full_name: str | None, *, top: bool) -> RequestError:
        if tag == "ParentRef":
            return RequestError(3130, self._invalid(tag, list_id or full_name, top=top))
        if list_id:
            if self._books.has_other_creation_time(list_id):
                message = f'The creation time in the object ID "{list_id}" is not the one of the object in QuickBooks.'
                return RequestError(3240, message)
            return not_found(list_id)
        return RequestError(3140, f"{self._invalid(tag, full_name, top=top)}  {_NOT_IN_LIST}")

    def _invalid(self, tag: str, name: str | None, *, top: bool) -> str:
        noun, document = tag.removesuffix("Ref"), self._kind.name if top else f"{self._kind.name} line"
        if noun == "Parent":
            return f'There is an invalid reference to a parent "{name}" in the {self._kind.name}s list.'
        return f'There is an invalid reference to QuickBooks {noun} "{name or ""}" in the {document}.'

    def _merge(
        self, children: Iterable[Node], model: Aggregate, target: Aggregate, fields: Fields, extra: Fields | None
    ) -> None:
        """Enter elements into `fields`. Elements that responses do not have are stored in `extra`, or in their line."""
        former_rows: dict[str, list[Any]] = {}
        for child in children:
            element = model[child.tag]
            name = (
                _journal_side(child, former_rows.get(_JOURNAL_LINES) or fields.get(_JOURNAL_LINES, ()))
                if child.tag == "JournalLineMod"
                else stored_name(child.tag, target)
            )
            if name is None:
                # The rules of the kind use elements that responses do not show: OverrideItemAccountRef, LinkToTxn.
                holder = fields if extra is None else extra
                value = self._value(child, element, None, {}, top=extra is not None)
                _put(holder, child.tag, value, repeats=element.repeats)
                continue
            mixed = target.mixed_key_of.get(name)
            if mixed is None and not target[name].repeats:
                self._set(child, element, target, name, fields, top=extra is not None)
                continue
            for other in target.alternatives.get(name, ()):
                fields.pop(other, None)
            key = mixed or name
            row_key = _row_key(target[name].type)
            if key not in former_rows:
                former_rows[key] = fields.get(key, [])
                fields[key] = list(former_rows[key]) if row_key in {"ListID", "NoteID"} else []
            row = self._row(child, row_key, [former_row[1] if mixed else former_row for former_row in former_rows[key]])
            value = self._value(child, element, target[name].type, row or {}, top=extra is not None)
            if value or (row_key and value != ""):
                _place(fields[key], row, [name, value] if mixed else value)

    def _set(self, child: Node, element: Element, target: Aggregate, name: str, fields: Fields, *, top: bool) -> None:
        """Set or clear a field that occurs once. Raises `RequestError` 3190 for one that cannot be empty."""
        former, kind = fields.get(name), target[name].type
        value = self._value(child, element, kind, former if isinstance(former, dict) else {}, top=top)
        if value:
            for other in target.alternatives.get(name, ()):
                fields.pop(other, None)
        elif top and name in fields:
            self._check_clearing(child.tag)
        # A text that responses require is kept even if it is empty.
        is_text = value == "" and not isinstance(kind, Aggregate)
        if is_text and target[name].least and name not in target.alternatives:
            fields[name] = value
        else:
            _put(fields, name, value, repeats=False)

    def _row(self, child: Node, key: str | None, former: list[Fields]) -> Fields | None:
        """Return the row that an element of a Mod changes, None for a new one."""
        text = child.findtext(key) if key and (former or self._is_mod) else None
        if not text or text == _NEW_LINE:
            return None
        row = next((former_row for former_row in former if former_row.get(key or "") == text), None)
        if row is None:
            raise not_found(text)
        return row

    def _value(self, node: Node, element: Element, target: Any, former: Fields, *, top: bool) -> Any:
        kind = element.type
        if not isinstance(kind, Aggregate):
            if isinstance(target, Simple) and target.base == "STRTYPE":
                # Some fields may be longer in requests than QuickBooks can store.
                check_value(node.tag, node.text or "", target)
            return canonical(node.text or "", kind, self._books.clock.zone)
        if kind.is_reference:
            is_empty = not node.findtext("ListID") and not node.findtext("FullName")
            return "" if is_empty and not element.least else self.reference(node, top=top)
        fields = dict(former) if len(node) else {}
        # The books number new rows. A link to a line of another transaction keeps its number.
        skipped = {"EditSequence"} if former or "TxnID" in kind else {"EditSequence", *_ROW_KEYS}
        children = [child for child in node if child.tag not in skipped]
        stored = target if isinstance(target, Aggregate) else kind
        self._merge(children, kind, stored, fields, None)
        if "Computed" in fields:
            # A value that the request sets is not computed again, even if it is equal. The amount follows the others.
            chosen = {child.tag for child in children} - {"Amount", "ItemRef"}
            fields["Computed"] = {name: value for name, value in fields["Computed"].items() if name not in chosen}
        if self._is_mod and (children or _row_key(stored)):
            _check_complete(fields, former, kind, stored)
        if node.tag == "DataExt":
            definition = required_definition(self._books, fields["OwnerID"], fields.get("DataExtName", ""))
            return value_of(definition, fields.get("DataExtValue", ""), carriers_of(self._kind))
        fields.pop("JournalLineType", None)
        return fields

    def _check_clearing(self, tag: str) -> None:
        add = schema().requests.get(f"{self._kind.name}AddRq")
        element = add.content[f"{self._kind.name}Add"].content.elements.get(tag) if add else None
        if element is not None and element.least:
            raise RequestError(3190, f"Cannot clear the element in the {tag} field.")


def _check_complete(fields: Fields, former: Fields, model: Aggregate, target: Aggregate) -> None:
    """Check that a row of a Mod has the required fields that the request can set, such as its item group.

    A row that had no such field needs none: its response derives it, as the ValueDifference of an adjustment.
    """
    exempt = {*_ROW_KEYS, *target.alternatives, *(target.elements.keys() - former.keys() if former else ())}
    for name, element in target.elements.items():
        if element.least and name in model and name not in fields and name not in exempt:
            raise RequestError(3150, f'There is a missing element: "{name}".')


@cache
def stored_name(tag: str, target: Aggregate) -> str | None:
    """Return the name in responses of an element of a request: `InvoiceLineAdd` is `InvoiceLineRet`."""
    stem = tag.removesuffix("Add").removesuffix("Mod")
    return next((name for name in (tag, stem, f"{tag}Ret", f"{stem}Ret") if name in target), None)


def _row_key(kind: Any) -> str | None:
    """Return the field that identifies a row of a repeated element, or None if a Mod replaces all rows."""
    if not isinstance(kind, Aggregate) or kind.is_reference:
        return None
    return next((key for key in _ROW_KEYS if key in kind), None)


def _journal_side(node: Node, lines: Iterable[tuple[str, Fields]]) -> str:
    """Return the name of a line in a JournalEntryMod: that of the side in the request, or else the former one."""
    side = node.findtext("JournalLineType")
    if side:
        return f"Journal{side}Line"
    line_id = node.findtext("TxnLineID")
    return next((name for name, line in lines if line.get("TxnLineID") == line_id), "JournalDebitLine")


def _cleared(node: Node) -> Iterator[str]:
    """Yield the keys of the lines that ClearExpenseLines, ClearItemLines and ClearItemsInGroup remove."""
    for tag, keys in _CLEARING.items():
        if is_true(node.findtext(tag)):
            yield from keys


def _place(rows: list[Any], row: Fields | None, value: Any) -> None:
    """Replace a row that is still in the list, or append."""
    for number, candidate in enumerate(rows):
        if row is not None and candidate is row:
            rows[number] = value
            return
    rows.append(value)


def _put(fields: Fields, name: str, value: Any, *, repeats: bool) -> None:
    if repeats:
        fields.setdefault(name, []).append(value)
    elif value in ("", {}):
        fields.pop(name, None)
    else:
        fields[name] = value
