"""Custom fields: the fields that users define for customers, vendors, employees and items, and see in forms.

QBXML calls them data extensions of the owner 0. They are read with the object and written one by one behind it.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

from qbxml_queue.errors import Change

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from qbxml_queue.kinds import Kind

OWNER = "0"
"""The OwnerID of the fields that users see. Private data of a program has a GUID."""

NEW_LINE_ID = "…"
"""What a message has in place of an id that does not exist yet."""


def asked(filters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the filters of a query that also returns custom fields."""
    changed = {**filters, "OwnerID": [*_listed(filters.get("OwnerID", ())), OWNER]}
    if "IncludeRetElement" in filters:
        changed["IncludeRetElement"] = [*_listed(filters["IncludeRetElement"]), "DataExtRet"]
    return changed


def with_custom_fields(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return an object with its custom fields by their names."""
    rows = [row for row in record.get("DataExtRet", ()) if row["OwnerID"] == OWNER]
    return {**record, "custom_fields": {row["DataExtName"]: row.get("DataExtValue", "") for row in rows}}


def checked(kind: Kind, method: str, given: Mapping[str, str | None] | None) -> dict[str, str | None]:
    """Return the custom fields that a call writes. Raises TypeError or ValueError for what cannot be written."""
    if given is None:
        return {}
    if kind.custom_fields is None:
        raise TypeError(f"A {kind.name} cannot have custom fields.")
    for name, value in given.items():
        if value is None and method != "update":
            raise ValueError(f"{method}() cannot clear the custom field {name!r}. Leave it out.")
        if value == "":
            raise ValueError(f"The custom field {name!r} cannot be an empty text. None in update() clears it.")
        if value is not None and not isinstance(value, str):
            raise TypeError(f"The custom field {name!r} is not a text. Write it as QuickBooks shows it.")
    return dict(given)


def differing(wanted: Mapping[str, str | None], current: Mapping[str, Any]) -> dict[str, str | None]:
    """Return the custom fields that an object does not have yet."""
    return {name: value for name, value in wanted.items() if _value(current, name) != value}


def conflicts(wanted: Mapping[str, str | None], before: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[Change]:
    """Yield the custom fields that somebody else has changed to another value than the wanted one."""
    for name, value in wanted.items():
        old, new = _value(before, name), _value(now, name)
        if new not in {old, value}:
            yield Change(f"custom_fields/{name}", old, new, value)


def written(
    kind: Kind, identifier: Any, values: Mapping[str, str | None], line_id: str | None = None
) -> Iterator[dict[str, Any]]:
    """Yield the request for each custom field of an object, or of its line. It sets the value, or deletes it.

    QuickBooks does not clear a field with DataExtMod, and DataExtAdd fails for a field that was defined again.
    """
    place: dict[str, Any] = (
        {"ListDataExtType": kind.custom_fields, "ListObjRef": {"ListID": identifier}}
        if kind.key == "ListID"
        else {"TxnDataExtType": kind.custom_fields, "TxnID": identifier}
    )
    if line_id is not None:
        place["TxnLineID"] = line_id
    for name, value in values.items():
        field = {"OwnerID": OWNER, "DataExtName": name, **place}
        if value is None:
            yield {"DataExtDelRq": {"DataExtDel": field}}
        else:
            yield {"DataExtModRq": {"DataExtMod": {**field, "DataExtValue": value}}}


def check_lines(kind: Kind, identifier: str, fields: Mapping[str, Any]) -> None:
    """Raise TypeError for an update with custom fields of lines. It has the requests that write them."""
    requests = [repr(request) for request in _written_in_lines(kind, identifier, fields)]
    if not requests:
        return
    is_new = any(NEW_LINE_ID in request for request in requests)
    hint = f" {NEW_LINE_ID!r} is the TxnLineID of the new line, which update() returns." if is_new else ""
    message = "update() cannot write custom fields of lines. Leave them out, and execute()"
    raise TypeError(f"{message} {', '.join(requests)}.{hint}")


def _written_in_lines(kind: Kind, identifier: str, fields: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the request for each custom field of the lines in an update, and of those in groups."""
    families = [lines for name, lines in fields.items() if name.endswith(("LineMod", "LineGroupMod"))]
    for line in chain.from_iterable(families):
        added = {one["DataExtName"]: one["DataExtValue"] for one in line.get("DataExt", ())}
        line_id = line["TxnLineID"] if line.get("TxnLineID", "-1") != "-1" else NEW_LINE_ID
        given = checked(kind, "update", line.get("custom_fields", {}) | added)
        yield from written(kind, identifier, given, line_id)
        yield from _written_in_lines(kind, identifier, line)


def data_extensions(values: Mapping[str, str]) -> list[dict[str, str]]:
    """Return the custom fields of a line that is added."""
    return [{"OwnerID": OWNER, "DataExtName": name, "DataExtValue": value} for name, value in values.items()]


def _value(record: Mapping[str, Any], name: str) -> str | None:
    """Return the value of a custom field. QuickBooks does not distinguish case in names."""
    values = {one.casefold(): value for one, value in record["custom_fields"].items()}
    return values.get(name.casefold()) or None


def _listed(value: Any) -> list[Any]:
    return [value] if isinstance(value, str) else list(value)
