"""Counts the steps of a backtracking match, so that a test can measure how a regular expression grows with its input.

The matcher interprets the tree of Python's own parser. It covers what this project's expressions use and raises
NotImplementedError for anything else.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterator

_parser: Any = importlib.import_module("re._parser")

_CATEGORIES: dict[str, Callable[[str], bool]] = {
    "CATEGORY_DIGIT": str.isdecimal,
    "CATEGORY_SPACE": str.isspace,
    "CATEGORY_WORD": lambda character: character.isalnum() or character == "_",
}
_SINGLE = {"LITERAL", "NOT_LITERAL", "ANY", "IN"}


class Matcher:
    """Matches one expression and counts the characters that are compared."""

    def __init__(self, pattern: str, flags: int = 0) -> None:
        self._items = _parser.parse(pattern, flags)
        self.steps = 0

    def match(self, text: str, start: int, *, whole: bool = False) -> int | None:
        """Return the end of a match that starts at `start`, or None if there is no match."""
        ends = (end for end in self._ends(list(self._items), 0, text, start) if not whole or end == len(text))
        return next(ends, None)

    def search(self, text: str) -> None:
        """Count the steps needed to find every match, as `sub` and `findall` do."""
        start = 0
        while start <= len(text):
            end = self.match(text, start)
            start = start + 1 if end is None or end == start else end

    def _ends(self, items: Any, index: int, text: str, position: int) -> Iterator[int]:
        """Yield every position where the items from `index` on can end, in the order of a backtracking matcher."""
        if index == len(items):
            yield position
            return
        kind, value = items[index]
        for end in self._item_ends(str(kind), value, text, position):
            yield from self._ends(items, index + 1, text, end)

    def _item_ends(self, name: str, value: Any, text: str, position: int) -> Iterator[int]:
        if name in _SINGLE:
            yield from [position + 1] if self._accepts(name, value, text, position) else []
        elif name in {"MAX_REPEAT", "MIN_REPEAT"}:
            least, most, body = value
            yield from self._repeated(least, most, body, text, position, lazy=name == "MIN_REPEAT")
        elif name == "BRANCH":
            for branch in value[1]:
                yield from self._ends(list(branch), 0, text, position)
        elif name == "SUBPATTERN":
            yield from self._ends(list(value[-1]), 0, text, position)
        elif name in {"ASSERT", "ASSERT_NOT"}:
            is_match = next(self._ends(list(value[1]), 0, text, position), None) is not None
            yield from [position] if is_match == (name == "ASSERT") else []
        elif name == "AT":
            yield from [position] if self._is_at(str(value), text, position) else []
        else:
            raise NotImplementedError(name)

    def _repeated(self, least: int, most: int, body: Any, text: str, position: int, *, lazy: bool) -> Iterator[int]:
        """Yield the ends of a repeat. A repeat of single characters needs no recursion."""
        (kind, value), *more = list(body)
        if not more and str(kind) in _SINGLE:
            longest = position
            while not lazy and longest - position < most and self._accepts(str(kind), value, text, longest):
                longest += 1
            if not lazy:
                yield from range(longest, position + least - 1, -1)
                return
            for end in range(position, len(text) + 1):
                if end - position >= least:
                    yield end
                if end - position >= most or not self._accepts(str(kind), value, text, end):
                    return
            return
        yield from self._repeated_group(least, most, list(body), text, position)

    def _repeated_group(self, least: int, most: int, body: Any, text: str, position: int) -> Iterator[int]:
        if most > 0:
            for end in self._ends(body, 0, text, position):
                if end > position:
                    yield from self._repeated_group(least - 1, most - 1, body, text, end)
        if least <= 0:
            yield position

    def _accepts(self, name: str, value: Any, text: str, position: int) -> bool:
        self.steps += 1
        if position >= len(text):
            return False
        return accepts(name, value, text[position])

    @staticmethod
    def _is_at(where: str, text: str, position: int) -> bool:
        if where in {"AT_END_STRING", "AT_END"}:
            return position == len(text)
        if where in {"AT_BEGINNING", "AT_BEGINNING_STRING"}:
            return position == 0
        if where == "AT_BOUNDARY":
            word = _CATEGORIES["CATEGORY_WORD"]
            before = position > 0 and word(text[position - 1])
            return before != (position < len(text) and word(text[position]))
        raise NotImplementedError(where)


def accepts(name: str, value: Any, character: str) -> bool:
    """Return whether an item for a single character accepts this one."""
    if name == "LITERAL":
        return bool(ord(character) == value)
    if name == "NOT_LITERAL":
        return bool(ord(character) != value)
    if name == "ANY":
        return character != "\n"
    negated = any(str(kind) == "NEGATE" for kind, _ in value)
    return negated != any(_in_set(str(kind), each, character) for kind, each in value)


def _in_set(name: str, value: Any, character: str) -> bool:
    if name == "LITERAL":
        return bool(ord(character) == value)
    if name == "RANGE":
        return bool(value[0] <= ord(character) <= value[1])
    if name == "CATEGORY":
        category = str(value)
        return _CATEGORIES[category.replace("_NOT_", "_")](character) != ("_NOT_" in category)
    return False


def attacks(pattern: str, flags: int = 0) -> Iterator[Callable[[int], str]]:
    """Yield functions that return an input with n repetitions, for each unbounded repeat.

    An input consists of the text that leads to the repeat, a text repeated n times, and a suffix that does not match.
    The repeated text is each character of the expression that the repeat accepts. It is also the start of the
    expression with a text for the repeat, so a search starts again at each repetition.
    """
    items = _parser.parse(pattern, flags)
    alphabet = sorted({character for item in _walk(items) for character in _samples(item)})
    for prefix, body in _repeats(list(items), ""):
        shortest = "".join(_shortest(list(body)))
        pumps = {shortest} | {
            character
            for character in alphabet
            if len(list(body)) == 1 and str(body[0][0]) in _SINGLE and accepts(str(body[0][0]), body[0][1], character)
        }
        for pump in sorted(pumps | {prefix + shortest}):
            for suffix in ("", "\x00", "!"):
                yield lambda n, prefix=prefix, pump=pump, suffix=suffix: prefix + pump * n + suffix  # type: ignore[misc]


def _walk(items: Any) -> Iterator[tuple[str, Any]]:
    for kind, value in items:
        name = str(kind)
        if name in _SINGLE:
            yield name, value
        elif name in {"MAX_REPEAT", "MIN_REPEAT", "SUBPATTERN"}:
            yield from _walk(value[-1])
        elif name == "BRANCH":
            for branch in value[1]:
                yield from _walk(branch)
        elif name in {"ASSERT", "ASSERT_NOT"}:
            yield from _walk(value[1])


def _samples(item: tuple[str, Any]) -> Iterator[str]:
    name, value = item
    if name == "LITERAL":
        yield chr(value)
    elif name == "IN":
        candidates = [chr(each) for kind, each in value if str(kind) == "LITERAL"]
        candidates += [chr(end) for kind, each in value if str(kind) == "RANGE" for end in each]
        yield from (each for each in (*candidates, "0", " ", "a", "<", "&") if accepts(name, value, each))


def _repeats(items: Any, prefix: str) -> Iterator[tuple[str, Any]]:
    """Yield each unbounded repeat: the shortest text that leads to it, and its body."""
    for kind, value in items:
        name = str(kind)
        if name in {"MAX_REPEAT", "MIN_REPEAT"}:
            _, most, body = value
            if most == _parser.MAXREPEAT:
                yield prefix, body
            yield from _repeats(list(body), prefix)
        elif name == "SUBPATTERN":
            yield from _repeats(list(value[-1]), prefix)
        elif name == "BRANCH":
            for branch in value[1]:
                yield from _repeats(list(branch), prefix)
        prefix += "".join(_shortest([(kind, value)]))


def _shortest(items: Any) -> Iterator[str]:
    """Yield the pieces of a short text that the items match."""
    for kind, value in items:
        name = str(kind)
        if name in _SINGLE:
            yield next(each for each in (*_samples((name, value)), "a", "0", " ") if accepts(name, value, each))
        elif name in {"MAX_REPEAT", "MIN_REPEAT"}:
            yield "".join(_shortest(list(value[2]))) * value[0]
        elif name == "SUBPATTERN":
            yield from _shortest(list(value[-1]))
        elif name == "BRANCH":
            yield min(("".join(_shortest(list(branch))) for branch in value[1]), key=len)


def has_unbounded_repeat(pattern: re.Pattern[str]) -> bool:
    """Return whether an expression contains `*`, `+` or `{n,}`."""
    return next(_repeats(list(_parser.parse(pattern.pattern, pattern.flags)), ""), None) is not None


def growth(pattern: str, flags: int, attack: Callable[[int], str], *, searches: bool) -> float:
    """Return the factor by which the steps grow if the input becomes four times as long: 4 means linear growth."""
    counts = []
    for length in (16, 64):
        matcher = Matcher(pattern, flags)
        text = attack(length)
        if searches:
            matcher.search(text)
        else:
            matcher.match(text, 0)
            matcher.match(text, 0, whole=True)
        counts.append(matcher.steps)
    return counts[1] / max(counts[0], 1)
