"""One codec between dataclasses and DynamoDB items, driven by the type hints of the fields.

An item has one attribute for each field, named like the field. The type of a field determines how it is stored:

* texts and enums as S, whole numbers as N, flags as BOOL;
* each field of a nested dataclass that is not optional as a separate attribute: `webhook.state` is `webhook_state`;
* everything else as JSON in S: optional dataclasses and mappings as objects, tuples as arrays, and a tuple of
  dataclasses as an object with one array for each field, so that names are stored once.

A field that is empty (None, False, 0, no text, no elements) is left out if that is also its default. This keeps the
sparse indexes sparse and the items small. A field that may be None must therefore have the default None. Reading
ignores attributes that belong to no field, so an item can contain more than its entity.

A `CompressedCodec` stores all attributes but a few in one compressed attribute.

A type hint can be a type, or text if the module of the dataclass has `from __future__ import annotations`. The module
imports the names in its hints at runtime.
"""

from __future__ import annotations

import base64
import json
import sys
import zlib
from collections.abc import Mapping
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass
from enum import Enum
from functools import cache, cached_property
from operator import itemgetter
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeGuard, TypeVar, get_args, get_origin

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from adapters.dynamodb.keys import AttributeValue, Item

T = TypeVar("T")


_RAW_DEFLATE = -zlib.MAX_WBITS
"""zlib's format without its header and checksum, which take ten bytes."""


class _Attribute(NamedTuple):
    """One attribute of an item."""

    member: str
    name: str
    omitted: object
    """The value that is left out, or MISSING if no value is left out."""
    decode: Callable[[AttributeValue], Any]


@dataclass
class Codec(Generic[T]):
    """Stores the entities of one dataclass.

    `renamed` maps attributes to different names. The `required` attributes are stored even if they are empty. An item
    without them is rejected. `prefix` begins the names of all attributes.
    """

    entity_type: type[T]
    renamed: Mapping[str, str] = field(default_factory=dict)
    required: Collection[str] = ()
    prefix: str = ""

    def item(self, entity: T) -> Item:
        """Return the item of an entity."""
        item: Item = {}
        for member, codec in self._nested.items():
            item |= codec.item(getattr(entity, member))
        for member, name, omitted, _ in self._attributes:
            value = getattr(entity, member)
            if value or value != omitted:
                item[name] = _attribute_value(value)
        return item

    def entity(self, item: Item) -> T:
        """Return the entity of an item. A field without an attribute gets its default.

        Raises KeyError if a required attribute is missing, and TypeError if a field without a default is missing.
        """
        values: dict[str, Any] = {member: codec.entity(item) for member, codec in self._nested.items()}
        for member, name, _, decode in self._attributes:
            if name in item or name in self.required:
                values[member] = decode(item[name])
        return self.entity_type(**values)

    @cached_property
    def _nested(self) -> dict[str, Codec[Any]]:
        """The codecs of nested dataclasses by field."""
        return {
            member.name: Codec(hint, self.renamed, self.required, f"{self.prefix}{member.name}_")
            for member, hint in _hints(self.entity_type)
            if _is_dataclass(hint)
        }

    @cached_property
    def _attributes(self) -> list[_Attribute]:
        """The attributes of the other fields, computed on first use. Unused entities cost nothing."""
        attributes = []
        for member, hint in _hints(self.entity_type):
            if not _is_dataclass(hint):
                if _without_none(hint) is not hint and member.default is not None:
                    raise TypeError(f"{self.entity_type.__name__}.{member.name} may be None but has another default.")
                full_name = f"{self.prefix}{member.name}"
                name = self.renamed.get(full_name, full_name)
                omitted = MISSING if name in self.required else _empty_default(member)
                attributes.append(_Attribute(member.name, name, omitted, _decoder(hint)))
        return attributes


@dataclass
class CompressedCodec(Generic[T]):
    """Stores the entities of one dataclass in items that are as small as possible, because DynamoDB charges by the KB.

    The attributes of `codec` that are not `plain` are stored together in the attribute `compressed_name`, as compressed
    JSON. `dictionary` is a text that resembles this JSON. It is needed to read an item, so it must never change.

    Five transactions write a usual record. Compressed, it fits one write unit (docs/data-model.md, Size of a record).
    Short names alone save 200 bytes, and binary ids 100, which is not enough; zlib without a dictionary saves a third.
    """

    codec: Codec[T]
    plain: Collection[str]
    compressed_name: str
    dictionary: bytes

    def item(self, entity: T) -> Item:
        """Return the item of an entity."""
        return self.compressed(self.codec.item(entity))

    def entity(self, item: Item) -> T:
        """Return the entity of an item. Raises like `Codec.entity`."""
        return self.codec.entity(item | self.decompressed(item))

    def compressed(self, item: Item) -> Item:
        """Return the item that contains these attributes."""
        plain = {name: value for name, value in item.items() if name in self.plain}
        others = {name: value for name, value in item.items() if name not in self.plain}
        compressor = zlib.compressobj(9, wbits=_RAW_DEFLATE, zdict=self.dictionary)
        text = json.dumps(others, separators=(",", ":"), ensure_ascii=False).encode()
        return plain | {self.compressed_name: {"B": compressor.compress(text) + compressor.flush()}}

    def decompressed(self, item: Item) -> Item:
        """Return the attributes that an item contains in compressed form, if any. Stream images have them in base64."""
        if self.compressed_name not in item:
            return {}
        stored = item[self.compressed_name]["B"]
        data = base64.b64decode(stored) if isinstance(stored, str) else bytes(stored)
        attributes: Item = json.loads(zlib.decompressobj(wbits=_RAW_DEFLATE, zdict=self.dictionary).decompress(data))
        return attributes


def _attribute_value(value: Any) -> AttributeValue:
    """Return a value that is not None as an attribute value."""
    if type(value) is str:  # most are
        return {"S": value}
    if isinstance(value, bool):
        return {"BOOL": value}
    if isinstance(value, int):
        return {"N": str(value)}
    stored = _to_json(value)
    return {"S": stored if isinstance(stored, str) else json.dumps(stored, separators=(",", ":"), ensure_ascii=False)}


def _to_json(value: Any) -> Any:
    """Return a value as JSON."""
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, tuple):
        if value and is_dataclass(value[0]):
            return {
                member.name: [_to_json(getattr(element, member.name)) for element in value]
                for member in fields(value[0])
            }
        return list(map(_to_json, value))
    if is_dataclass(value):
        members = [(member, getattr(value, member.name)) for member in fields(value)]
        return {member.name: _to_json(value) for member, value in members if value != _empty_default(member)}
    return value


@cache
def _decoder(hint: Any) -> Callable[[AttributeValue], Any]:
    """Return the function that converts an attribute value to a value of this type."""
    alone = _without_none(hint)
    if alone is int:
        return lambda stored: int(stored["N"])
    if alone is bool:
        return itemgetter("BOOL")
    decode = _from_json(alone)
    if alone is str or _is_enum(alone):
        return lambda stored: decode(stored["S"])
    return lambda stored: decode(json.loads(stored["S"]))


@cache
def _from_json(hint: Any) -> Callable[[Any], Any]:
    """Return the function that converts JSON to a value of this type. Raises TypeError for other types."""
    if hint in {str, int, bool, Any} or get_origin(hint) in {dict, Mapping}:
        return lambda value: value
    if _is_enum(hint):
        return {member.value: member for member in hint}.__getitem__
    if _is_dataclass(hint):
        members = _member_decoders(hint)
        return lambda values: hint(**{name: members[name](value) for name, value in values.items() if name in members})
    if (alone := _without_none(hint)) is not hint:
        decode = _from_json(alone)
        return lambda stored: None if stored is None else decode(stored)
    element, *rest = get_args(hint) or (None,)
    if get_origin(hint) is tuple and rest == [...]:
        if is_dataclass(element):
            return _columns_decoder(element)
        decode = _from_json(element)
        return lambda stored: tuple(map(decode, stored))
    raise TypeError(f"{hint} has no stored form. Add one to {__name__}.")


def _columns_decoder(element: Any) -> Callable[[dict[str, list[Any]]], tuple[Any, ...]]:
    """Return the function that converts an object with one array for each field to a tuple of dataclasses."""
    members = _member_decoders(element)

    def decode(columns: dict[str, list[Any]]) -> tuple[Any, ...]:
        if not columns:
            return ()  # an empty tuple is stored as an empty array, because it does not show the type of its elements
        decoded = {name: map(members[name], column) for name, column in columns.items() if name in members}
        return tuple(element(**dict(zip(decoded, row, strict=True))) for row in zip(*decoded.values(), strict=True))

    return decode


def _member_decoders(entity: Any) -> dict[str, Callable[[Any], Any]]:
    return {member.name: _from_json(hint) for member, hint in _hints(entity)}


def _is_dataclass(hint: Any) -> TypeGuard[type[Any]]:
    return isinstance(hint, type) and is_dataclass(hint)


def _is_enum(hint: Any) -> TypeGuard[type[Enum]]:
    return isinstance(hint, type) and issubclass(hint, Enum)


def _without_none(hint: Any) -> Any:
    """Return `X` for `X | None`, and any other type unchanged."""
    arguments = [argument for argument in get_args(hint) if argument is not NoneType]
    return arguments[0] if get_origin(hint) is UnionType and len(arguments) == 1 else hint


def _hints(entity: Any) -> list[tuple[Field[Any], Any]]:
    """Return the fields of a dataclass with their types."""
    hints = ((member, member.type) for member in fields(entity))
    return [(member, _evaluated(entity.__module__, hint) if isinstance(hint, str) else hint) for member, hint in hints]


@cache
def _evaluated(module: str, annotation: str) -> Any:
    """Return the type that an annotation names. Annotations repeat, so this is faster than `get_type_hints`."""
    return eval(annotation, vars(sys.modules[module]))  # noqa: S307 - annotations of this program


@cache
def _empty_default(member: Field[Any]) -> object:
    """Return the default of a field if it is empty, else MISSING."""
    default = member.default_factory() if member.default_factory is not MISSING else member.default
    return MISSING if default is MISSING or default else default
