"""The fields of a record in a response: those that are stored and computed, as far as the request includes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.rules.currency import currency_fields
from simulator.schema.model import mixed_key
from simulator.schema.values import is_true

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element as Node

    from simulator.books import Books, Fields, Kind, Record

_OWNERS = "DataExtRet"


def shown(books: Books, record: Record) -> Fields:
    """Return all fields of a record, in any order."""
    fields: Fields = {
        record.kind.id_field: record.id,
        "TimeCreated": books.clock.text(record.created),
        "TimeModified": books.clock.text(record.modified),
        "EditSequence": str(record.edit_sequence),
        **record.fields,
    }
    for block in record.kind.address_blocks:
        address = record.fields.get(block.removesuffix("Block"))
        if address:
            fields[block] = address_block(address)
            fields[block.removesuffix("Block")] = _without_gaps(address)
    if record.kind.is_list:
        if "FullName" in record.kind.fields:
            fields["FullName"] = record.full_name
        if "Sublevel" in record.kind.fields:
            fields["Sublevel"] = str(record.full_name.count(":"))
    else:
        fields["TxnNumber"] = str(record.number)
    fields |= books.rules_of(record.kind).derived(books, record)
    return fields | currency_fields(books, record, fields)


MAX_ADDRESS_LINES, MAX_ADDRESS_LINE = 5, 41


def address_block(address: Fields) -> Fields:
    """Return an address as up to five lines, as it is printed. A line that the request left out stays empty.

    A note is a line. A state without a city and a postal code is not.
    """
    place = " ".join(part for part in (address.get("State", ""), address.get("PostalCode", "")) if part)
    if "City" not in address and "PostalCode" not in address:
        place = ""
    lines = [address.get(f"Addr{number}", "") for number in range(1, 6)]
    while lines and not lines[-1]:
        lines.pop()
    city = ", ".join(part for part in (address.get("City", ""), place) if part)
    lines += [line for line in (city, address.get("Country", ""), address.get("Note", "")) if line]
    if len(lines) > MAX_ADDRESS_LINES:
        lines = [line for line in lines if line][:MAX_ADDRESS_LINES]
    return {f"Addr{number}": line[:MAX_ADDRESS_LINE] for number, line in enumerate(lines, 1) if line}


def _without_gaps(address: Fields) -> Fields:
    """Return an address whose lines follow each other: Addr1 and Addr3 become Addr1 and Addr2."""
    names = [f"Addr{number}" for number in range(1, 6)]
    lines = [address[name] for name in names if address.get(name)]
    others = {name: value for name, value in address.items() if name not in names}
    return {**dict(zip(names, lines, strict=False)), **others}


def shown_fields(kind: Kind, fields: Fields, request: Node, *, with_lines: bool | None = None) -> Fields:
    """Return the fields that `request` includes. `with_lines` overrides IncludeLineItems."""
    lines = is_true(request.findtext("IncludeLineItems")) if with_lines is None else with_lines
    links = is_true(request.findtext("IncludeLinkedTxns"))
    owners = {child.text for child in request.findall("OwnerID")}
    included = {child.text for child in request.findall("IncludeRetElement")}
    line_keys = {mixed_key(names): names for names in kind.fields.mixed} | {name: (name,) for name in kind.line_names}
    has_line_switch = with_lines is None and "IncludeLineItems" in kind.query_elements
    selected: Fields = {}
    for name, value in fields.items():
        names = line_keys.get(name, (name,))
        if included and not included.intersection(names):
            continue
        if name == "LinkedTxn" and not links:
            continue
        if name in line_keys:
            if lines or not has_line_switch:
                selected[name] = _visible_lines(value, owners)
        elif name == _OWNERS:
            selected[name] = _visible(value, owners)
        else:
            selected[name] = value
    return selected


def _visible_lines(value: object, owners: set[str | None]) -> object:
    """Return lines with only those custom fields that belong to the owners."""
    if isinstance(value, list):
        return [_visible_lines(member, owners) for member in value]
    if isinstance(value, dict):
        # Most values are text. A call for each of them would be a third of the calls of this module.
        return {
            key: member
            if type(member) is str
            else _visible(member, owners)
            if key == _OWNERS
            else _visible_lines(member, owners)
            for key, member in value.items()
        }
    return value


def _visible(custom_fields: list[Fields], owners: set[str | None]) -> list[Fields]:
    """Return the custom fields of the owners that a request names. An empty list is not written."""
    return [custom_field for custom_field in custom_fields if custom_field["OwnerID"] in owners]
