"""Requests and responses for tests, and strategies that generate requests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from xml.etree.ElementTree import Element

import pytest
from hypothesis import strategies as st

from domain.errors import InvalidRequest
from domain.qbxml import Request

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from domain.errors import Problem


def request_xml(body: str, attributes: str = ' onError="stopOnError"') -> str:
    """Return `body` in an envelope, without a prologue."""
    return f"<QBXML><QBXMLMsgsRq{attributes}>{body}</QBXMLMsgsRq></QBXML>"


def response_xml(body: str, attributes: str = "") -> str:
    """Return `body` in an envelope, as QuickBooks writes it."""
    return f'<?xml version="1.0" ?>\n<QBXML>\n<QBXMLMsgsRs{attributes}>\n{body}\n</QBXMLMsgsRs>\n</QBXML>\n'


def element(
    name: str, attributes: Mapping[str, str], children: Sequence[Element] = (), text: str | None = None
) -> Element:
    """Return an element with either children or text."""
    new_element = Element(name, dict(attributes))
    new_element.extend(children)
    new_element.text = text or None
    return new_element


def content_of(element: Element) -> tuple[Any, ...]:
    """Return names, attributes and texts for comparisons, without the white space between elements."""
    text = None if len(element) and not (element.text or "").strip() else element.text
    return element.tag, element.attrib, text, [content_of(child) for child in element]


def parts_of(request: Request) -> tuple[Any, ...]:
    """Return everything that two equal requests have in common."""
    return request.version, request.on_error, request.response_data, content_of(request.element)


STATUS_OK = 'statusCode="0" statusSeverity="Info" statusMessage="Status OK"'

names = st.from_regex(r"[A-Z][A-Za-z0-9]{0,8}", fullmatch=True)

_CONTROLS = [*map(chr, range(0x20)), *map(chr, range(0x7F, 0xA0))]
_MARKUP = st.sampled_from("\t\n\r&<>\"']")

texts = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters=[*_CONTROLS, "\ufffe", "\uffff"]) | _MARKUP,
    max_size=12,
)
kept_texts = st.text(st.characters(codec="cp1252", exclude_characters=_CONTROLS) | _MARKUP, max_size=12)
"""Texts that QuickBooks can store."""


def requests_with(texts: st.SearchStrategy[str]) -> st.SearchStrategy[Request]:
    """Return requests of invented types. The schema does not contain them, so their children keep their order."""
    attributes = st.dictionaries(names, texts, max_size=2)
    leaves = st.builds(lambda name, values, text: element(name, values, text=text), names, attributes, texts)
    nodes = st.recursive(
        leaves,
        lambda nodes: st.builds(
            element,
            names,
            attributes,
            st.lists(nodes, max_size=3),
        ),
        max_leaves=12,
    )
    return st.builds(
        lambda name, values, children, version, on_error: Request(
            version, on_error, element(f"{name}Rq", values, children)
        ),
        names,
        attributes,
        st.lists(nodes, max_size=4),
        st.sampled_from(["2.0", "13.0", "16.0", "CA3.0"]),
        st.sampled_from(["stopOnError", "continueOnError", "rollbackOnError"]),
    )


requests = requests_with(texts)


def only_problem(parse: Callable[..., object], *arguments: Any, **options: Any) -> Problem:
    """Return the problem of a call that raises InvalidRequest with a single problem."""
    with pytest.raises(InvalidRequest) as caught:
        parse(*arguments, **options)
    (problem,) = caught.value.problems
    return problem
