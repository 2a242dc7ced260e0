"""Explains why the children of an element do not match its content model, and how to correct them."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any

from domain.qbxml.request import limits
from domain.qbxml.request.other_names import meant_elements
from domain.qbxml.schema.content_models import ContentModel, elements_of, occurs, repeats
from domain.qbxml.schema.facts import particles_of
from domain.suggestions import did_you_mean, letters, similar_names

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from xml.etree.ElementTree import Element

    from domain.qbxml.schema.content_models import ElementRule

Finding = tuple["Element | None", str, str | None]
"""The child with the problem (None for the parent), a message and a suggestion."""

_MAX_LISTED = 4
"""The maximum number of elements that a suggestion lists."""

_MIN_SIMILARITY = 0.65
"""The minimum similarity at which an unknown name counts as a misspelling."""

MIN_SIMILARITY_IN_NEWER = 0.85
"""The same minimum for a version newer than the schema, in which the name may be new."""

_MIN_SIMILARITY_TO_MISSING = 0.6
"""The same minimum for the name of a missing element. A missing element makes a misspelling more likely."""


def diagnose(
    parent: str,
    children: Sequence[Element],
    content: ContentModel,
    *,
    is_newer: bool,
    comparisons: Iterator[int],
    enclosing: Mapping[str, ContentModel],
    counterpart: tuple[str, ContentModel] | None,
) -> Iterator[Finding]:
    """Yield the problems with the children of `parent`: at least one finding if they do not match.

    If `is_newer`, the schema is older than the request, so an unknown name is wrong only if it resembles a known one.
    `comparisons` ends after enough such names have been compared. `enclosing` holds the content models of the
    elements around the parent, from the inside out. `counterpart` is the Add request for a Mod request, or the
    reverse, with its content model in this place.
    """
    rules = content.rules
    members = [child for child in children if child.tag in rules]
    unknown_names = dict.fromkeys(child.tag for child in children if child.tag not in rules)
    # Comparing names is slow, and any further problems would not be reported.
    compared = list(islice(unknown_names, limits.MAX_PROBLEMS))
    occurrences = _Occurrences(parent, rules, members, compared, is_newer=is_newer)
    findings = list(occurrences.findings(content.group))
    for child in children:
        if child.tag in rules:
            continue
        if is_newer:
            if next(comparisons, None) is None:
                break
            suggestion = did_you_mean(child.tag, rules, MIN_SIMILARITY_IN_NEWER)
            if suggestion is None:
                continue
        elif not rules:
            yield child, f"{parent} must be empty.", f"Remove {child.tag}."
            continue
        else:
            suggestion = (
                _by_spelling(child, rules, occurrences.misspelled)
                or _by_place(child.tag, rules, enclosing, counterpart)
                or _by_similarity(child, rules)
                or _by_content(parent, child, rules)
            )
        yield child, f"{child.tag} is not an element of {parent}.", suggestion
    yield from _misplaced(members, content)
    yield from findings


def _by_spelling(child: Element, rules: Mapping[str, ElementRule], misspelled: Mapping[str, str]) -> str | None:
    name, own = child.tag, letters(child.tag)
    spellings = {own, f"{own}s", own.removesuffix("s"), f"{own}ref"}
    meant = [misspelled[name]] if name in misspelled else [rule for rule in rules if letters(rule) in spellings]
    if not (meant := meant[:1] or meant_elements(name, rules)):
        return None
    content = rules[meant[0]].content
    how = " It contains a FullName or a ListID." if content and "FullName" in content.rules and not len(child) else ""
    return f"Did you mean {' or '.join(meant)}?{how}"


def _by_place(
    name: str,
    rules: Mapping[str, ElementRule],
    enclosing: Mapping[str, ContentModel],
    counterpart: tuple[str, ContentModel] | None,
) -> str | None:
    parents = [rule.name for rule in rules.values() if rule.content and name in rule.content.rules]
    parents = parents or [outer for outer, model in enclosing.items() if name in model.rules][:1]
    if parents:
        return f"It belongs in {' or '.join(parents[:3])}."
    if counterpart is not None and name in counterpart[1].rules:
        return f"Only {counterpart[0]} has it."
    return None


def _by_similarity(child: Element, rules: Mapping[str, ElementRule]) -> str | None:
    # An element with children is not a misspelled text element, and the reverse. An empty one can be either.
    is_empty = not len(child) and not child.text
    candidates = [rule.name for rule in rules.values() if is_empty or bool(len(child)) == bool(rule.content)]
    return did_you_mean(child.tag, candidates, _MIN_SIMILARITY)


def _by_content(parent: str, child: Element, rules: Mapping[str, ElementRule]) -> str | None:
    wrapped = dict.fromkeys(inner.tag for inner in child.iter() if inner.tag in rules)
    if wrapped:
        return f"Write {' and '.join(wrapped)} without {child.tag} around it."
    return f"{parent} can contain {' or '.join(rules)}." if len(rules) <= _MAX_LISTED else None


def _misplaced(children: Sequence[Element], content: ContentModel) -> Iterator[Finding]:
    """Yield the smallest set of children to move so that the others are in order."""
    ranks = [content.ranks[child.tag] for child in children]
    longest = _longest_ordered(ranks)
    in_order = set(longest)
    for index, child in enumerate(children):
        if index in in_order:
            continue
        after = [children[place] for place in longest if place < index and ranks[place] > ranks[index]]
        before = [children[place] for place in longest if place > index and ranks[place] < ranks[index]]
        direction, neighbor = ("before", after[0]) if after else ("after", before[-1])
        message = f"{child.tag} is out of order. QBXML fixes the order of elements."
        yield child, message, f"Move {child.tag} {direction} {neighbor.tag}."


def _longest_ordered(ranks: Sequence[int]) -> list[int]:
    """Return the indices of the longest non-decreasing subsequence. If there are several, return the first to start."""
    # `lengths` holds the length of the longest subsequence that starts at each index. `starts` holds the highest rank
    # at which a subsequence of each length starts. The ranks are negated to keep the list sorted.
    lengths = [0] * len(ranks)
    starts: list[int] = []
    for index in range(len(ranks) - 1, -1, -1):
        position = bisect_right(starts, -ranks[index])
        starts[position : position + 1] = [-ranks[index]]
        lengths[index] = position + 1
    indices: list[int] = []
    remaining = len(starts)
    for index, length in enumerate(lengths):
        if length == remaining and (not indices or ranks[index] >= ranks[indices[-1]]):
            indices.append(index)
            remaining -= 1
    return indices


class _Occurrences:
    """Finds names that occur too often, are missing or exclude each other, in any order."""

    def __init__(
        self,
        parent: str,
        names: Collection[str],
        members: Sequence[Element],
        unknown_names: Sequence[str],
        *,
        is_newer: bool,
    ) -> None:
        self._parent = parent
        self._names = names
        self._counts = Counter(child.tag for child in members)
        self._first = {child.tag: child for child in reversed(members)}
        self._is_newer = is_newer
        self._unknown_names = unknown_names
        # Unknown names that are probably misspelled, with the missing name for each.
        self.misspelled: dict[str, str] = {}

    @cached_property
    def _meant(self) -> Mapping[str, str]:
        """The element that each unknown name resembles most, if it resembles any."""
        similar = ((name, similar_names(name, self._names, _MIN_SIMILARITY_TO_MISSING)) for name in self._unknown_names)
        return {name: names[0] for name, names in similar if names}

    def findings(self, particle: Any, *, repeated: bool = False) -> Iterator[Finding]:
        """Yield the findings of a required particle. `repeated` is true inside a group that may repeat."""
        if isinstance(particle, list):
            yield from self._element(particle, repeated=repeated)
            return
        repeated = repeated or repeats(particle)
        if "choice" in particle:
            yield from self._choice(particle["choice"], repeated=repeated)
            return
        for part in particle["sequence"]:
            if self._is_present(part) or not _is_optional(part):
                yield from self.findings(part, repeated=repeated)

    def _is_present(self, particle: Any) -> bool:
        return any(name in self._counts for name in _names(particle))

    def _element(self, particle: Sequence[Any], *, repeated: bool) -> Iterator[Finding]:
        name = particle[0]
        min_occurs, max_occurs = occurs(particle[1])
        count = self._counts.get(name, 0)
        if count < min_occurs:
            yield from self._missing([name])
        if max_occurs is not None and count > max_occurs and not repeated:
            times = "once" if max_occurs == 1 else f"{max_occurs} times"
            yield self._first[name], f"{name} may occur {times}; it occurs {count} times.", None

    def _choice(self, alternatives: Sequence[Any], *, repeated: bool) -> Iterator[Finding]:
        present = [alternative for alternative in alternatives if self._is_present(alternative)]
        if not present:
            if not any(_is_optional(alternative) for alternative in alternatives):
                yield from self._missing([_label(alternative) for alternative in alternatives])
        elif len(present) > 1 and not repeated:
            one, other = (
                next(name for name in _names(alternative) if name in self._counts) for alternative in present[:2]
            )
            yield self._first[other], f"{one} and {other} cannot be combined.", f"Remove {other} or {one}."
        for alternative in present:
            yield from self.findings(alternative, repeated=repeated)

    def _missing(self, names: Sequence[str]) -> Iterator[Finding]:
        """Report that one of the names is required, unless an unknown child is probably a misspelling of one."""
        for unknown, name in self._meant.items():
            if unknown in self.misspelled or name not in names:
                continue
            if not self._is_newer or similar_names(unknown, [name], MIN_SIMILARITY_IN_NEWER):
                self.misspelled[unknown] = name
            else:
                yield None, f"{self._parent} requires {name}.", f"Did you mean {name} by {unknown}?"
            return
        if len(names) == 1:
            yield None, f"{self._parent} requires {names[0]}.", f"Add {names[0]}."
        else:
            yield None, f"{self._parent} requires one of {', '.join(names)}.", None


def _label(particle: Any) -> str:
    names = _names(particle)
    return names[0] if isinstance(particle, list) else "/".join(names[:3])


def _names(particle: Any) -> list[str]:
    return [element[0] for element in elements_of(particle)]


def _is_optional(particle: Any) -> bool:
    if isinstance(particle, list):
        return occurs(particle[1])[0] == 0
    if occurs(particle.get("times", "1"))[0] == 0:
        return True
    optional = [_is_optional(part) for part in particles_of(particle)]
    return any(optional) if "choice" in particle else all(optional)
