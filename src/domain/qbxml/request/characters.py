"""The characters that QuickBooks can keep: those of Windows-1252. It turns every other into `?`."""

# ruff: noqa: RUF001 - characters that look alike are what this is about

from __future__ import annotations

import unicodedata
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from domain.qbxml.request import limits
from domain.qbxml.request.envelope import problem

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from domain.errors import Problem
    from domain.qbxml.request.document import Element, Request

_KEPT = "cp1252"

_SPELLED: Mapping[int, str] = str.maketrans({
    "Ł": "L",
    "ł": "l",
    "Đ": "D",
    "đ": "d",
    "Ħ": "H",
    "ħ": "h",
    "ı": "i",
    "ĸ": "k",
    "Ŋ": "N",
    "ŋ": "n",
    "Ŧ": "T",
    "ŧ": "t",
    "ẞ": "SS",
    "Ə": "E",
    "ə": "e",
    "‐": "-",
    "‑": "-",
    "‒": "-",
    "―": "-",
    "−": "-",
    "‛": "'",
    "′": "'",
    "″": '"',
    "‟": '"',
    "⁄": "/",
    "∕": "/",
    "∙": "·",
    "→": "->",
    "←": "<-",
    "≤": "<=",
    "≥": ">=",
    "≠": "<>",
    "₹": "Rs",
    "\u2028": "\n",
    "\u2029": "\n",
    "\u200b": "",
    "\u200c": "",
    "\u200d": "",
    "\u2060": "",
    "\ufeff": "",
})  # fmt: skip
"""What no decomposition turns into characters that QuickBooks keeps, but everybody reads alike."""


def character_problems(request: Request, field: str) -> list[Problem]:
    """Return a problem for every text and attribute with a character that QuickBooks cannot keep."""
    if all_kept(request.element):
        return []
    return list(islice(_problems(request.element, request.element.name, field), limits.MAX_PROBLEMS))


def all_kept(element: Element) -> bool:
    """Whether QuickBooks can keep every character of an element."""
    waiting = [element]
    for _, attributes, children, text, _ in waiting:
        if text and not text.isascii() and not is_kept(text):
            return False
        if attributes and not all(map(is_kept, attributes.values())):
            return False
        if children:
            waiting.extend(children)
    return True


def transliterated(request: Request) -> Request:
    """Return the request with such characters replaced by ones that read alike: `Łódź` is `Lódz`.

    What has no replacement stays; `character_problems` names it.
    """
    return replace(request, element=_transliterated(request.element))


def is_kept(text: str) -> bool:
    """Whether QuickBooks can keep every character of a text."""
    if text.isascii():
        return True
    try:
        text.encode(_KEPT)
    except UnicodeEncodeError:
        return False
    return True


def replaced(text: str) -> str:
    """Return a text with every character that QuickBooks cannot keep replaced, where a replacement is known."""
    # First as one character: a letter and a combining accent are often a letter that is kept.
    composed = unicodedata.normalize("NFC", text)
    return "".join(character if is_kept(character) else _replacement(character) for character in composed)


def _replacement(character: str) -> str:
    spelled = character.translate(_SPELLED)
    if spelled != character:
        return spelled
    parts = unicodedata.normalize("NFKD", character).translate(_SPELLED)
    plain = "".join(part for part in parts if not unicodedata.combining(part))
    return plain if is_kept(plain) and (plain or unicodedata.combining(character)) else character


def _problems(element: Element, path: str, field: str) -> Iterator[Problem]:
    for name, value in element.attributes.items():
        if not is_kept(value):
            yield _problem(element, value, f"{path}/@{name}", field)
    if element.text and not is_kept(element.text):
        yield _problem(element, element.text, path, field)
    for child in element.children:
        yield from _problems(child, f"{path}/{child.name}", field)


def _problem(element: Element, text: str, path: str, field: str) -> Problem:
    lost = list(dict.fromkeys(character for character in text if not is_kept(character)))
    shown = ", ".join(f"{character} (U+{ord(character):04X})" for character in lost[:5])
    proposal = replaced(text)
    suggestion = f"Write {limits.shown(proposal)}, or add transliterate=true." if is_kept(proposal) else "Remove it."
    return problem(field, f"QuickBooks cannot keep {shown}.", element.place, path, suggestion)


def _transliterated(element: Element) -> Element:
    attributes = element.attributes
    if any(not is_kept(value) for value in attributes.values()):
        attributes = {name: value if is_kept(value) else replaced(value) for name, value in attributes.items()}
    text = element.text
    if text and not is_kept(text):
        text = replaced(text) or None
    children = tuple(_transliterated(child) for child in element.children)
    return element._replace(attributes=attributes, text=text, children=children)
