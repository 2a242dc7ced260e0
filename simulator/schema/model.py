"""Content models as objects: elements, their types, and the groups that order them."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator

Version: TypeAlias = tuple[int, int]

_TIMES: dict[str, tuple[int, int | None]] = {"1": (1, 1), "?": (0, 1), "*": (0, None), "+": (1, None)}
_REFERENCE = ("ListID", "FullName")


@dataclass(frozen=True, slots=True)
class Simple:
    """The type of text: a base type of QBXML (`AMTTYPE`) with its restrictions.

    `values` maps the values of an enumeration to the version that introduced them. It is empty for other types.
    """

    base: str
    values: dict[str, Version] = field(default_factory=dict)
    length: int | None = None
    least: int | None = None
    most: int | None = None


@dataclass(frozen=True, eq=False)
class Group:
    """A sequence (all in order) or a choice (one of). `most` None is any number."""

    is_choice: bool
    particles: tuple[Element | Group, ...]
    least: int
    most: int | None

    @property
    def repeats(self) -> bool:
        """Return whether the whole group can occur more than once."""
        return self.most is None or self.most > 1

    def elements(self) -> Iterator[Element]:
        """Yield all elements of the group and of the groups in it."""
        for particle in self.particles:
            if isinstance(particle, Group):
                yield from particle.elements()
            else:
                yield particle

    def pattern(self) -> str:
        """Return a regular expression over child names, each followed by a semicolon."""
        inner = [
            particle.pattern() if isinstance(particle, Group) else f"(?:{particle.name};){particle.quantifier}"
            for particle in self.particles
        ]
        return f"(?:{('|' if self.is_choice else '').join(inner)}){_quantifier(self.least, self.most)}"


@dataclass(frozen=True, eq=False)
class Aggregate:
    """The type of an element that holds elements."""

    group: Group

    @cached_property
    def elements(self) -> dict[str, Element]:
        """The elements that can be children, by name, in order."""
        return {element.name: element for element in self.group.elements()}

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The pattern of the children's names, each followed by a semicolon."""
        return re.compile(self.group.pattern())

    @cached_property
    def mixed(self) -> tuple[tuple[str, ...], ...]:
        """The names that alternate freely in one place, as the lines and line groups of an invoice do."""
        return tuple(
            tuple(element.name for element in particle.elements())
            for particle in self.group.particles
            if isinstance(particle, Group) and particle.repeats
        )

    @cached_property
    def mixed_keys(self) -> dict[str, str]:
        """The key under which records store elements that alternate, by the name of the first of them."""
        return {names[0]: mixed_key(names) for names in self.mixed}

    @cached_property
    def mixed_key_of(self) -> dict[str, str]:
        """The key under which records store elements that alternate, by the name of each."""
        return {name: mixed_key(names) for names in self.mixed for name in names}

    @cached_property
    def alternatives(self) -> dict[str, frozenset[str]]:
        """For each element in a choice, the elements that cannot be combined with it."""
        excluded: dict[str, frozenset[str]] = {}
        pending = [self.group]
        while pending:
            group = pending.pop()
            pending += [particle for particle in group.particles if isinstance(particle, Group)]
            if not group.is_choice or group.repeats:
                continue
            names = [
                {element.name for element in particle.elements()} if isinstance(particle, Group) else {particle.name}
                for particle in group.particles
            ]
            everything = set().union(*names)
            for own in names:
                for name in own:
                    excluded[name] = excluded.get(name, frozenset()) | (everything - own)
        return excluded

    @cached_property
    def is_reference(self) -> bool:
        """Return whether this is a reference to a list object: ListID or FullName."""
        return tuple(self.elements) == _REFERENCE

    @cached_property
    def max_name(self) -> int | None:
        """The length of the name in a reference."""
        full_name = self.elements["FullName"].type
        return full_name.length if isinstance(full_name, Simple) else None

    def __contains__(self, name: str) -> bool:
        return name in self.elements

    def __getitem__(self, name: str) -> Element:
        return self.elements[name]


def mixed_key(names: tuple[str, ...]) -> str:
    """Return the key under which elements that alternate are stored."""
    return "|".join(names)


@dataclass(frozen=True, eq=False)
class Element:
    """An element: the number of its occurrences, its content, and its versions and editions.

    `since` is the first version of qbXML with it, `absent` the editions without it (QBD is the US edition).
    """

    name: str
    least: int
    most: int | None
    type: Simple | Aggregate
    since: Version = (1, 0)
    absent: frozenset[str] = frozenset()
    attributes: dict[str, Simple] = field(default_factory=dict)
    default: str | None = None

    @property
    def quantifier(self) -> str:
        """The number of times that it occurs, as in a regular expression."""
        return _quantifier(self.least, self.most)

    @property
    def repeats(self) -> bool:
        """Return whether it can occur more than once in its place."""
        return self.most is None or self.most > 1

    @property
    def values(self) -> dict[str, Version]:
        """The values of an enumeration and the versions that introduced them. It is empty for other types."""
        return self.type.values if isinstance(self.type, Simple) else {}

    @property
    def content(self) -> Aggregate:
        """The type of an element that holds elements. Raises `TypeError` for text."""
        if not isinstance(self.type, Aggregate):
            raise TypeError(f"{self.name} holds text")
        return self.type


@dataclass(frozen=True, eq=False)
class Schema:
    """All requests (`InvoiceAddRq`) and responses (`InvoiceAddRs`) by name."""

    requests: dict[str, Element]
    responses: dict[str, Element]

    def record(self, kind: str) -> Element:
        """Return the element of a kind's records, as its query returns them: `InvoiceRet`."""
        return self.responses[f"{kind}QueryRs"].content[f"{kind}Ret"]


@cache
def schema() -> Schema:
    """Return the schema, which is read once."""
    document = json.loads(Path(__file__).with_name("qbxml.json").read_text(encoding="ascii"))
    reader = _Reader(document["types"])
    return Schema(
        *({element.name: element for element in map(reader.element, document[part])}
          for part in ("requests", "responses"))
    )  # fmt: skip


def version(text: str) -> Version:
    """Return a version as numbers: `"4.1"` becomes `(4, 1)`."""
    major, _, minor = text.partition(".")
    return int(major), int(minor or 0)


class _Reader:
    """Turns the compact form into objects. A type that several elements share becomes one object."""

    def __init__(self, types: list[Any]) -> None:
        self._types = types
        self._aggregates: dict[int, Aggregate] = {}

    def element(self, compact: list[Any]) -> Element:
        name, times, kind, *rest = compact
        facts: dict[str, Any] = rest[0] if rest else {}
        least, most = _occurs(times)
        return Element(
            name,
            least,
            most,
            self._type(kind, facts),
            version(facts.get("since", "1.0")),
            frozenset(facts.get("absent", ())),
            {key: self._simple(attribute, {}) for key, attribute in facts.get("attributes", {}).items()},
            facts.get("default"),
        )

    def _type(self, kind: str | int, facts: dict[str, Any]) -> Simple | Aggregate:
        if isinstance(kind, str) or isinstance(self._types[kind], list):
            return self._simple(kind, facts)
        if kind not in self._aggregates:
            self._aggregates[kind] = Aggregate(self._group(self._types[kind]))
        return self._aggregates[kind]

    def _simple(self, kind: str | int, facts: dict[str, Any]) -> Simple:
        length = facts.get("length")
        if isinstance(kind, str):
            return Simple(kind, length=length, least=facts.get("least"), most=facts.get("most"))
        added = facts.get("added", {})
        return Simple("ENUMTYPE", {value: version(added.get(value, "1.0")) for value in self._types[kind]}, length)

    def _group(self, compact: dict[str, Any]) -> Group:
        least, most = _occurs(compact.get("times", "1"))
        is_choice = "choice" in compact
        particles = tuple(
            self._group(particle) if isinstance(particle, dict) else self.element(particle)
            for particle in compact["choice" if is_choice else "sequence"]
        )
        return Group(is_choice, particles, least, most)


def _occurs(times: str) -> tuple[int, int | None]:
    if times in _TIMES:
        return _TIMES[times]
    least, most = times.split("..")
    return int(least), None if most == "None" else int(most)


def _quantifier(least: int, most: int | None) -> str:
    for short, occurs in _TIMES.items():
        if occurs == (least, most):
            return "" if short == "1" else short
    return f"{{{least},{'' if most is None else most}}}"
