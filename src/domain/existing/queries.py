"""Writes as the queries about them see them, and the queries for the objects with a name, a number or an id.

What a query can ask for follows from its type in the schema.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias
from xml.etree.ElementTree import Element, SubElement

from domain import qbxml
from domain.qbxml.request.document import DEFAULT_ON_ERROR
from domain.qbxml.schema.content_models import elements_of
from domain.qbxml.schema.facts import request_facts

if TYPE_CHECKING:
    from collections.abc import Sequence

Child: TypeAlias = tuple[str, "str | Sequence[tuple[str, str]]"]
"""The name of an element of a query, with its text or its children."""


@dataclass(frozen=True, slots=True)
class Write:
    """A write as the queries see it: `verb` is what it does to an object of the type `subject`.

    `content` is the element with the object's fields, or with its id.
    """

    verb: str
    subject: str
    content: Element
    version: str

    @classmethod
    def of(cls, request: qbxml.Request) -> Write:
        """Return the write of a request. Without a verb that the queries know, `verb` is ''."""
        name = request.name.removesuffix("Rq")
        verb = next((verb for verb in ("Add", "Mod", "Del", "Void", "Merge") if name.endswith(verb)), "")
        subject = name.removesuffix(verb)
        if subject in {"Txn", "List"} and verb:
            return cls(verb, request.element.findtext(f"{subject}{verb}Type", ""), request.element, request.version)
        inner = request.element.find(name)
        return cls(verb, subject, request.element if inner is None else inner, request.version)


def by_identity(write: Write) -> qbxml.Request | None:
    """Return the query for the objects with the name or number of an addition, or None if it has neither.

    It also returns inactive objects, and the lines of transactions.
    """
    fields = fields_of(write)
    name, number = write.content.findtext("Name"), write.content.findtext("RefNumber")
    parent = write.content.find("ParentRef")
    above = parent.findtext("FullName") if parent is not None else None
    if name and "FullName" in fields and (parent is None or above):
        return query(write, [("FullName", f"{above}:{name}" if above else name)])
    if number and "RefNumber" in fields:
        return query(write, [("RefNumber", number), *with_lines(fields)])
    return None


def by_id(write: Write, object_id: str | None) -> qbxml.Request | None:
    """Return the query for the object with an id, or None if the type cannot be asked for by id."""
    field = id_field(write)
    return query(write, [(field, object_id)]) if object_id and field in fields_of(write) else None


def id_field(write: Write) -> str:
    """Return the name of the element with the id of an object."""
    return "ListID" if "ListID" in fields_of(write) else "TxnID"


def with_lines(fields: Sequence[str]) -> list[Child]:
    """Return the element that asks for lines, if a query with these elements has it."""
    return [("IncludeLineItems", "true")] if "IncludeLineItems" in fields else []


def fields_of(write: Write) -> Sequence[str]:
    """Return the elements of the query for the type of a write, in schema order. There are none without a query."""
    facts = request_facts(query_name(write.subject))
    return [element[0] for element in elements_of(facts["content"])] if facts else []


def query_name(subject: str) -> str:
    """Return the name of the query for a type."""
    return f"{subject}QueryRq"


def query(write: Write, children: Sequence[Child]) -> qbxml.Request:
    """Return the query for the type of a write with these elements, in schema order."""
    fields = fields_of(write)
    ordered = sorted(children, key=lambda child: fields.index(child[0]))
    return query_named(write, query_name(write.subject), ordered)


def query_named(write: Write, name: str, children: Sequence[Child]) -> qbxml.Request:
    """Return a request with these elements, in the QBXML version of a write."""
    element = Element(name)
    for tag, content in children:
        child = SubElement(element, tag)
        if isinstance(content, str):
            child.text = content
        else:
            for inner, text in content:
                SubElement(child, inner).text = text
    return qbxml.Request(write.version, DEFAULT_ON_ERROR, element)
