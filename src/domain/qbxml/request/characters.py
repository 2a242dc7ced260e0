"""The characters that QuickBooks can store: those of Windows-1252. QuickBooks turns all others into `?`."""

# ruff: noqa: RUF001 - this module is about characters that look alike

from __future__ import annotations

import re
import unicodedata
from itertools import islice
from typing import TYPE_CHECKING

from domain.qbxml.request import limits
from domain.qbxml.request.problems import quoted

if TYPE_CHECKING:
    from collections.abc import Iterator
    from xml.etree.ElementTree import Element

    from domain.errors import Problem
    from domain.qbxml.request.document import Request
    from domain.qbxml.request.problems import Source

_REPLACEMENTS = {
    **str.maketrans("ŁłĐđĦħıĸŊŋŦŧƏə‐‑‒―−‛′″‟⁄∕∙", "LlDdHhikNnTtEe-----''\"\"//·"),
    **{
        ord(character): more
        for character, more in zip("ẞ→←≤≥≠₹", ("SS", "->", "<-", "<=", ">=", "<>", "Rs"), strict=True)
    },
    **str.maketrans("\u2028\u2029", "\n\n", "\u200b\u200c\u200d\u2060\ufeff"),
}
"""Replacements that Unicode's decompositions do not provide."""

_MAX_NAMED = 5
"""The maximum number of characters that a problem lists."""


def character_problems(request: Request) -> list[Problem]:
    """Return a problem for each text and attribute with a character that QuickBooks cannot store."""
    attributes = (value for element in request.element.iter() for _, value in element.items())
    if is_storable("".join([*request.element.itertext(), *attributes])):
        return []
    return [_problem(request.source, *text) for text in islice(_unstorable_texts(request), limits.MAX_PROBLEMS)]


def is_storable(text: str) -> bool:
    """Return whether QuickBooks can store every character of `text`."""
    if text.isascii():
        return True
    try:
        text.encode("cp1252")
    except UnicodeEncodeError:
        return False
    return True


def transliterate_element(element: Element) -> None:
    """Replace the characters that QuickBooks cannot store by similar ones: `Łódź` becomes `Lódz`.

    A character without a replacement stays, and `character_problems` reports it.
    """
    for descendant in element.iter():
        descendant.text = transliterated_text(descendant.text or "") or None
        for name, value in descendant.items():
            descendant.set(name, transliterated_text(value))


def transliterated_text(text: str) -> str:
    """Return `text` with replacements for the characters that QuickBooks cannot store."""
    if is_storable(text):
        return text
    # Compose first: QuickBooks can often store a letter with an accent, but never a combining accent. Compose only a
    # few accents at a time, because the time for normalizing grows with the square of their number.
    composed = _accented(lambda match: unicodedata.normalize("NFC", match[0]), text)
    return composed.translate(_Replacements())


_accented = re.compile("[A-Za-z][\u0300-\u036f]{1,4}").sub


class _Replacements(dict[int, str]):
    """The replacement for each character. It is computed when the character first occurs."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        replacement = character if is_storable(character) else _replacement(character)
        self[code] = replacement
        return replacement


def _replacement(character: str) -> str:
    composed = unicodedata.normalize("NFC", character).translate(_REPLACEMENTS)
    if is_storable(composed):
        return composed
    parts = unicodedata.normalize("NFKD", character).translate(_REPLACEMENTS)
    base = "".join(part for part in parts if not unicodedata.combining(part))
    return base if is_storable(base) and (base or unicodedata.combining(character)) else character


def _unstorable_texts(request: Request) -> Iterator[tuple[Element, str, str]]:
    """Yield the element, the text and the path of each text and attribute that QuickBooks cannot store."""
    for element, path in request.elements():
        texts = [(value, f"{path}/@{name}") for name, value in element.items()] + [(element.text or "", path)]
        yield from ((element, text, place) for text, place in texts if not is_storable(text))


def _problem(source: Source, element: Element, text: str, path: str) -> Problem:
    lost = islice((character for character in dict.fromkeys(text) if not is_storable(character)), _MAX_NAMED)
    names = ", ".join(f"{character} (U+{ord(character):04X})" for character in lost)
    proposal = transliterated_text(text)
    suggestion = "Remove it. ?transliterate=true replaces characters, but has no replacement for all of these."
    if is_storable(proposal):
        suggestion = f"Write {quoted(proposal)}, or add ?transliterate=true."
    return source.problem(f"QuickBooks cannot store {names}.", element, path, suggestion)
