"""The queries that settle a write: which ones QuickBooks is asked, by the verb at the end of the write's name.

| write | queries |
|---|---|
| addition with a name or number | the objects with this name or number; those changed since; those deleted since |
| other addition | the objects changed since; those deleted since |
| change, deletion, void | the object |
| merge | the object that is merged into the other one |

What a query can ask for follows from its type in the schema. A type whose objects cannot be asked for has no queries.

QuickBooks compares times in its own time zone, which is unknown here, and its clock may be wrong. So the queries ask
for more than is needed, and the judgement compares the times in the answers (`judgement`).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Any, TypeAlias
from xml.etree.ElementTree import Element, SubElement

from domain import qbxml
from domain.qbxml.request.document import DEFAULT_ON_ERROR
from domain.qbxml.schema.content_models import elements_of
from domain.qbxml.schema.facts import request_facts

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

MAX_OBJECTS = 100
MAX_CHANGES = 500
"""Maximum number of objects that QuickBooks returns with their lines, and without them. More than that settle
nothing."""

ASKED_BEFORE = timedelta(days=1)
"""How long before the first sending the changes begin that QuickBooks is asked for."""


class Role(StrEnum):
    """What the answer to a query tells."""

    FOUND = "found"
    CHANGED = "changed"
    DELETED = "deleted"


@dataclass(frozen=True, slots=True)
class SettlingQuery:
    """A query with its roles. If it returns `max_rows` objects, there may be more."""

    request: qbxml.Request
    roles: frozenset[Role]
    max_rows: int | None = None


_Child: TypeAlias = tuple[str, "str | Sequence[tuple[str, str]]"]


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
        """Return the write of a request. The verb of a request that is none of those in the table is ''."""
        name = request.name.removesuffix("Rq")
        verb = next((verb for verb in ("Add", "Mod", "Del", "Void", "Merge") if name.endswith(verb)), "")
        subject = name.removesuffix(verb)
        if subject in {"Txn", "List"} and verb:
            return cls(verb, request.element.findtext(f"{subject}{verb}Type", ""), request.element, request.version)
        inner = request.element.find(name)
        return cls(verb, subject, request.element if inner is None else inner, request.version)


def settling_queries(request: qbxml.Request, first_sent_at: datetime) -> Sequence[SettlingQuery]:
    """Return the queries that settle a write, in the order of asking, or none if no query can."""
    write = Write.of(request)
    fields = _fields(f"{write.subject}QueryRq")
    match write.verb:
        case "Add":
            queries = _of_addition(write, fields, first_sent_at)
        case "Mod" | "Del" | "Void":
            queries = _by_id(write, fields, write.content.findtext(id_field(write)))
        case "Merge":
            queries = _by_id(write, fields, write.content.findtext("MergeFrom/ListID"))
        case _:
            queries = []
    return queries


def id_field(write: Write) -> str:
    """Return the name of the element with the id of an object."""
    return "ListID" if "ListID" in _fields(f"{write.subject}QueryRq") else "TxnID"


def _of_addition(write: Write, fields: Sequence[str], first_sent_at: datetime) -> list[SettlingQuery]:
    since = f"{first_sent_at - ASKED_BEFORE:%Y-%m-%dT%H:%M:%S}+00:00"
    found = _by_identity(write, fields)
    max_rows = MAX_CHANGES if found else MAX_OBJECTS
    roles = {Role.CHANGED} if found else {Role.FOUND, Role.CHANGED}
    changed = _by_change(write, fields, since, max_rows, roles)
    deleted = _by_deletion(write, since) if changed else []
    return [*found, *changed, *deleted]


def _by_identity(write: Write, fields: Sequence[str]) -> list[SettlingQuery]:
    """Return the query for the objects with the name or number of an addition, if it has one."""
    name, number = write.content.findtext("Name"), write.content.findtext("RefNumber")
    parent = write.content.find("ParentRef")
    above = parent.findtext("FullName") if parent is not None else None
    if name and "FullName" in fields and (parent is None or above):
        return [_query(write, fields, [("FullName", f"{above}:{name}" if above else name)], {Role.FOUND})]
    if number and "RefNumber" in fields:
        return [_query(write, fields, [("RefNumber", number), *_with_lines(fields)], {Role.FOUND})]
    return []


def _by_change(write: Write, fields: Sequence[str], since: str, max_rows: int, roles: set[Role]) -> list[SettlingQuery]:
    """Return the query for the objects that were added or changed, also inactive ones."""
    children: list[_Child] = []
    if "ModifiedDateRangeFilter" in fields:
        children.append(("ModifiedDateRangeFilter", [("FromModifiedDate", since)]))
    elif "FromModifiedDate" in fields:
        children.append(("FromModifiedDate", since))
    else:
        return []
    if "ActiveStatus" in fields:
        children.append(("ActiveStatus", "All"))
    if "MaxReturned" in fields:
        children.append(("MaxReturned", str(max_rows)))
    if Role.FOUND in roles:
        children += _with_lines(fields)
    return [_query(write, fields, children, roles, max_rows)]


def _by_deletion(write: Write, since: str) -> list[SettlingQuery]:
    """Return the query for the deletions of a type, if QuickBooks has one."""
    for kind in ("Txn", "List"):
        name = f"{kind}DeletedQueryRq"
        if write.subject in _values(name, f"{kind}DelType"):
            children: list[_Child] = [
                (f"{kind}DelType", write.subject),
                ("DeletedDateRangeFilter", [("FromDeletedDate", since)]),
            ]
            return [SettlingQuery(_request(write, name, children), frozenset({Role.DELETED}))]
    return []


def _by_id(write: Write, fields: Sequence[str], object_id: str | None) -> list[SettlingQuery]:
    field = id_field(write)
    if not object_id or field not in fields:
        return []
    return [_query(write, fields, [(field, object_id)], {Role.FOUND})]


def _with_lines(fields: Sequence[str]) -> list[_Child]:
    return [("IncludeLineItems", "true")] if "IncludeLineItems" in fields else []


def _query(
    write: Write, fields: Sequence[str], children: Sequence[_Child], roles: set[Role], max_rows: int | None = None
) -> SettlingQuery:
    ordered = sorted(children, key=lambda child: fields.index(child[0]))
    return SettlingQuery(_request(write, f"{write.subject}QueryRq", ordered), frozenset(roles), max_rows)


def _request(write: Write, name: str, children: Sequence[_Child]) -> qbxml.Request:
    element = Element(name)
    for tag, content in children:
        child = SubElement(element, tag)
        if isinstance(content, str):
            child.text = content
        else:
            for inner, text in content:
                SubElement(child, inner).text = text
    return qbxml.Request(write.version, DEFAULT_ON_ERROR, element)


def _fields(query_name: str) -> Sequence[str]:
    """Return the elements of a query in schema order. There are none if there is no such query."""
    facts = request_facts(query_name)
    return [element[0] for element in elements_of(facts["content"])] if facts else []


def _values(query_name: str, field: str) -> Sequence[str]:
    """Return the values of an enumeration."""
    facts: Any = request_facts(query_name)
    kind = next(element[2] for element in elements_of(facts["content"]) if element[0] == field)
    values: Sequence[str] = facts["types"][kind]
    return values
