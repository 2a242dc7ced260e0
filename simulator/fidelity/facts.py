"""The facts about a request that its outcome can depend on, as texts that a rule of the table can name.

| fact | example |
|---|---|
| the request | `InvoiceAddRq` |
| an attribute of it | `CustomerQueryRq@iterator=Start` |
| the value of an enumeration or a boolean | `Invoice/IsPending=true` |
| a reference, and what it points to: the kind, or the type of an account | `Check/AccountRef=Bank` |
| the id of a transaction, and its kind | `AppliedToTxn/TxnID=Invoice` |
| the numbers and links of an element, which can contradict each other | `InvoiceLine: Quantity Rate` |
| a number that is not positive | `InvoiceLine/Quantity below zero`, `Transfer/Amount of zero` |
| any other element of a query, or one that responses do not show | `InvoiceQuery/TxnID`, `Customer/OpenBalanceDate` |

The endings Add, Mod and Rq of the element around it are left out. The options of a report follow its type:
`BalanceSheetStandard/ReportBasis=Cash`. Texts, dates and whole numbers of an Add or Mod that responses show as they
were sent are not facts: nothing depends on them.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from simulator.books.kinds import KINDS, referred_kinds
from simulator.schema import Aggregate

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from xml.etree.ElementTree import Element as Node

    from simulator.books import Books, Record
    from simulator.schema import Element

NUMBERS = frozenset({"AMTTYPE", "FLOATTYPE", "IDTYPE", "PERCENTTYPE", "PRICETYPE", "QUANTYPE"})
VALUES = frozenset({"BOOLTYPE", "ENUMTYPE"})
_LINKS = ("LinkToTxn", "SetCredit")
"""The elements that link a line or a payment. They count as numbers, because they bring their own."""
_BOOLEANS = {"1": "true", "0": "false"}
_IDENTITY = ("EditSequence", "ListID", "TxnLineID")
_VERB = re.compile(r"(Add|Mod)?(Rq)?$")
_ZERO = re.compile(r"-?0*\.?0*")
_SECONDS = re.compile(r"[1-9]\d*S$")


def stem(tag: str) -> str:
    """Return the name of an element without its verb: `InvoiceLine` for `InvoiceLineAdd`."""
    return _VERB.sub("", tag, count=1)


def facts_of(
    request: Node, model: Element, books: Books, without: Collection[str] = (), edition: str = "QBD"
) -> Iterator[str]:
    """Yield the facts about a request. Elements named in `without`, and those that the edition lacks, are left out."""
    yield request.tag
    for name, value in request.attrib.items():
        if name not in {"requestID", "iteratorID"}:
            yield f"{request.tag}@{name}={value}"
    if any({"defMacro", "useMacro"} & set(node.attrib) for node in request.iter()):
        yield "a macro"
    report = next((child.text for child in request if child.tag.endswith("ReportType")), "") or ""
    yield from _Walk(books, _kind(request.tag), without, report.strip(), edition).below(request, model)


def record_of(books: Books, record_id: str) -> Record | None:
    """Return the list object or the transaction with this id."""
    return books.lists.get(record_id) or books.transaction(record_id)


def what(record: Record) -> str:
    """Return the kind of a record, or the type of an account."""
    return str(record.fields.get("AccountType", "")) if record.kind.name == "Account" else record.kind.name


def _kind(tag: str) -> str:
    """Return the kind of the record that an Add or Mod is about, '' for other requests."""
    name = stem(tag)
    return name if name in KINDS and tag.endswith(("AddRq", "ModRq")) else ""


class _Walk:
    """Goes through the elements of one request."""

    def __init__(self, books: Books, kind: str, without: Collection[str], report: str, edition: str) -> None:
        self._books = books
        self._kind = kind
        self._without = without
        self._report = report
        self._edition = edition

    def below(self, node: Node, model: Element) -> Iterator[str]:
        """Yield the facts about the children of an element."""
        parent = self._report or stem(node.tag)
        numbers = []
        for child in node:
            element = model.content[child.tag]
            if child.tag in self._without or self._edition in element.absent:
                continue
            if isinstance(element.type, Aggregate):
                if stem(child.tag) in _LINKS:
                    numbers.append(stem(child.tag))
                yield from self._aggregate(parent, child, element)
            else:
                base = element.type.base
                if base in NUMBERS and child.tag not in _IDENTITY and not (child.tag == "TxnID" and parent in KINDS):
                    numbers.append(child.tag)
                yield from self._value(parent, child, base)
        own = [name for name in _numbers(model) if name in numbers and name not in self._without]
        if _numbers(model) and not self._report and not node.tag.endswith("QueryRq"):
            yield f"{parent}: {' '.join(own)}".rstrip()

    def _aggregate(self, parent: str, node: Node, model: Element) -> Iterator[str]:
        if model.content.is_reference and self._is_write:
            record = self._target(node)
            if record is not None:
                yield f"{parent}/{node.tag}={what(record)}"
        elif not len(node) and not self._is_write:
            yield f"{parent}/{node.tag} is empty"
        else:
            yield from self.below(node, model)

    @property
    def _is_write(self) -> bool:
        return bool(self._kind)

    def _target(self, node: Node) -> Record | None:
        list_id, kinds = node.findtext("ListID"), referred_kinds(node.tag, self._kind)
        if list_id:
            return self._books.list_object(list_id, kinds)
        return self._books.named((node.findtext("FullName") or "").strip(), kinds)

    def _value(self, parent: str, node: Node, base: str) -> Iterator[str]:
        text = (node.text or "").strip()
        place = f"{parent}/{node.tag}"
        if base in VALUES:
            text = _BOOLEANS.get(text, text) if base == "BOOLTYPE" else text
            yield f"{place}={text}" if text else f"{place} is empty"
        elif base == "IDTYPE" and self._is_write:
            record = self._books.transaction(text)
            if record is not None and not (node.tag in _IDENTITY or parent == record.kind.name):
                yield f"{place}={record.kind.name}"
        elif base in NUMBERS and self._is_write:
            if _ZERO.fullmatch(text) and text:
                yield f"{place} of zero"
            elif text.startswith("-"):
                yield f"{place} below zero"
        elif base == "TIMEINTERVALTYPE" and _SECONDS.search(text):
            yield f"{place} with seconds"
        elif not self._is_write or node.tag not in _shown(self._kind):
            yield place


@cache
def _shown(kind: str) -> frozenset[str]:
    """Return the names of all elements of a kind's records in responses."""
    names: set[str] = set()
    pending, seen = [KINDS[kind].fields], set[int]()
    while pending:
        aggregate = pending.pop()
        seen.add(id(aggregate))
        names.update(aggregate.elements)
        inner = (element.type for element in aggregate.elements.values())
        pending += [kind for kind in inner if isinstance(kind, Aggregate) and id(kind) not in seen]
    return frozenset({*names, "IncludeRetElement", "EditSequence"})


@cache
def _numbers(model: Element) -> tuple[str, ...]:
    """Return the numbers and links that an element can have, in the order of the schema."""
    names = []
    for name, element in model.content.elements.items():
        if isinstance(element.type, Aggregate):
            names += [stem(name)] if stem(name) in _LINKS else []
        elif element.type.base in NUMBERS and name not in _IDENTITY:
            names.append(name)
    return tuple(dict.fromkeys(names))
