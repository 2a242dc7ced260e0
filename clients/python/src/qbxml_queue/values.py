"""Values of requests and responses: Python's types in the program, texts in JSON."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypedDict

from qbxml_queue.schema.facts import LISTS, VALUES

if TYPE_CHECKING:
    from collections.abc import Callable


class Named(Protocol):
    """A request that a reference can name: an entry of a batch."""

    def name_in(self, batch: object) -> str:
        """Return what identifies the request in a batch, or outside of batches, which is None."""
        ...

    def value(self, member: str) -> Reference:
        """Return a value of the object that the request returns, such as its ListID."""
        ...


class Record(TypedDict):
    """What the record of each object in a list has."""

    ListID: str
    EditSequence: str


@dataclass(frozen=True, slots=True)
class Reference:
    """A value in the response of another request, such as `CustomerRet/ListID`. See `Batch`.

    `request` is the id of a request that has ended, or an entry of a batch.
    """

    request: str | Named
    path: str

    def to_json(self, batch: object = None) -> dict[str, str]:
        """Return the form of the API. Raises ValueError for an entry of another batch that is not queued."""
        name = self.request if isinstance(self.request, str) else self.request.name_in(batch)
        return {"$from": name, "path": self.path}


Macro = TypedDict("Macro", {"@useMacro": str})
"""A value that an element of the same request defines with `@defMacro`."""

Text: TypeAlias = str | Reference
Object: TypeAlias = str | Named | Record
"""An object: its FullName, its record, or the step of a batch that returns it."""
Amount: TypeAlias = Decimal | int | str | Reference
"""An amount, price, quantity, percentage or rate. A float is not one, because it would be rounded."""
Whole: TypeAlias = int | str | Reference
Flag: TypeAlias = bool | Reference
Day: TypeAlias = date | str | Reference
Moment: TypeAlias = datetime | date | str | Reference
Interval: TypeAlias = timedelta | str | Reference

_interval = re.compile(r"(-?)PT(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?", re.ASCII).fullmatch


def to_json(value: object, batch: object = None) -> object:  # noqa: PLR0911 - one return for each type
    """Return a value of a request as JSON. Raises TypeError for a float, and for a type that QBXML does not have.

    `batch` is the batch of the request, if it is in one.
    """
    match value:
        case None | bool() | int() | str():
            return value
        case Decimal():
            return format(value, "f")
        case datetime():
            return value.replace(microsecond=0).isoformat()
        case date():
            return value.isoformat()
        case timedelta():
            return _interval_text(value)
        case Reference():
            return value.to_json(batch)
        case Mapping():
            return {name: to_json(_referred(name, member), batch) for name, member in value.items()}
        case Sequence():
            return [to_json(member, batch) for member in value]
        case float():
            raise TypeError(f"{value!r} is a float. Write amounts and quantities as Decimal, int or str.")
        case _:
            raise TypeError(f"{value!r} cannot be a value in a request.")


def _referred(name: object, value: Any) -> object:
    """Return the value of an element. In a reference, a record is replaced by its ListID or FullName."""
    if not isinstance(name, str) or not name.endswith("Ref"):
        return value
    if isinstance(value, list | tuple):
        return [_referred(name, one) for one in value]
    # `if_exists` needs the name of a parent.
    member = "FullName" if name == "ParentRef" else "ListID"
    match value:
        case str():
            return {"FullName": value}
        case Mapping() if len(value) > 1 and member in value:
            return {member: value[member]}
        case _ if hasattr(value, "name_in"):
            return {member: value.value(member)}
        case _:
            return value


def from_json(request_name: str, result: Mapping[str, Any]) -> dict[str, Any]:
    """Return the result of a request with Python's types, and with an empty list for each missing list.

    A text that does not have the form of its type stays a text, so that no value is lost.
    """
    empty: dict[str, Any] = {name: [] for name in LISTS.get(request_name, ())}
    return empty | {name: _read(name, value) for name, value in result.items()}


def _read(name: str, value: Any) -> Any:
    if isinstance(value, dict):
        return {member: _read(member, inner) for member, inner in value.items()}
    if isinstance(value, list):
        return [_read(name, inner) for inner in value]
    return read_text(VALUES[name], value) if isinstance(value, str) and name in VALUES else value


def read_text(kind: str, text: str) -> object:
    """Return a value of a type of Python, or the text itself if it does not have the form of the type."""
    try:
        return _READERS[kind](text.strip())
    except (ArithmeticError, ValueError):
        return text


def _interval_text(value: timedelta) -> str:
    seconds = int(abs(value).total_seconds())
    sign = "-" if value < timedelta() else ""
    return f"{sign}PT{seconds // 3600}H{seconds // 60 % 60}M{seconds % 60}S"


def _read_interval(text: str) -> timedelta:
    match = _interval(text)
    if not match or not any(match.groups()[1:]):
        raise ValueError(text)
    sign, hours, minutes, seconds = match.groups()
    value = timedelta(hours=int(hours or 0), minutes=int(minutes or 0), seconds=int(seconds or 0))
    return -value if sign else value


def _read_flag(text: str) -> bool:
    if text not in {"true", "false"}:
        raise ValueError(text)
    return text == "true"


_READERS: dict[str, Callable[[str], object]] = {
    "bool": _read_flag,
    "Decimal": Decimal,
    "int": int,
    "date": date.fromisoformat,
    "datetime": datetime.fromisoformat,
    "timedelta": _read_interval,
}
