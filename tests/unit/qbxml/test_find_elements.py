"""Elements found by their names, without a call for each of the others: the same that a parser finds with calls."""

from __future__ import annotations

import re
from typing import Any
from xml.parsers.expat import ExpatError

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.qbxml.xml.parser import MAX_TAGS, XML_ERRORS, Span, defused_parser, find_elements, normalize_prologue

pytestmark = pytest.mark.system  # expat is the system's

NAMES = st.sampled_from(["Rs", "ARs", "p:BRs", "ÄRs", "ARsB", "RsA", "A", "CustomerRet"])
ATTRIBUTES = st.lists(
    st.sampled_from([' a=""', " b='/>'", ' c = "a>b"', " d='ARs '", ' e="&lt;ARs/>"', "\n", " "]),
    max_size=4,
    unique=True,
).map("".join)
COMMENTS = ("<!-- <ARs> </ARs> -->", "<!-- Rs -->", "<![CDATA[<ARs a='b'>]]>", "<![CDATA[</ARs>]]>", "<?ARs <ARs> ?>")
TEXTS = st.sampled_from(
    ["", "Rs ", "ARs/>", "é\U0001f600", " \r\n", "&lt;ARs>", "]]", "a>b", "&#13;", *COMMENTS],
)


@st.composite
def documents(draw: st.DrawFn, depth: int = 0) -> str:
    """Return an element with elements in it."""
    name, attributes = draw(NAMES), draw(ATTRIBUTES)
    if draw(st.integers(0, 4)) == 0:
        return f"<{name}{attributes}/>"
    inner = documents(depth + 1) if depth < 4 else TEXTS
    content = draw(st.lists(st.one_of(TEXTS, inner), max_size=4))
    return f"<{name}{attributes}>{''.join(content)}</{name}{draw(st.sampled_from(['', ' ', chr(10)]))}>"


whole_element = re.compile(rb"""<(?:[^"'<>]|"[^"]*"|'[^']*')*/>""").fullmatch


def expected(text: str) -> list[Span]:
    """Return what a parser finds that calls for every tag, up to an error."""
    text = normalize_prologue(text)
    data, parser = text.encode(), defused_parser()
    found: list[Span] = []
    around: list[Span | None] = []

    def start(name: str, attributes: dict[str, str]) -> None:
        within = next((span.name for span in reversed(around) if span), "")
        place = parser.CurrentByteIndex
        span = Span(name, attributes, within, place, place) if name.endswith("Rs") else None
        around.append(span)
        if span:
            found.append(span)

    def end(name: str) -> None:
        place = parser.CurrentByteIndex
        if span := around.pop():
            is_end_tag = data.startswith(f"</{name}".encode(), place) and data[span.start :].find(b"<", 1) >= 0
            whole = whole_element(data, span.start, place)
            span.end = place if whole or not is_end_tag else data.index(b">", place) + 1

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.Parse(text, True)
    return found


def found_in(text: str) -> tuple[list[Span], Any]:
    """Return the elements, and the place of the error if there is one."""
    found: list[Span] = []
    try:
        assert find_elements(text, "Rs", found.append) == normalize_prologue(text).encode()
    except ExpatError as error:
        return found, (error.code, error.lineno, error.offset)
    return found, None


@given(
    text=documents(),
    prologue=st.sampled_from(
        [
            "",
            '<?xml version="1.0"?>',
            "\n<?xml version='1.0'?><!-- <ARs> -->",
            '<?xml version="1.0" encoding="utf-16"?>',
        ]
    ),
    crowd=st.sampled_from(["", "<!-- " + "<ARs " * (MAX_TAGS + 1) + "-->", " xmlns "]),
)
def test_the_same_elements_are_found_at_the_same_places(text: str, prologue: str, crowd: str) -> None:
    """Also if there are too many tags to divide the text, or `xmlns` is in it."""
    document = f"{prologue}<QBXML>{crowd}{text}</QBXML>"

    found, error = found_in(document)

    assert error is None
    assert found == expected(document)
    data = normalize_prologue(document).encode()
    for span in found:
        assert data.startswith(b"<", span.start)
        assert data.endswith(b">", span.start, span.end)


@given(text=documents(), end=st.integers(0, 400))
def test_a_document_that_ends_early_has_the_elements_up_to_there_and_the_same_error(text: str, end: int) -> None:
    document = f"<QBXML>{text}</QBXML>"[:end]
    found, error = found_in(document)

    parser = defused_parser()
    before: list[str] = []
    parser.StartElementHandler = lambda name, _: before.append(name)
    former = None
    try:
        parser.Parse(document, True)
    except ExpatError as problem:
        former = problem.code, problem.lineno, problem.offset
    assert error == former
    assert [span.name for span in found] == [name for name in before if name.endswith("Rs")]


@pytest.mark.parametrize("text", ["<ARs>\ud800</ARs>", "<!DOCTYPE ARs><ARs/>", "<ARs xmlns='a'/>"])
def test_a_text_that_no_parser_takes_is_refused(text: str) -> None:
    with pytest.raises(XML_ERRORS):
        find_elements(text, "Rs", lambda _: None)
