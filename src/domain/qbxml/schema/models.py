"""Content models, made from the facts of one request type when it is first checked.

Every name stands once in a content model, so that the last element read tells what may follow:
each `Item` knows its followers by name. Checking an order is one look-up a child.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any, TypeAlias

from domain.qbxml.schema.base_types import BASE_TYPES, BaseType
from domain.qbxml.schema.facts import particles_of, request_facts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

END = ""
"""The follower that says: here the children may end. No element has this name."""

ENDLESS = 1 << 62
"""A length that no text has."""

NEVER = 10_000
"""A version number that no version reaches."""

Accepts: TypeAlias = "Callable[[str], object]"
Followers: TypeAlias = "dict[str, Item]"

ATTRIBUTES_SINCE: Mapping[str, int] = {"metaData": 40, "iterator": 50, "iteratorID": 50}
"""First versions of a request's attributes (`qbxml.md` §2, §5); no document tells those of the macros."""

_OCCURS: Mapping[str, tuple[int, int | None]] = {"1": (1, 1), "?": (0, 1), "*": (0, None), "+": (1, None)}


class Kind:
    """What a text or an attribute may be: of a base type, or one of `values`."""

    __slots__ = ("accepts", "base", "values")

    def __init__(self, base: BaseType | None, values: tuple[str, ...] = ()) -> None:
        self.base = base
        self.values = values
        self.accepts: Accepts | None = base.accepts if base else frozenset(values).__contains__


class Item:
    """An element in its place: how often it may stand there, what it holds and what may follow it.

    `most` is None for any number. Either `model` is there, for an element with children, or `kind`.
    `accepts` is what is asked of its text, None where any text will do; `length` is how many
    characters that may have. `since` is its first version as a `version_number`; from `plain_from` on
    it is a text of which these two say all.
    """

    __slots__ = (
        "accepts",
        "attributes",
        "facts",
        "followers",
        "kind",
        "least",
        "length",
        "model",
        "most",
        "name",
        "plain_from",
        "since",
    )

    def __init__(self, particle: Sequence[Any], types: Types) -> None:
        self.name: str = particle[0]
        self.least, self.most = occurs(particle[1])
        kind = types[particle[2]]
        self.model = kind if isinstance(kind, Model) else None
        self.kind = kind if isinstance(kind, Kind) else None
        self.facts: Mapping[str, Any] = particle[3] if len(particle) > len(("name", "times", "kind")) else {}
        self.attributes = attribute_kinds(self.facts.get("attributes", {}), types)
        self.since = version_number(self.facts["since"]) if "since" in self.facts else 0
        self.accepts = _narrowed(self.kind.accepts, self.facts) if self.kind else None
        self.length: int = self.facts.get("length", ENDLESS)
        self.plain_from = NEVER if self.kind is None or "added" in self.facts else self.since
        self.followers: Followers = {}

    @property
    def is_counted(self) -> bool:
        """Whether it may stand more than once, but not any number of times."""
        return self.most not in {1, None}


class Model:
    """The content model of an element with children; it is made when it is first met.

    `first` are the items that may come first, None until `start` was called; `counted` are the items
    whose number followers alone do not limit (0 to 8 of them).
    """

    __slots__ = ("_items", "_ranks", "_types", "counted", "first", "group")

    def __init__(self, group: Mapping[str, Any], types: Types) -> None:
        self.group = group
        self._types = types
        self._items: dict[str, Item] = {}
        self.first: Followers | None = None
        self._ranks: dict[str, int] = {}
        self.counted: tuple[Item, ...] = ()

    def items(self) -> Mapping[str, Item]:
        """Return its elements by name, in schema order."""
        self.start()
        return self._items

    def start(self) -> Followers:
        """Return the items that may come first."""
        if self.first is None:
            self._items = {particle[0]: Item(particle, self._types) for particle in elements_of(self.group)}
            self.counted = tuple(item for item in self._items.values() if item.is_counted)
            self.first = self._linked(self.group, {END: _NOTHING})
        return self.first

    def ranks(self) -> Mapping[str, int]:
        """Return the rank of every name in schema order; names in a group that repeats share one."""
        if not self._ranks:
            _rank(self.group, self._ranks)
        return self._ranks

    def _linked(self, particle: Any, after: Followers) -> Followers:
        """Tell each item of a particle its followers, given those of the particle; return the first ones."""
        if isinstance(particle, list):
            item = self._items[particle[0]]
            first: Followers = {item.name: item}
            item.followers = after if item.most == 1 else {**first, **after}
            return first if item.least else {**first, **after}
        least, most = occurs(particle.get("times", "1"))
        first = self._linked_once(particle, after)
        if most != 1:
            first = self._linked_once(particle, {**first, **after})
        return first if least else {**first, **after}

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
    """Return what a type accepts, within the range or with the default that the facts name."""
    if "default" in facts:
        return lambda text: not text or accepts is None or accepts(text)
    least, most = facts.get("least"), facts.get("most")
    if least is not None or most is not None:
        return lambda text: (accepts is None or accepts(text)) and within(text, least, most)
    return accepts


def within(number: str, least: int | None, most: int | None) -> bool:
    """Whether a whole number lies in a range that may be open."""
    # Python refuses to read an int of many thousand digits.
    value = Decimal(number)
    return (least is None or value >= least) and (most is None or value <= most)


class Types:
    """The types of one request: base types by name, its own by number. Each is made when it is first met."""

    def __init__(self, table: Sequence[Any]) -> None:
        self._table = table
        self._made: dict[str | int, Kind | Model] = {}

    def __getitem__(self, key: str | int) -> Kind | Model:
        made = self._made.get(key)
        if made is None:
            made = self._made[key] = self._make(key)
        return made

    def _make(self, key: str | int) -> Kind | Model:
        if isinstance(key, str):
            return Kind(BASE_TYPES[key])
        described = self._table[key]
        return Model(described, self) if isinstance(described, dict) else Kind(None, tuple(described))


class RequestModel:
    """One request type: its content, its attributes and its first version."""

    __slots__ = ("attributes", "content", "since")

    def __init__(self, facts: Mapping[str, Any]) -> None:
        types = Types(facts["types"])
        self.content = Model(facts["content"], types)
        self.attributes = attribute_kinds(facts["attributes"], types)
        self.since = version_number(facts["since"])


_made: dict[str, RequestModel] = {}


def request_model(name: str) -> RequestModel | None:
    """Return the model of a request type; None when the schema does not know it."""
    model = _made.get(name)
    if model is None and (facts := request_facts(name)) is not None:
        model = _made[name] = RequestModel(facts)
    return model


def attribute_kinds(facts: Mapping[str, str | int], types: Types) -> Mapping[str, Kind]:
    """Return what each attribute may be."""
    return {name: kind for name, key in facts.items() if isinstance(kind := types[key], Kind)}


def elements_of(group: Mapping[str, Any]) -> Iterator[Sequence[Any]]:
    """Yield the elements of a group and of the groups in it, in schema order."""
    for particle in particles_of(group):
        if isinstance(particle, dict):
            yield from elements_of(particle)
        else:
            yield particle


def repeats(group: Mapping[str, Any]) -> bool:
    """Whether a group may stand more than once."""
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
    """Return how often something may stand: least and most, None for any number."""
    known = _OCCURS.get(times)
    if known is not None:
        return known
    least, _, most = times.partition("..")
    return int(least), int(most)


def version_number(version: str) -> int:
    """Return a version that compares as a number, in tenths: `2.1` is 21, `CA3.0` is 30."""
    major, _, minor = version.lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ").partition(".")
    return int(major) * 10 + int(minor)


_NOTHING = Item((END, "1", "STRTYPE"), Types(()))
"""What stands where children end."""
