"""Content models: the elements that an element may contain, their order and their values.

A model is built from the schema facts of one request type when the type is first checked. A name occurs only once in
a content model, so the last element alone determines which elements may follow. Each ElementRule holds its possible
followers by name, so checking the order takes one lookup for each child.
"""

from __future__ import annotations

from decimal import Decimal
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

from domain.qbxml.schema.facts import particles_of, request_facts
from domain.qbxml.schema.value_types import BASE_TYPES, ValueType, enumeration

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

END = ""
"""The key in `followers` that marks the end: no further child is required. No element has this name."""

NO_MAX_LENGTH = 1 << 62
"""The `max_length` for no limit. No text is this long."""

NO_VERSION = 10_000
"""A version number higher than that of any version."""

Accepts: TypeAlias = "Callable[[str], object]"
Followers: TypeAlias = "dict[str, ElementRule]"

ATTRIBUTES_SINCE: Mapping[str, int] = {"metaData": 40, "iterator": 50, "iteratorID": 50}
"""The version numbers in which the attributes of requests were added. Those of the macro attributes are unknown."""

_OCCURS: Mapping[str, tuple[int, int | None]] = {"1": (1, 1), "?": (0, 1), "*": (0, None), "+": (1, None)}


class ElementRule:
    """The rule for one element in its parent.

    An element has either a `content` model or a `value_type`. `max_occurs` is None if there is no limit. `accepts`
    checks a text, or is None if any text is allowed. `max_length` is in characters. `since` is the version number in
    which the element was added. From version `simple_since` on, `accepts` and `max_length` check the element
    completely.
    """

    __slots__ = (
        *("accepts", "attributes", "content", "facts", "followers", "max_length", "max_occurs", "min_occurs", "name"),
        *("simple_since", "since", "value_type"),
    )

    def __init__(self, particle: Sequence[Any], types: Types) -> None:
        self.name: str = particle[0]
        self.min_occurs, self.max_occurs = occurs(particle[1])
        kind = types[particle[2]]
        self.content = kind if isinstance(kind, ContentModel) else None
        self.value_type = kind if isinstance(kind, ValueType) else None
        self.facts: Mapping[str, Any] = particle[3] if len(particle) > 3 else {}  # noqa: PLR2004 - the form in `facts`
        self.attributes = attribute_types(self.facts.get("attributes", {}), types)
        self.since = version_number(self.facts["since"]) if "since" in self.facts else 0
        self.accepts = _narrowed(self.value_type.accepts, self.facts) if self.value_type else None
        self.max_length: int = self.facts.get("length", NO_MAX_LENGTH)
        self.simple_since = NO_VERSION if self.value_type is None or "added" in self.facts else self.since
        self.followers: Followers = {}


class ContentModel:
    """The children that an element may have. The rules are built on first use."""

    def __init__(self, group: Mapping[str, Any], types: Types) -> None:
        self.group = group
        self._types = types

    @cached_property
    def rules(self) -> Mapping[str, ElementRule]:
        """The rules by element name, in schema order."""
        return {particle[0]: ElementRule(particle, self._types) for particle in elements_of(self.group)}

    @cached_property
    def first(self) -> Followers:
        """The rules of the elements that may come first. Reading it sets the followers of every rule."""
        return self._linked(self.group, {END: _END_RULE})

    @cached_property
    def bounded(self) -> Sequence[ElementRule]:
        """The rules for which followers alone do not limit the number of occurrences."""
        return [rule for rule in self.rules.values() if rule.max_occurs not in {1, None}]

    @cached_property
    def ranks(self) -> Mapping[str, int]:
        """The position of each name in schema order. Names in a repeatable group share a position."""
        ranks: dict[str, int] = {}
        _rank(self.group, ranks)
        return ranks

    def _linked(self, particle: Any, after: Followers) -> Followers:
        """Set the followers of every rule in a particle that precedes `after`. Return the rules that may come first."""
        if isinstance(particle, list):
            rule = self.rules[particle[0]]
            first: Followers = {rule.name: rule}
            rule.followers = after if rule.max_occurs == 1 else {**first, **after}
            return first if rule.min_occurs else {**first, **after}
        min_occurs, max_occurs = occurs(particle.get("times", "1"))
        first = self._linked_once(particle, after)
        if max_occurs != 1:
            first = self._linked_once(particle, {**first, **after})
        return first if min_occurs else {**first, **after}

    def _linked_once(self, group: Mapping[str, Any], after: Followers) -> Followers:
        if "choice" in group:
            first: Followers = {}
            for particle in group["choice"]:
                first |= self._linked(particle, after)
            return first
        for particle in reversed(group["sequence"]):
            after = self._linked(particle, after)
        return after


def _narrowed(accepts: Accepts | None, facts: Mapping[str, Any]) -> Accepts | None:
    """Return the check of a type, narrowed by the range in the facts or extended by the default."""
    if "default" in facts:
        return lambda text: not text or accepts is None or accepts(text)
    minimum, maximum = facts.get("least"), facts.get("most")
    if minimum is not None or maximum is not None:
        return lambda text: (accepts is None or accepts(text)) and within(text, minimum, maximum)
    return accepts


def within(number: str, minimum: int | None, maximum: int | None) -> bool:
    """Return whether a whole number is in a range. None means that the range has no such limit."""
    value = Decimal(number)
    return (minimum is None or value >= minimum) and (maximum is None or value <= maximum)


class Types:
    """The types of one request: base types by name and its other types by number. Each is built on first use."""

    def __init__(self, table: Sequence[Any]) -> None:
        self._table = table
        self._built: dict[int, ValueType | ContentModel] = {}

    def __getitem__(self, key: str | int) -> ValueType | ContentModel:
        if isinstance(key, str):
            return BASE_TYPES[key]
        if key not in self._built:
            entry = self._table[key]
            self._built[key] = ContentModel(entry, self) if isinstance(entry, dict) else enumeration(entry)
        return self._built[key]


class RequestModel:
    """One request type: its content, its attributes and the version in which it was added."""

    __slots__ = ("attributes", "content", "since")

    def __init__(self, facts: Mapping[str, Any]) -> None:
        types = Types(facts["types"])
        self.content = ContentModel(facts["content"], types)
        self.attributes = attribute_types(facts["attributes"], types)
        self.since = version_number(facts["since"])


_request_models: dict[str, RequestModel] = {}


def request_model(name: str) -> RequestModel | None:
    """Return the model of a request type, or None if it is not in the schema."""
    model = _request_models.get(name)
    if model is None and (facts := request_facts(name)) is not None:
        model = _request_models[name] = RequestModel(facts)
    return model


def attribute_types(facts: Mapping[str, str | int], types: Types) -> Mapping[str, ValueType]:
    """Return the type of each attribute."""
    return {name: kind for name, key in facts.items() if isinstance(kind := types[key], ValueType)}


def elements_of(particle: Any) -> Iterator[Sequence[Any]]:
    """Yield an element, or the elements of a group and of its nested groups in schema order."""
    if isinstance(particle, list):
        yield particle
    else:
        for part in particles_of(particle):
            yield from elements_of(part)


def repeats(group: Mapping[str, Any]) -> bool:
    """Return whether a group may occur more than once."""
    return occurs(group.get("times", "1"))[1] != 1


def _rank(group: Mapping[str, Any], ranks: dict[str, int]) -> None:
    first = len(ranks)
    for particle in particles_of(group):
        if isinstance(particle, dict):
            _rank(particle, ranks)
        else:
            ranks[particle[0]] = len(ranks)
    if repeats(group):
        ranks.update({name: first for name, rank in ranks.items() if rank >= first})


def occurs(times: str) -> tuple[int, int | None]:
    """Return the minimum and maximum number of occurrences. The maximum is None if there is no limit."""
    if (bounds := _OCCURS.get(times)) is not None:
        return bounds
    minimum, _, maximum = times.partition("..")
    return int(minimum), int(maximum)


def version_number(version: str) -> int:
    """Return a version as a number for comparisons: `2.1` is 21, and `CA3.0` is 30."""
    major, _, minor = version.lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ").partition(".")
    return int(major) * 10 + int(minor)


_END_RULE = ElementRule((END, "1", "STRTYPE"), Types(()))
