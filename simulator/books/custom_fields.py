"""Data extensions: the definitions of custom fields and private data, and the check of a value.

A definition belongs to an owner: 0 for the custom fields that users see, a GUID for an application's private data. It
is assigned to kinds of objects. Forms show the custom fields of their customer or vendor, and lines those of items.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.basics.errors import HresultError, RequestError
from simulator.basics.statuses import NOT_AVAILABLE
from simulator.books.kinds import ITEMS
from simulator.schema.model import Simple
from simulator.schema.values import check_value

if TYPE_CHECKING:
    from simulator.books.kinds import Kind
    from simulator.books.records import Fields
    from simulator.books.store import Books

_TEXTS = {"STR255TYPE": Simple("STRTYPE", length=255), "STR1024TYPE": Simple("STRTYPE", length=1024)}


def definition_of(books: Books, owner: str, name: str) -> Fields | None:
    """Return a definition. Upper and lower case are equal."""
    key = owner.lower(), name.strip().lower()
    return next(
        (
            definition
            for definition in books.custom_fields
            if (definition["OwnerID"].lower(), definition["DataExtName"].lower()) == key
        ),
        None,
    )


def required_definition(books: Books, owner: str, name: str) -> Fields:
    """Return a definition. Raises `RequestError` 3250 when there is none."""
    definition = definition_of(books, owner, name)
    if definition is None:
        raise RequestError(3250, f'{NOT_AVAILABLE}: the data extension "{name}" of the owner {owner} is not defined.')
    return definition


def value_of(definition: Fields, text: str, carriers: tuple[str, ...]) -> Fields:
    """Return a value in the form in which it is stored and shown.

    Raises `RequestError`: 3250 when the definition is assigned to none of `carriers`, the status of a wrong value.
    """
    name = definition["DataExtName"]
    check_assigned(definition, carriers)
    kind = definition["DataExtType"]
    try:
        if text:
            check_value(name, text, _TEXTS.get(kind) or Simple(kind))
    except HresultError:
        message = f'There was an error when converting the number "{text}" in the field "{name}".'
        raise RequestError(3085, message) from None
    return {"OwnerID": definition["OwnerID"], "DataExtName": name, "DataExtType": kind, "DataExtValue": text}


def check_assigned(definition: Fields, carriers: tuple[str, ...]) -> None:
    """Raise `RequestError` 3250 unless the definition is assigned to one of these kinds of objects."""
    if not set(carriers).intersection(definition["AssignToObject"]):
        name = definition["DataExtName"]
        what = f'the data extension "{name}" is not assigned to objects of the type {carriers[0]}'
        raise RequestError(3250, f"{NOT_AVAILABLE}: {what}.")


def carriers_of(kind: Kind) -> tuple[str, ...]:
    """Return the kinds of objects whose data extensions a record of this kind can have."""
    if kind.is_list:
        return ("Item",) if kind.name in ITEMS else (kind.name,)
    return (kind.name, "Customer", "Vendor", "Employee", "Item")
