"""Reads the content of an Add or Mod into the form in which records are stored; references are looked up."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from simulator.books.kinds import Kind, referred_kinds
from simulator.books.records import Draft, Fields, mixed_key
from simulator.errors import RequestError
from simulator.schema import Aggregate
from simulator.schema.values import canonical

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element as Node

    from simulator.books import Books

_NO_RECORD = "QuickBooks error message: Invalid argument.  The specified record does not exist in the list."


class Reader:
    """Reads one request's content for one kind."""

    def __init__(self, books: Books, kind: Kind) -> None:
        self._books = books
        self._kind = kind

    def draft(self, node: Node, model: Aggregate) -> Draft:
        """Return a draft with all that `node` sets."""
        draft = Draft(self._kind, {})
        target = self._kind.fields
        for child in node:
            name = stored_name(child.tag, target)
            value = self._value(child, model[child.tag].type, None if name is None else target[name].type, top=True)
            if name is None:
                _put(draft.extra, child.tag, value, repeats=model[child.tag].repeats)
            else:
                _put_in(draft.fields, name, value, target)
                draft.given.add(name)
        return draft

    def reference(self, node: Node, *, top: bool = True) -> Fields:
        """Return a reference to the list object that `node` names. Raises `RequestError` 3120, 3130 or 3140."""
        list_id, full_name = node.findtext("ListID"), node.findtext("FullName")
        kinds = referred_kinds(node.tag, self._kind.name)
        record = (
            self._books.list_object(list_id, kinds) if list_id else self._books.named((full_name or "").strip(), kinds)
        )
        if record is None:
            raise self._dangling(node.tag, list_id, full_name, top=top)
        return record.reference()

    def _dangling(self, tag: str, list_id: str | None, full_name: str | None, *, top: bool) -> RequestError:
        noun = tag.removesuffix("Ref")
        if noun == "Parent":
            where = f"{self._kind.name}s list"
            return RequestError(
                3130, f'There is an invalid reference to a parent "{list_id or full_name}" in the {where}.'
            )
        if list_id:
            return RequestError(3120, f'Object "{list_id}" specified in the request cannot be found.  {_NO_RECORD}')
        document = self._kind.name if top else f"{self._kind.name} line"
        return RequestError(
            3140,
            f'There is an invalid reference to QuickBooks {noun} "{full_name or ""}" in the {document}.  {_NO_RECORD}',
        )

    def _value(self, node: Node, kind: Any, target: Any, *, top: bool) -> Any:
        if not isinstance(kind, Aggregate):
            return canonical(node.text or "", kind, self._books.clock.zone)
        if kind.is_reference:
            return self.reference(node, top=top)
        if node.tag == "DataExt":
            return {**self._children(node, kind, kind), "DataExtType": "STR255TYPE"}
        return self._children(node, kind, target if isinstance(target, Aggregate) else kind)

    def _children(self, node: Node, kind: Aggregate, target: Aggregate) -> Fields:
        fields: Fields = {}
        for child in node:
            name = stored_name(child.tag, target)
            child_kind = kind[child.tag].type
            value = self._value(child, child_kind, None if name is None else target[name].type, top=False)
            if name is None:
                # The rules of the kind use what responses do not show: OverrideItemAccountRef, LinkToTxn.
                _put(fields, child.tag, value, repeats=kind[child.tag].repeats)
            else:
                _put_in(fields, name, value, target)
        return fields


@cache
def stored_name(tag: str, target: Aggregate) -> str | None:
    """Return the name in responses of an element of a request: `InvoiceLineAdd` is `InvoiceLineRet`."""
    stem = tag.removesuffix("Add").removesuffix("Mod")
    return next((name for name in (tag, stem, f"{tag}Ret", f"{stem}Ret") if name in target), None)


def _put_in(fields: Fields, name: str, value: Any, target: Aggregate) -> None:
    for names in target.mixed:
        if name in names:
            fields.setdefault(mixed_key(names), []).append([name, value])
            return
    _put(fields, name, value, repeats=target[name].repeats)


def _put(fields: Fields, name: str, value: Any, *, repeats: bool) -> None:
    if repeats:
        fields.setdefault(name, []).append(value)
    elif value != "":
        fields[name] = value
