"""One codec between dataclasses and DynamoDB items, driven by the type hints of the fields.

An item has one attribute for each field, named like the field. The type of a field determines how it is stored:

* texts and enums as S, whole numbers as N, flags as BOOL;
* each field of a nested dataclass that is not optional as a separate attribute: `webhook.state` is `webhook_state`;
* everything else as JSON in S: optional dataclasses and mappings as objects, tuples as arrays, and a tuple of
  dataclasses as an object with one array for each field, so that names are stored once.

A field that is empty (None, False, 0, no text, no elements) is left out if that is also its default. This keeps the
sparse indexes sparse and the items small. Reading ignores attributes that belong to no field, so an item can contain
more than its entity.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from enum import Enum
from functools import cache, cached_property
from operator import attrgetter, itemgetter
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeGuard, TypeVar, get_args, get_origin

from domain.connections.record import Backoff, Connection
from domain.connections.sync_window import SyncWindow
from domain.requests.record import QueuedRequest

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from adapters.dynamodb.keys import AttributeValue, Item

T = TypeVar("T")

_IMPORTED_FOR_TYPES = {
    "Backoff": Backoff,
    "Connection": Connection,
    "Mapping": Mapping,
    "QueuedRequest": QueuedRequest,
    "SyncWindow": SyncWindow,
}
"""Names in the type hints of entities that their modules import only for type checkers."""


class _Attribute(NamedTuple):
    """One attribute of an item: the path of its value in the entity, and its storage format."""

    name: str
    path: tuple[str, ...]
    read: Callable[[Any], Any]
    encode: Callable[[Any], AttributeValue]
    decode: Callable[[AttributeValue], Any]
    omitted: object
    """The value that is left out, or MISSING if no value is left out."""


class Codec(Generic[T]):
    """Stores the entities of one dataclass.

    `renamed` maps fields to attributes with a different name. The `required` attributes are stored even if they are
    empty. An item without them is rejected.
    """

    def __init__(
        self, entity: type[T], *, renamed: Mapping[str, str] | None = None, required: Collection[str] = ()
    ) -> None:
        self._entity = entity
        self._renamed = renamed or {}
        self._required = frozenset(required)

    def item(self, entity: T) -> Item:
        """Return the item of an entity."""
        item: Item = {}
        for name, _, read, encode, _, omitted in self._attributes:
            value = read(entity)
            if value or value != omitted:
                item[name] = encode(value)
        return item

    def entity(self, item: Item) -> T:
        """Return the entity of an item. A field without an attribute gets its default.

        Raises KeyError if a required attribute is missing, and TypeError if a field without a default is missing.
        """
        for name in self._required:
            item[name]
        values: dict[str, Any] = {}
        by_name = self._by_name
        for name, stored in item.items():
            if name in by_name:
                (*outer, field), decode = by_name[name]
                target = values
                for step in outer:
                    target = target.setdefault(step, {})
                target[field] = decode(stored)
        entity: T = _built(self._entity, values)
        return entity

    @cached_property
    def _attributes(self) -> list[_Attribute]:
        """The attributes of the dataclass, computed on first use. Unused entities cost nothing."""
        return list(self._attributes_of(self._entity, ()))

    def _attributes_of(self, entity: type[Any], path: tuple[str, ...]) -> Iterator[_Attribute]:
        """Yield the attributes of the dataclass at `path` in the entity."""
        for field in fields(entity):
            here = (*path, field.name)
            name = "_".join(here)
            hint = _hint(entity, field)
            if _is_dataclass(hint):
                yield from self._attributes_of(hint, here)
            else:
                omitted = MISSING if name in self._required else _empty_default(field)
                name = self._renamed.get(name, name)
                yield _Attribute(name, here, attrgetter(".".join(here)), *_attribute_functions(hint), omitted)

    @cached_property
    def _by_name(self) -> dict[str, tuple[tuple[str, ...], Callable[[AttributeValue], Any]]]:
        return {attribute.name: (attribute.path, attribute.decode) for attribute in self._attributes}


def _built(entity: Any, values: dict[str, Any]) -> Any:
    """Return the dataclass with these values. The values of nested dataclasses are mappings."""
    for name, nested in _nested_dataclasses(entity):
        if name in values:
            values[name] = _built(nested, values[name])
    return entity(**values)


@cache
def _nested_dataclasses(entity: Any) -> list[tuple[str, type[Any]]]:
    hints = [(field.name, _hint(entity, field)) for field in fields(entity)]
    return [(name, hint) for name, hint in hints if _is_dataclass(hint)]


# --- Attribute values


@cache
def _attribute_functions(hint: Any) -> tuple[Callable[[Any], AttributeValue], Callable[[AttributeValue], Any]]:
    """Return the functions that convert a value of this type to an attribute value and back."""
    alone = _without_none(hint)
    if alone is str:
        return (lambda value: {"S": value}), itemgetter("S")
    if alone is int:
        return (lambda value: {"N": str(value)}), (lambda stored: int(stored["N"]))
    if alone is bool:
        return (lambda value: {"BOOL": value}), itemgetter("BOOL")
    if isinstance(alone, type) and issubclass(alone, Enum):
        members = {member.value: member for member in alone}
        return (lambda value: {"S": value.value}), (lambda stored: members[stored["S"]])
    to_json, from_json = _json_functions(hint)
    return (lambda value: {"S": _json(to_json(value))}), (lambda stored: from_json(json.loads(stored["S"])))


def _json(value: object) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


# --- JSON values


@cache
def _json_functions(hint: Any) -> tuple[Callable[[Any], Any], Callable[[Any], Any]]:
    """Return the functions that convert a value of this type to JSON and back. Raises TypeError for other types."""
    if hint in {str, int, bool, Any}:
        return _same, _same
    if isinstance(hint, type) and issubclass(hint, Enum):
        return (lambda value: value.value), hint
    if _is_dataclass(hint):
        return _object_encoder(hint), _object_decoder(hint)
    alone = _without_none(hint)
    if alone is not hint:
        encode, decode = _json_functions(alone)
        return (lambda value: value and encode(value)), (lambda stored: stored and decode(stored))
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is tuple and arguments[1:] == (...,):
        return _array_functions(arguments[0])
    if origin in {dict, Mapping}:
        return dict, _same
    raise TypeError(f"{hint} has no stored form. Add one to {__name__}.")


def _without_none(hint: Any) -> Any:
    """Return `X` for `X | None`, and any other type unchanged."""
    arguments = [argument for argument in get_args(hint) if argument is not NoneType]
    return arguments[0] if get_origin(hint) is UnionType and len(arguments) == 1 else hint


def _object_encoder(entity: type[Any]) -> Callable[[Any], dict[str, Any]]:
    members = [
        (field.name, _json_functions(_hint(entity, field))[0], _empty_default(field)) for field in fields(entity)
    ]

    def encode(value: Any) -> dict[str, Any]:
        read = ((name, encode_member, getattr(value, name), omitted) for name, encode_member, omitted in members)
        return {name: encode_member(member) for name, encode_member, member, omitted in read if member != omitted}

    return encode


def _object_decoder(entity: type[Any]) -> Callable[[dict[str, Any]], Any]:
    members = {field.name: _json_functions(_hint(entity, field))[1] for field in fields(entity)}

    def decode(values: dict[str, Any]) -> Any:
        return entity(**{name: members[name](value) for name, value in values.items() if name in members})

    return decode


def _array_functions(element: Any) -> tuple[Callable[[Any], Any], Callable[[Any], Any]]:
    """Return the functions for a tuple of any length."""
    if not _is_dataclass(element):
        encode, decode = _json_functions(element)
        return (lambda values: list(map(encode, values))), (lambda stored: tuple(map(decode, stored)))
    members = {field.name: _json_functions(_hint(element, field)) for field in fields(element)}

    def to_columns(values: Any) -> dict[str, list[Any]]:
        return {name: [encode(getattr(value, name)) for value in values] for name, (encode, _) in members.items()}

    def from_columns(columns: dict[str, list[Any]]) -> tuple[Any, ...]:
        decoded = {name: map(members[name][1], column) for name, column in columns.items() if name in members}
        return tuple(element(**dict(zip(decoded, row, strict=True))) for row in zip(*decoded.values(), strict=True))

    return to_columns, from_columns


# --- Type hints


def _is_dataclass(hint: Any) -> TypeGuard[type[Any]]:
    return isinstance(hint, type) and is_dataclass(hint)


def _hint(entity: type[Any], field: Field[Any]) -> Any:
    return _evaluated(entity.__module__, str(field.type))


@cache
def _evaluated(module: str, annotation: str) -> Any:
    """Return the type that an annotation names. Annotations repeat, so this is faster than `get_type_hints`."""
    return eval(annotation, vars(sys.modules[module]), _IMPORTED_FOR_TYPES)  # noqa: S307 - annotations of this program


def _empty_default(field: Field[Any]) -> object:
    """Return the default of a field if it is empty, else MISSING."""
    default = field.default_factory() if field.default_factory is not MISSING else field.default
    return MISSING if default is MISSING or default else default


def _same(value: Any) -> Any:
    return value
