"""Why the children of an element do not fit its content model, in words that say how to mend it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from domain.qbxml import rules
from domain.qbxml.facts import particles_of
from domain.qbxml.models import Model, elements_of, occurs, repeats

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from domain.qbxml.document import Element

Finding = tuple["Element | None", str, str | None]
"""The child that is meant (None: the element itself), what is wrong, how to mend it."""


def diagnose(parent: str, children: Sequence[Element], model: Model, *, may_be_newer: bool) -> Iterator[Finding]:
    """Yield what is wrong with the children of `parent`: at least one finding if they do not fit.

    With `may_be_newer` a name that the schema does not know is no fault.
    """
    items = model.items()
    known = [child for child in children if child.name in items]
    if len(known) < len(children) and not may_be_newer:
        for child in children:
            if child.name not in items:
                yield child, *_unknown(parent, child.name, model)
    yield from _order(known, model)
    counts = Counter(child.name for child in known)
    first = {child.name: child for child in reversed(known)}
    yield from _Amounts(parent, counts, first).of(model.group)


def _unknown(parent: str, name: str, model: Model) -> tuple[str, str | None]:
    items = model.items()
    if not items:
        return f"{parent} has no children.", f"Remove {name}."
    homes = [item.name for item in items.values() if item.model and name in item.model.items()]
    if homes:
        return f"{parent} has no child {name}.", f"It belongs into {' or '.join(homes[:3])}."
    for child in items.values():
        if name == f"{child.name}s" or f"{name}s" == child.name:
            return f"{parent} has no child {name}.", f"Did you mean {child.name}?"
    return f"{parent} has no child {name}.", rules.nearest(name, items)


def _order(children: Sequence[Element], model: Model) -> Iterator[Finding]:
    ranks = model.ranks()
    latest: Element | None = None
    for child in children:
        if latest is not None and ranks[child.name] < ranks[latest.name]:
            yield (
                child,
                f"{child.name} stands too late: the order of elements is fixed.",
                f"{latest.name} comes after {child.name}.",
            )
        else:
            latest = child


class _Amounts:
    """Which names stand too often, are missing, or exclude each other, whatever their order."""

    def __init__(self, parent: str, counts: Mapping[str, int], first: Mapping[str, Element]) -> None:
        self._parent = parent
        self._counts = counts
        self._first = first

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
            yield None, f"{self._parent} needs {name}.", f"Add {name}."
        if most is not None and count > most and not often:
            times = "once" if most == 1 else f"{most} times"
            yield self._first[name], f"{name} may stand {times}; here it stands {count} times.", None

    def _choice(self, choice: Mapping[str, Any], *, often: bool) -> Iterator[Finding]:
        alternatives = choice["choice"]
        there = [each for each in alternatives if self._is_there(each)]
        if not there:
            if not any(_may_be_left_out(each) for each in alternatives):
                names = " or ".join(_opening(each) for each in alternatives)
                yield None, f"{self._parent} needs one of {names}.", None
        elif len(there) > 1 and not often:
            one, other = (next(name for name in _names(each) if name in self._counts) for each in there[:2])
            yield (
                self._first[other],
                f"{one} and {other} exclude each other.",
                f"Remove {other}, or {one}.",
            )
        for each in there:
            yield from self.of(each, often=often)


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
