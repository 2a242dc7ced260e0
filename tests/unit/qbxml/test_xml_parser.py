"""Both XML parsers reject DTDs, namespaces and crowded documents, and agree on every text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from xml.parsers.expat import ExpatError

import pytest
from defusedxml.common import DefusedXmlException
from hypothesis import given
from hypothesis import strategies as st

from domain.errors import InvalidRequest
from domain.qbxml import (
    UnreadableResponse,
    parse_request_json,
    parse_request_xml,
    parse_response,
    response_to_json,
    stored_request,
)
from domain.qbxml.xml import parser
from domain.qbxml.xml.parser import (
    FEW_ATTRIBUTES,
    MAX_ATTRIBUTES_OF_ELEMENT,
    XML_ERRORS,
    TooComplex,
    defused_tree,
    parse_tree,
)
from tests.support.cases import for_each
from tests.support.qbxml_samples import request_xml, response_xml

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.system  # expat is the system's

BOMB = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 10))
BODY = request_xml("<CustomerQueryRq><FullName>&e;</FullName></CustomerQueryRq>")

ATTACKS = {
    "billion laughs": f'<!DOCTYPE QBXML [<!ENTITY e0 "ha">{BOMB}]>{BODY.replace("&e;", "&e9;")}',
    "quadratic blow-up": f'<!DOCTYPE QBXML [<!ENTITY e "{"a" * 1000}">]>{BODY.replace("&e;", "&e;" * 100)}',
    "external entity": f'<!DOCTYPE QBXML [<!ENTITY e SYSTEM "file:///etc/passwd">]>{BODY}',
    "external entity on the network": f'<!DOCTYPE QBXML [<!ENTITY e PUBLIC "e" "http://example.com/e">]>{BODY}',
    "parameter entity": f'<!DOCTYPE QBXML [<!ENTITY % p SYSTEM "http://example.com/p"> %p;]>{BODY}',
    "external subset": f'<!DOCTYPE QBXML SYSTEM "http://example.com/a.dtd">{BODY}',
    "attribute default": f'<!DOCTYPE QBXML [<!ATTLIST QBXML a CDATA "b">]>{BODY.replace("&e;", "e")}',
    "only a doctype": f"<!DOCTYPE QBXML>{BODY.replace('&e;', 'e')}",
    "after a comment": f'<!-- a --><!DOCTYPE QBXML [<!ENTITY e "f">]>{BODY}',
    "after a declaration": f'<?xml version="1.0" standalone="no"?><!DOCTYPE QBXML [<!ENTITY e "f">]>{BODY}',
    "after a byte order mark": f'\N{BOM}\n <?xml version="1.0"?>\n<!DOCTYPE QBXML [<!ENTITY e "f">]>{BODY}',
}

ENCODINGS = ["utf-16", "utf-16le", "utf-7", "utf-32", "iso-8859-1", "us-ascii", "cp037", "none-such"]
DISGUISED = {
    "utf-7": "+ADwAIQ-DOCTYPE QBXML [+ADwAIQ-ENTITY e 'f'+AD4-]+AD4-",
    "escaped": "&lt;!DOCTYPE QBXML [&lt;!ENTITY e 'f'>]>",
    "as decimal references": "&#60;!DOCTYPE QBXML [&#60;!ENTITY e 'f'>]>",
    "as hexadecimal references": "&#x3C;&#x21;DOCTYPE QBXML [&#x3C;!ENTITY e 'f'>]>",
    "full-width characters": "＜！DOCTYPE QBXML [＜！ENTITY e 'f'>]>",  # noqa: RUF001 - lookalikes
    "as utf-16": "<\0!\0D\0O\0C\0T\0Y\0P\0E\0 \0Q\0B\0X\0M\0L\0>\0",
    "in a processing instruction": "<?qbxml <!DOCTYPE QBXML [<!ENTITY e 'f'>]>?>",
}


@pytest.mark.parametrize("text", ATTACKS.values(), ids=list(ATTACKS))
def test_any_doctype_is_rejected_by_defusedxml(text: str) -> None:
    for read in (parse_tree, defused_tree):
        with pytest.raises(DefusedXmlException):
            read(text)
    for validate in (True, False):
        with pytest.raises(InvalidRequest, match="DOCTYPE declarations and entities are not allowed"):
            parse_request_xml(text, validate=validate)
    with pytest.raises(InvalidRequest, match="DOCTYPE"):
        stored_request(text, "13.0")
    with pytest.raises(UnreadableResponse, match="DOCTYPE"):
        response_to_json(text)


@for_each("encoding", ENCODINGS)
@for_each("text", ATTACKS.values())
def test_no_declared_encoding_hides_a_doctype(text: str, encoding: str) -> None:
    document = f'<?xml version="1.0" encoding="{encoding}"?>{text[text.index("<!") :]}'

    with pytest.raises(DefusedXmlException):
        parse_tree(document)


@for_each("encoding", ENCODINGS)
@for_each("doctype", DISGUISED.values())
def test_a_disguised_doctype_declares_nothing(doctype: str, encoding: str) -> None:
    for prologue in ("", f'<?xml version="1.0" encoding="{encoding}"?>'):
        text = f"{prologue}{doctype}{BODY}"

        with pytest.raises((ExpatError, DefusedXmlException)):
            parse_tree(text)
        with pytest.raises(InvalidRequest):
            parse_request_xml(text)


def test_an_undeclared_entity_is_rejected() -> None:
    with pytest.raises(ExpatError, match="undefined entity"):
        parse_tree(BODY)
    with pytest.raises(InvalidRequest, match="undefined entity"):
        parse_request_xml(BODY)


def test_the_five_entities_of_xml_are_read() -> None:
    assert parse_tree("<a>&lt;&gt;&amp;&quot;&apos;</a>").text == "<>&\"'"


@given(st.text("<>/?![]-&;#x\"'= \n\x00\x0bABDOCTYPENTITYSé\ud800\ufffe") | st.text())
def test_both_parsers_agree_on_any_text(text: str) -> None:
    for whole in (text, f"<A>{text}</A>", f"<A b='{text}'/>", f'{text}<?xml version="1.0"?><A/>', f"<A/>{text}"):
        assert outcome(parse_tree, whole) == outcome(defused_tree, whole)


NAMESPACES = ['xmlns="u"', 'xmlns=""', 'xmlns:p="u"', 'xmlns:p = "u"', "xmlns='u' a='b'", 'a="b"\nxmlns:p="u"']


@for_each("declaration", NAMESPACES)
@for_each("place", ["<QBXML", "<QBXMLMsgsRq", "<CustomerQueryRq", "<FullName"])
def test_a_declared_namespace_is_refused_on_every_element(declaration: str, place: str) -> None:
    text = BODY.replace("&e;", "Ann").replace(place, f"{place} {declaration}")
    for read in (parse_tree, defused_tree):
        with pytest.raises(TooComplex, match="namespace"):
            read(text)
    for validate in (True, False):
        with pytest.raises(InvalidRequest, match="QBXML does not use XML namespaces") as caught:
            parse_request_xml(text, validate=validate)
        assert caught.value.problems[0].line is not None
    with pytest.raises(UnreadableResponse, match="namespace"):
        response_to_json(text)


@pytest.mark.parametrize("name", ["p:FullName", "xml:FullName", "xmlns:FullName", ":FullName", "FullName:p"])
def test_a_prefix_is_refused_in_a_request(name: str) -> None:
    text = BODY.replace("&e;", "Ann").replace("FullName", name)

    for validate in (True, False):
        with pytest.raises(InvalidRequest, match="QBXML does not use XML namespaces"):
            parse_request_xml(text, validate=validate)


@pytest.mark.parametrize(
    "text",
    [
        'xmlns="x"',
        "xmlns:p='x' xml:lang",
        "<![CDATA[<a xmlns='x'>]]>",
        "<!-- <a xmlns='x'/> -->",
        "&lt;a xmlns='x'&gt;",
    ],
)
def test_the_word_xmlns_is_legal_in_texts_and_comments(text: str) -> None:
    body = request_xml(
        f"<CustomerAddRq><CustomerAdd><Name>Ann</Name><Notes>{text}</Notes></CustomerAdd></CustomerAddRq>"
    )

    request = parse_request_xml(body)

    assert stored_request(request.to_xml(), "13.0").to_xml() == request.to_xml()
    assert response_to_json(body.replace("MsgsRq", "MsgsRs"))


def test_xmlns_is_refused_as_an_attribute_in_json() -> None:
    tree = {"request": {"name": "CustomerQueryRq", "attributes": {"xmlns": "x"}}}

    for validate in (True, False):
        with pytest.raises(InvalidRequest):
            parse_request_json(tree, validate=validate)


def test_a_response_may_have_as_many_elements_as_fit_into_a_call() -> None:
    row = '<DataRow rowNumber="1"><ColData colID="1" value="Ann"/></DataRow>'
    text = response_xml(f'<CustomerQueryRs statusCode="0">{row * 90_000}</CustomerQueryRs>')

    (message_sets,) = response_to_json(text)

    assert len(message_sets["QBXMLMsgsRs"]["CustomerQueryRs"]["DataRow"]) == 90_000


FEW = 1_000
"""Limit of the elements, and of the attributes, in these tests. The real ones take seconds to reach."""

CROWDS = {
    "elements": "<A/>" * (FEW + 1),
    "open elements": "<A>" * (FEW + 1),
    "elements in a document with a comment": "<!---->" + "<A/>" * (FEW + 1),
    "attributes": "<A b='' c='' d=''/>" * (FEW // 3 + 1),
    "attributes of an element": "<A" + "".join(f" a{n}=''" for n in range(MAX_ATTRIBUTES_OF_ELEMENT + 1)) + "/>",
}


@pytest.mark.parametrize("crowd", CROWDS.values(), ids=list(CROWDS))
def test_the_elements_and_attributes_of_a_document_are_limited(crowd: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parser, "MAX_ELEMENTS", FEW)
    monkeypatch.setattr(parser, "MAX_ATTRIBUTES", FEW)
    text = response_xml(crowd)
    for read in (parse_tree, defused_tree):
        with pytest.raises(TooComplex, match="more than"):
            read(text)


@given(tags=st.lists(st.sampled_from(["<A>", "<A/>", "</A>", "<AnElement/>", "text"]), max_size=60))
def test_a_count_of_a_part_finds_few_elements_only_if_there_are_few(tags: list[str]) -> None:
    text = "".join(tags)
    elements = sum(tag.startswith("<A") for tag in tags)
    with pytest.MonkeyPatch.context() as patch:
        for most in range(1, 61):
            patch.setattr(parser, "MAX_ELEMENTS", most)
            assert parser._has_few_elements(text) == (elements <= most) or elements <= text.count("<") <= most  # noqa: SLF001


@given(
    before=st.sampled_from(["<A/>", "<A a='' b = \"x=y\"/>", "a=b", "xmlns"]),
    place=st.sampled_from([*range(12), FEW_ATTRIBUTES - 1, FEW_ATTRIBUTES, FEW_ATTRIBUTES + 1]),
    declaration=st.sampled_from(["xmlns='u'", "xmlns:p = 'u'", "b='=' xmlns='u'"]),
)
def test_a_response_that_declares_a_namespace_is_unreadable_wherever_it_does(
    before: str, place: int, declaration: str
) -> None:
    text = response_xml(f"{before * place}<CustomerQueryRs statusCode='0' {declaration}/>{before}")

    with pytest.raises(UnreadableResponse, match="namespace"):
        parse_response(text)


def test_a_response_beyond_these_limits_is_unreadable() -> None:
    text = response_xml(CROWDS["attributes of an element"])
    with pytest.raises(UnreadableResponse, match="more than"):
        parse_response(text)
    with pytest.raises(UnreadableResponse, match="more than"):
        response_to_json(text)


def outcome(read: Callable[[str], Any], text: str) -> Any:
    """Return the content of the nodes, or the type of the error."""
    try:
        return [(node.tag, node.attrib, node.text, node.tail) for node in read(text).iter()]
    except XML_ERRORS as error:
        return type(error)
