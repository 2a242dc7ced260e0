"""Why the children of an element do not fit its content model, in words that say how to mend it."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING, Any

from domain.qbxml.request import limits
from domain.qbxml.schema.facts import particles_of
from domain.qbxml.schema.models import Model, elements_of, occurs, repeats

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from domain.qbxml.request.document import Element

Finding = tuple["Element | None", str, str | None]
"""The child that is meant (None: the element itself), what is wrong, how to mend it."""

_MAX_LISTED = 4
"""Names of children that a suggestion lists."""

_ALIKE = 0.65
"""How much an unknown name has to be like one that is meant by it."""

_ALIKE_ENOUGH = 0.6
"""The same where the one that is meant is missing: that says much already."""


def diagnose(
    parent: str,
    children: Sequence[Element],
    model: Model,
    *,
    may_be_newer: bool,
    outer: Mapping[str, Model],
    sibling: tuple[str, Model] | None,
) -> Iterator[Finding]:
    """Yield what is wrong with the children of `parent`: at least one finding if they do not fit.

    With `may_be_newer` a name that the schema does not know is no fault. `outer` are the open
    elements around, innermost first; `sibling` is the request that does the other of adding and
    changing, with the model that it has in this place.
    """
    items = model.items()
    known = [child for child in children if child.name in items]
    unknown = dict.fromkeys(child.name for child in children if child.name not in items)
    counts = Counter(child.name for child in known)
    first = {child.name: child for child in reversed(known)}
    # Comparing names takes time, and no more problems are told.
    amounts = _Amounts(parent, counts, first, may_be_newer, list(islice(unknown, limits.MAX_PROBLEMS)))
    of_amounts = list(amounts.of(model.group))
    if not may_be_newer:
        strangers = _Strangers(parent, model, amounts.renamed, outer, sibling)
        for child in children:
            if child.name not in items:
                yield child, *strangers.explain(child)
    yield from _order(known, model)
    yield from of_amounts


class _Strangers:
    """What to say of children whose names the model does not have."""

    def __init__(
        self,
        parent: str,
        model: Model,
        renamed: Mapping[str, str],
        outer: Mapping[str, Model],
        sibling: tuple[str, Model] | None,
    ) -> None:
        self._parent = parent
        self._items = model.items()
        self._renamed = renamed
        self._outer = outer
        self._sibling = sibling

    def explain(self, child: Element) -> tuple[str, str | None]:
        """Return what is wrong with a child and how to mend it, if that can be told."""
        if not self._items:
            return f"{self._parent} has no children.", f"Remove {child.name}."
        return f"{self._parent} has no child {child.name}.", self._suggestion(child)

    def _suggestion(self, child: Element) -> str | None:
        return self._by_spelling(child.name) or self._by_place(child) or self._by_likeness(child)

    def _by_spelling(self, name: str) -> str | None:
        if name in self._renamed:
            return f"Did you mean {self._renamed[name]}?"
        for known in self._items:
            if known in {f"{name}s", name.removesuffix("s")} or known.lower() == name.lower():
                return f"Did you mean {known}?"
        return None

    def _by_place(self, child: Element) -> str | None:
        name, items = child.name, self._items
        homes = [item.name for item in items.values() if item.model and name in item.model.items()]
        homes = homes or [around for around, model in self._outer.items() if name in model.items()][:1]
        if homes:
            return f"It belongs into {' or '.join(homes[:3])}."
        if self._sibling is not None and name in self._sibling[1].items():
            return f"Only {self._sibling[0]} has it."
        wrapped = dict.fromkeys(inner.name for inner in _below(child) if inner.name in items)
        return f"Write {' and '.join(wrapped)} without {name} around." if wrapped else None

    def _by_likeness(self, child: Element) -> str | None:
        # What holds elements is not meant by what holds text.
        alike = [item.name for item in self._items.values() if bool(child.children) == bool(item.model)]
        close = limits.nearest(child.name, alike, _ALIKE)
        if close is None and len(self._items) <= _MAX_LISTED:
            return f"It holds {' or '.join(self._items)}."
        return close


def _below(element: Element) -> Iterator[Element]:
    for child in element.children:
        yield child
        yield from _below(child)


def _order(children: Sequence[Element], model: Model) -> Iterator[Finding]:
    """Yield the children that stand too early or too late: as few as put the others into order."""
    ranks = [model.ranks()[child.name] for child in children]
    kept = _in_order(ranks)
    if len(kept) == len(children):
        return
    stays = set(kept)
    for index, child in enumerate(children):
        if index in stays:
            continue
        rank = ranks[index]
        before = next((children[each] for each in kept if each < index and ranks[each] > rank), None)
        if before is not None:
            mend = f"{before.name} comes after {child.name}."
            yield child, f"{child.name} stands too late: the order of elements is fixed.", mend
            continue
        after = [children[each] for each in kept if each > index and ranks[each] < rank]
        mend = f"{child.name} comes after {after[-1].name}."
        yield child, f"{child.name} stands too early: the order of elements is fixed.", mend


def _in_order(ranks: Sequence[int]) -> list[int]:
    """Return the indices of the longest subsequence that does not fall; of several, the one that begins first."""
    # How long the longest is that begins at each index. Best beginnings by length, negated: they rise.
    lengths = [0] * len(ranks)
    beginnings: list[int] = []
    for index in range(len(ranks) - 1, -1, -1):
        place = bisect_right(beginnings, -ranks[index])
        beginnings[place : place + 1] = [-ranks[index]]
        lengths[index] = place + 1
    kept: list[int] = []
    wanted = len(beginnings)
    for index, length in enumerate(lengths):
        if length == wanted and (not kept or ranks[index] >= ranks[kept[-1]]):
            kept.append(index)
            wanted -= 1
    return kept


class _Amounts:
    """Which names stand too often, are missing, or exclude each other, whatever their order."""

    def __init__(
        self,
        parent: str,
        counts: Mapping[str, int],
        first: Mapping[str, Element],
        may_be_newer: bool,
        unknown: Sequence[str],
    ) -> None:
        self._parent = parent
        self._counts = counts
        self._first = first
        self._may_be_newer = may_be_newer
        self._unknown = unknown
        # Names that may be meant for ones that are missing, with those.
        self.renamed: dict[str, str] = {}

    def of(self, particle: Any, *, often: bool = False) -> Iterator[Finding]:
        """Yield the findings of a particle that has to stand; `often` when a group around it repeats."""
        if isinstance(particle, list):
            yield from self._element(particle, often=often)
        elif "choice" in particle:
            yield from self._choice(particle, often=often or repeats(particle))
        else:
            for part in particle["sequence"]:
                if self._wanted(part):
                    yield from self.of(part, often=often or repeats(particle))

    def _wanted(self, particle: Any) -> bool:
        """Whether a particle has to be looked at: something of it is there, or it may not be left out."""
        return self._is_there(particle) or not _may_be_left_out(particle)

    def _is_there(self, particle: Any) -> bool:
        return any(name in self._counts for name in _names(particle))

    def _element(self, particle: Sequence[Any], *, often: bool) -> Iterator[Finding]:
        name = particle[0]
        least, most = occurs(particle[1])
        count = self._counts.get(name, 0)
        if count < least:
            yield from self._missing([name])
        if most is not None and count > most and not often:
            times = "once" if most == 1 else f"{most} times"
            yield self._first[name], f"{name} may stand {times}; here it stands {count} times.", None

    def _choice(self, choice: Mapping[str, Any], *, often: bool) -> Iterator[Finding]:
        alternatives = choice["choice"]
        there = [each for each in alternatives if self._is_there(each)]
        if not there:
            if not any(_may_be_left_out(each) for each in alternatives):
                yield from self._missing([_opening(each) for each in alternatives])
        elif len(there) > 1 and not often:
            one, other = (next(name for name in _names(each) if name in self._counts) for each in there[:2])
            yield (
                self._first[other],
                f"{one} and {other} exclude each other.",
                f"Remove {other}, or {one}.",
            )
        for each in there:
            yield from self.of(each, often=often)

    def _missing(self, names: Sequence[str]) -> Iterator[Finding]:
        """Say that one of the names has to stand, unless the name of an unknown child says it already."""
        for name in names:
            unclaimed = [each for each in self._unknown if each not in self.renamed]
            for meant in limits.alike(name, unclaimed, _ALIKE_ENOUGH)[:1]:
                if not self._may_be_newer:
                    self.renamed[meant] = name
                    return
                yield None, f"{self._parent} needs {name}.", f"Did you mean it by {meant}?"
                return
        if len(names) == 1:
            yield None, f"{self._parent} needs {names[0]}.", f"Add {names[0]}."
        else:
            yield None, f"{self._parent} needs one of {' or '.join(names)}.", None


def _opening(particle: Any) -> str:
    names = _names(particle)
    return names[0] if isinstance(particle, list) else "/".join(names[:3])


def _names(particle: Any) -> list[str]:
    return [particle[0]] if isinstance(particle, list) else [element[0] for element in elements_of(particle)]


def _may_be_left_out(particle: Any) -> bool:
    if isinstance(particle, list):
        return occurs(particle[1])[0] == 0
    if occurs(particle.get("times", "1"))[0] == 0:
        return True
    left_out = [_may_be_left_out(part) for part in particles_of(particle)]
    return any(left_out) if "choice" in particle else all(left_out)
