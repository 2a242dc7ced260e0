"""XML that costs a parser as much memory and time as possible for its size.

Each shape is a function of a random number generator and a size in bytes. It returns an element, or the beginning of
one, with prefixes, names and URIs from the generator.
"""

from __future__ import annotations

import string
from collections.abc import Callable, Mapping
from itertools import islice, product
from random import Random
from typing import TypeAlias

from domain.qbxml.xml.parser import MAX_ELEMENTS

Shape: TypeAlias = Callable[[Random, int], str]


def _name(chance: Random, length: int) -> str:
    return "".join(chance.choices(string.ascii_letters, k=length))


def _pieces(chance: Random, size: int, piece: str) -> str:
    """Return `piece` with different names of the same length in place of its braces, one after the other."""
    letters = chance.sample(string.ascii_lowercase, 26)
    length = 1
    while 26**length < size // (len(piece) - 2 + length):
        length += 1
    names = islice(product(letters, repeat=length), size // (len(piece) - 2 + length))
    return "".join(piece.format("".join(name)) for name in names)


def _repeated(piece: str, size: int) -> str:
    return piece * (size // len(piece.encode()))


def _prefixed_attributes(chance: Random, size: int) -> str:
    prefix, uri = _name(chance, chance.choice([1, 3, 20])), _name(chance, int(size * chance.uniform(0.2, 0.8)))
    attributes = _pieces(chance, size - len(uri), f' {prefix}:{{}}=""')
    return f'<a xmlns:{prefix}="{uri}"{attributes}/>'


def _prefixed_elements(chance: Random, size: int) -> str:
    prefix, uri = _name(chance, chance.choice([1, 3])), _name(chance, int(size * chance.uniform(0.2, 0.8)))
    elements = _repeated(f"<{prefix}:b/>", size - len(uri))
    return f'<a xmlns:{prefix}="{uri}">{elements}</a>'


def _default_namespace(chance: Random, size: int) -> str:
    uri = _name(chance, int(size * chance.uniform(0.2, 0.8)))
    return f'<a xmlns="{uri}">{_pieces(chance, size - len(uri), "<{}/>")}</a>'


def _nested_declarations(chance: Random, size: int) -> str:
    return "".join(f'<a xmlns="{_name(chance, 20)}">' for _ in range(size // 32))


def _long_names(chance: Random, size: int) -> str:
    return f"<a>{''.join(f'<{_name(chance, 5_000)}/>' for _ in range(size // 5_003))}</a>"


def _attributes(piece: str) -> Shape:
    """Return a shape that repeats `piece`, with different names, in the tag of an element."""
    return lambda chance, size: f"<a{_pieces(chance, size, piece)}/>"


def _named(piece: str) -> Shape:
    """Return a shape that repeats `piece`, with different names, in an element."""
    return lambda chance, size: f"<a>{_pieces(chance, size, piece)}</a>"


def _content(piece: str) -> Shape:
    """Return a shape that repeats `piece` in an element."""
    return lambda _, size: f"<a>{_repeated(piece, size)}</a>"


def _open(piece: str) -> Shape:
    """Return a shape that repeats `piece` and closes nothing."""
    return lambda _, size: _repeated(piece, size)


def _as_many(piece: str, padding: str = "b") -> Shape:
    """Return a shape with as many of `piece` as elements are allowed. The rest of the size is text with one emoji."""

    def shape(_: Random, size: int) -> str:
        elements = piece * min(MAX_ELEMENTS - 100, size // len(piece.encode()))
        return f"<a>{elements}<z>{_repeated(padding, max(size - len(elements.encode()), 0))}</z>\N{GRINNING FACE}</a>"

    return shape


SHAPES: Mapping[str, Shape] = {
    "prefixed attributes": _prefixed_attributes,
    "prefixed elements": _prefixed_elements,
    "a default namespace": _default_namespace,
    "many declarations": _attributes(' xmlns:{}="u"'),
    "nested declarations": _nested_declarations,
    "undeclared prefixes": _content("<x:a/>"),
    "attributes": _attributes(' {}=""'),
    "xml: attributes": _attributes(' xml:{}=""'),
    "elements": _content("<b/>"),
    "elements with text": _content("<b>c</b>"),
    "elements with an attribute": _content('<b c=""/>'),
    "elements with a different attribute": _named('<b {}=""/>'),
    "elements with different names": _named("<{}/>"),
    "elements with long names": _long_names,
    "one long name": lambda chance, size: f"<{_name(chance, size)}/>",
    "one long attribute": lambda chance, size: f'<a b="{_name(chance, size)}"/>',
    "nested elements": lambda _, size: "<a>" * (size // 7) + "</a>" * (size // 7),
    "open elements": _open("<a>"),
    "open elements with attributes": _open('<a b="">'),
    "comments": _content("<!---->"),
    "processing instructions": _content("<?a?>"),
    "CDATA": _content("<![CDATA[a]]>"),
    "CDATA of markup": lambda _, size: f"<a><![CDATA[{_repeated('<b/>', size)}]]></a>",
    "ampersands": _content("&amp;"),
    "references": _content("&#65;"),
    "references to control characters": _content("&#1;"),
    "references to C1 controls": _content("&#146;"),
    "forbidden characters": _content("\x01"),
    "text like an entity": _content("&a;"),
    "an entity": lambda _, size: f"<!DOCTYPE a [<!ENTITY b 'c'>]><a>{_repeated('&b;', size)}</a>",
    "emoji": _content("\N{GRINNING FACE}"),
    "text with one emoji": lambda _, size: f"<a>{'b' * size}\N{GRINNING FACE}</a>",
    "control characters with one emoji": lambda _, size: "\x01" * (size - 4) + "\N{GRINNING FACE}",
    "quotes": _content('"'),
    "lines": _content("\r\n"),
    "the word xmlns": _content("<b>xmlns=</b>"),
    "objects": _content("<Ret><ListID>1</ListID><Name>b</Name></Ret>"),
    "rows": _content('<ColData colID="1" value="b"/>'),
    "responses": _content('<ARs statusCode="0"/>'),
    "messages": _content('<ARs statusCode="0" statusMessage="b"/>'),
    "as many xml: attributes as allowed": _as_many('<b xml:c="1" d="2"/>'),
    "as many attributes with an emoji as allowed": _as_many('<b c="\N{GRINNING FACE}"/>'),
    "as many quotes as allowed": _as_many("<b c='\"'/>", '"'),
}
"""The shapes by name."""
