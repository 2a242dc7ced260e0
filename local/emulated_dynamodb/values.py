"""Attribute values and items in the form of DynamoDB's API: `{"S": "text"}`, `{"N": "1.5"}`, `{"B": b"…"}`."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

Value: TypeAlias = dict[str, Any]
Item: TypeAlias = dict[str, Value]


class DynamoDBError(Exception):
    """An error response. `members` are further members of the response, such as `CancellationReasons`."""

    def __init__(self, code: str, message: str, **members: Any) -> None:
        super().__init__(message)
        self.code = code
        self.members = members


def invalid(message: str) -> DynamoDBError:
    """Return a ValidationException."""
    return DynamoDBError("ValidationException", message)


def copy_of(value: Any) -> Any:
    """Return a deep copy of a value, so that callers and the database never share mutable objects."""
    if value.__class__ is dict:
        return {name: copy_of(member) if member.__class__ in _CONTAINERS else member for name, member in value.items()}
    return [copy_of(member) if member.__class__ in _CONTAINERS else member for member in value]


_CONTAINERS = frozenset({dict, list})


def comparable(value: Value) -> Any:
    """Return a value of type S, N or B as a Python object that sorts as DynamoDB does.

    Strings sort by their UTF-8 bytes, which is the order of their code points.
    """
    ((kind, content),) = value.items()
    return Decimal(content) if kind == "N" else content


def kind_of(value: Value) -> str:
    """Return the type of a value, such as `S`."""
    return next(iter(value))


def size_of(item: Item) -> int:
    """Return the size of an item in bytes ("DynamoDB item sizes and formats")."""
    return sum(len(name.encode()) + _size(value) for name, value in item.items())


def _size(value: Value) -> int:
    ((kind, content),) = value.items()
    if kind == "S" and content.isascii():
        return len(content)  # much faster than encoding, and the most common case
    return _SIZES[kind](content)


_SIZES: dict[str, Callable[[Any], int]] = {
    "S": lambda text: len(text.encode()),
    "B": len,
    "N": lambda number: len(Decimal(number).as_tuple().digits) // 2 + 2,
    "L": lambda values: 3 + sum(1 + _size(value) for value in values),
    "M": lambda members: 3 + len(members) + size_of(members),
    "SS": lambda texts: sum(len(text.encode()) for text in texts),
    "NS": lambda numbers: sum(_size({"N": number}) for number in numbers),
    "BS": lambda contents: sum(len(content) for content in contents),
    "BOOL": lambda _: 1,
    "NULL": lambda _: 1,
}
