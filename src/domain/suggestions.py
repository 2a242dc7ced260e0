"""The name that a caller probably meant: one rule for every field, parameter, element, request, value and path."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

MAX_COMPARED_CHARACTERS = 60
"""A longer name does not resemble any name of ours, and the comparison would take long."""

MIN_SIMILARITY = 0.7
"""The minimum similarity, from 0 to 1, at which a name is suggested in place of another."""

_SAME_WORDS = 0.8
"""The similarity of two names of the same words. A name in a newer version of QBXML has to be more similar."""

_ONE_SLIP = 0.75
_SHORT = 4
"""The similarity of two short names that differ by one slip. By their letters alone, they would not be similar."""

_MAX_NAMES = 3
_MUCH_LESS_SIMILAR = 0.1
"""A name that is less similar than the best one by this much is not suggested beside it."""

_parts = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+").findall
_other_characters = re.compile(r"[^a-z0-9]+")
_MIN_PLURAL = 4
AFFIXES = frozenset({"rq", "rs", "ret", "ref", "request", "response"})
"""Words that QBXML adds to a name, and that callers add or forget."""


def did_you_mean(
    name: str, names: Iterable[str], min_similarity: float = MIN_SIMILARITY, others: Mapping[str, str] | None = None
) -> str | None:
    """Return `Did you mean …?` with the most similar names, or None if there are none. See `similar_names`."""
    similar = similar_names(name, names, min_similarity, others)
    return f"Did you mean {' or '.join(similar)}?" if similar else None


def similar_names(
    name: str, names: Iterable[str], min_similarity: float = MIN_SIMILARITY, others: Mapping[str, str] | None = None
) -> list[str]:
    """Return up to three of `names` that resemble `name`, the best first.

    A name that differs only in its case and its separators is the only one (`bill_address`). So is the one in `others`,
    the names of other APIs, each with ours. Names of the same words come next, in any order, in singular or plural,
    with or without an affix such as `Ref`. All others are compared by their letters.
    """
    own = letters(name) if len(name) <= MAX_COMPARED_CHARACTERS else ""
    if not own:
        return []
    candidates = {letters(candidate): candidate for candidate in reversed([*names])}
    if own in candidates:
        return [candidates[own]]
    meant = next((meant for other, meant in (others or {}).items() if letters(other) == own), "")
    if letters(meant) in candidates:
        return [candidates[letters(meant)]]
    stems = _stems(name) if min_similarity <= _SAME_WORDS else ()
    same = {key: _SAME_WORDS for key, candidate in candidates.items() if stems and _stems(candidate) == stems}
    similarities = same or _similarities(own, candidates, min_similarity)
    best = max(similarities.values(), default=0.0)
    similar = [key for key in reversed(similarities) if similarities[key] > best - _MUCH_LESS_SIMILAR]
    similar.sort(key=lambda key: -SequenceMatcher(None, own, key).ratio())
    return [candidates[key] for key in similar[:_MAX_NAMES]]


def similarity(name: str, other: str) -> float:
    """Return how similar two names are, from 0 to 1: 1 if they differ only in their case and their separators."""
    if len(name) > MAX_COMPARED_CHARACTERS:
        return 0.0
    if letters(name) == letters(other):
        return 1.0
    same = _SAME_WORDS if _stems(name) == _stems(other) else 0.0
    return max(same, SequenceMatcher(None, letters(name), letters(other)).ratio())


def _similarities(own: str, others: Iterable[str], minimum: float) -> dict[str, float]:
    """Return the similarity of each name that is at least as similar as `minimum`."""
    found = {}
    matcher = SequenceMatcher(b=own)
    for other in others:
        matcher.set_seq1(other)
        if matcher.real_quick_ratio() >= minimum and matcher.quick_ratio() >= minimum:
            similarity = matcher.ratio()
            if similarity >= minimum:
                found[other] = similarity
        if 1 < len(other) <= _SHORT and minimum <= _ONE_SLIP and _is_one_slip(own, other):
            found[other] = max(found.get(other, 0.0), _ONE_SLIP)
    return found


def _is_one_slip(one: str, other: str) -> bool:
    """Return whether two names differ by one letter that is missing or wrong, or by two letters that are swapped."""
    if len(one) != len(other):
        short, long = sorted((one, other), key=len)
        return any(long[:place] + long[place + 1 :] == short for place in range(len(long)))
    places = [place for place, pair in enumerate(zip(one, other, strict=True)) if pair[0] != pair[1]]
    if len(places) == 1:
        return True
    first, last = (places[0], places[-1]) if places else (0, 0)
    return last - first == 1 and one[first] == other[last] and one[last] == other[first]


@lru_cache(maxsize=2048)
def letters(name: str) -> str:
    """Return the letters and digits of a name in lower case. The spellings of one name have the same."""
    return _other_characters.sub("", name.lower())


def words(name: str) -> list[str]:
    """Return the words of a name in lower case: those of `bill_address`, `bill-address` and `BillAddress` are equal."""
    return [part.lower() for part in _parts(name)]


@lru_cache(maxsize=2048)
def _stems(name: str) -> tuple[str, ...]:
    """Return the words of a name in one order, in the singular and without affixes."""
    return tuple(sorted(_singular(word) for word in words(name) if word not in AFFIXES))


def _singular(word: str) -> str:
    if len(word) < _MIN_PLURAL or not word.endswith("s") or word.endswith("ss"):
        return word
    return f"{word[:-3]}y" if word.endswith("ies") else word[:-1]
