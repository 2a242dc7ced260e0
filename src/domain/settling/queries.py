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
from typing import TYPE_CHECKING, Any

from domain.existing.queries import Write, by_id, by_identity, fields_of, id_field, query, query_named, with_lines
from domain.qbxml.schema.content_models import elements_of
from domain.qbxml.schema.facts import request_facts

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from domain import qbxml
    from domain.existing.queries import Child

MAX_OBJECTS = 100
MAX_CHANGES = 500
"""Maximum number of objects that QuickBooks returns with their lines, and without them. More than that settle
nothing."""

ASKED_BEFORE = timedelta(days=1)
"""How long before the first sending the changes begin that QuickBooks is asked for."""


class QueryRole(StrEnum):
    """What the answer to a query tells."""

    FOUND = "found"
    CHANGED = "changed"
    DELETED = "deleted"


@dataclass(frozen=True, slots=True)
class SettlingQuery:
    """A query with its roles. If it returns `max_rows` objects, there may be more."""

    request: qbxml.Request
    roles: frozenset[QueryRole]
    max_rows: int | None = None


def settling_queries(request: qbxml.Request, first_sent_at: datetime) -> Sequence[SettlingQuery]:
    """Return the queries that settle a write, in the order of asking, or none if no query can."""
    write = Write.of(request)
    match write.verb:
        case "Add":
            return _of_addition(write, first_sent_at)
        case "Mod" | "Del" | "Void":
            found = by_id(write, write.content.findtext(id_field(write)))
        case "Merge":
            found = by_id(write, write.content.findtext("MergeFrom/ListID"))
        case _:
            found = None
    return [SettlingQuery(found, frozenset({QueryRole.FOUND}))] if found else []


def _of_addition(write: Write, first_sent_at: datetime) -> list[SettlingQuery]:
    since = f"{first_sent_at - ASKED_BEFORE:%Y-%m-%dT%H:%M:%S}+00:00"
    identity = by_identity(write)
    found = [SettlingQuery(identity, frozenset({QueryRole.FOUND}))] if identity else []
    max_rows = MAX_CHANGES if found else MAX_OBJECTS
    roles = {QueryRole.CHANGED} if found else {QueryRole.FOUND, QueryRole.CHANGED}
    changed = _by_change(write, since, max_rows, roles)
    deleted = _by_deletion(write, since) if changed else []
    return [*found, *changed, *deleted]


def _by_change(write: Write, since: str, max_rows: int, roles: set[QueryRole]) -> list[SettlingQuery]:
    """Return the query for the objects that were added or changed, also inactive ones."""
    fields = fields_of(write)
    children: list[Child] = []
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
    if QueryRole.FOUND in roles:
        children += with_lines(fields)
    return [SettlingQuery(query(write, children), frozenset(roles), max_rows)]


def _by_deletion(write: Write, since: str) -> list[SettlingQuery]:
    """Return the query for the deletions of a type, if QuickBooks has one."""
    for kind in ("Txn", "List"):
        name = f"{kind}DeletedQueryRq"
        if write.subject in _values(name, f"{kind}DelType"):
            children: list[Child] = [
                (f"{kind}DelType", write.subject),
                ("DeletedDateRangeFilter", [("FromDeletedDate", since)]),
            ]
            return [SettlingQuery(query_named(write, name, children), frozenset({QueryRole.DELETED}))]
    return []


def _values(query_name: str, field: str) -> Sequence[str]:
    """Return the values of an enumeration."""
    facts: Any = request_facts(query_name)
    kind = next(element[2] for element in elements_of(facts["content"]) if element[0] == field)
    values: Sequence[str] = facts["types"][kind]
    return values
