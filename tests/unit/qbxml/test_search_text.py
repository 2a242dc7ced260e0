"""The text that a search covers."""

from __future__ import annotations

import re
from contextlib import suppress
from xml.etree.ElementTree import Element, SubElement
from xml.parsers.expat import ExpatError

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.qbxml import Request, parse_request_xml, search_text
from domain.qbxml.schema.facts import request_names
from domain.qbxml.xml.parser import defused_parser
from domain.whole_values import MatchedAs, marked
from tests.support.cases import for_each
from tests.support.qbxml_samples import STATUS_OK, request_xml, response_xml

REQUEST = parse_request_xml(
    request_xml('<CustomerQueryRq requestID="my label"><FullName>Ann &amp; Bob</FullName></CustomerQueryRq>')
)


def name(text: str) -> str:
    """Return the line for the name of a customer or vendor."""
    return marked(MatchedAs.NAME, text)


def test_a_request_is_searched_by_name_label_and_texts() -> None:
    assert search_text(REQUEST).split("\n") == ["CustomerQueryRq", "Customer Query", "my label", name("Ann & Bob")]


@for_each("name", sorted(request_names()))
def test_a_request_is_searched_by_the_words_of_its_name(name: str) -> None:
    _, words, *_ = search_text(Request("16.0", "stopOnError", Element(name))).split("\n")

    assert words.replace(" ", "") == name.removesuffix("Rq")
    assert all(re.fullmatch("[A-Z0-9]+[a-z]*|[A-Z]*[A-Z][a-z]+[0-9]*", word) for word in words.split()), words


def test_a_response_is_searched_by_names_ids_and_messages() -> None:
    body = (
        "<CustomerRet>\n<ListID>8-1</ListID>\n<Name>Cy</Name>\n<Balance>1.00</Balance>\n"
        "<RefNumber>17</RefNumber>\n</CustomerRet>"
    )

    lines = search_text(REQUEST, response_xml(f"<CustomerQueryRs {STATUS_OK}>{body}</CustomerQueryRs>")).split("\n")

    assert lines[4:] == ["Status OK", "8-1", name("Cy"), marked(MatchedAs.NUMBER, "17")]


def test_each_text_occurs_once() -> None:
    body = "<CustomerRet><Name>Ann &amp; Bob</Name><FullName>Cy</FullName><Name>Cy</Name></CustomerRet>"

    text = search_text(REQUEST, response_xml(f"<CustomerQueryRs>{body}</CustomerQueryRs>"))

    assert text.count("Cy") == 1
    assert text.count("Ann") == 1


def test_two_kib_of_a_response_are_searched() -> None:
    body = "".join(f"<CustomerRet><Name>{number:0100}é</Name></CustomerRet>" for number in range(1000))

    text = search_text(REQUEST, response_xml(f"<CustomerQueryRs>{body}</CustomerQueryRs>"))

    response_part = text.removeprefix(search_text(REQUEST)).strip("\n")
    assert 2000 < len(response_part.encode()) <= 2048


def test_a_long_message_may_fill_the_limit() -> None:
    text = search_text(
        REQUEST, response_xml(f'<CustomerQueryRs statusMessage="{"x" * 5000}"><Name>Cy</Name></CustomerQueryRs>')
    )

    assert "x" * 2048 in text
    assert "Cy" not in text


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("InvoiceAdd/CustomerRef/FullName", MatchedAs.NAME),
        ("BillAdd/VendorRef/FullName", MatchedAs.NAME),
        ("CheckAdd/PayeeEntityRef/FullName", MatchedAs.NAME),
        ("CustomerAdd/Name", MatchedAs.NAME),
        ("InvoiceAdd/RefNumber", MatchedAs.NUMBER),
        ("ReceivePaymentAdd/AppliedToTxnAdd/TxnID", MatchedAs.NUMBER),
        ("InvoiceAdd/CustomerMsgRef/FullName", None),
        ("CustomerAdd/CustomerTypeRef/FullName", None),
        ("CustomerAdd/ParentRef/FullName", None),
        ("InvoiceAdd/InvoiceLineAdd/ItemRef/FullName", None),
        ("InvoiceAdd/Memo", None),
    ],
)
def test_numbers_customers_and_vendors_are_whole_values(path: str, kind: MatchedAs | None) -> None:
    root, *_ = path.split("/")
    element = parent = Element(f"{root}Rq")
    for tag in path.split("/"):
        parent = SubElement(parent, tag)
    parent.text = "Cy  &amp; Co"
    request = Request("16.0", "stopOnError", element)

    assert search_text(request).split("\n")[-1] == (marked(kind, "Cy &amp; Co") if kind else "Cy &amp; Co")


@for_each("length", range(2040, 2052))
def test_the_beginning_of_a_value_is_not_marked(length: int) -> None:
    body = f"<CustomerQueryRs><CustomerRet><FullName>{'x' * length}</FullName></CustomerRet></CustomerQueryRs>"

    last = search_text(REQUEST, response_xml(body)).split("\n")[-1]

    assert last == (name("x" * length) if length < 2048 else "x" * 2047)


def test_the_texts_of_nested_elements_are_searched() -> None:
    invoice = "<InvoiceAdd><CustomerRef><FullName>Cy</FullName></CustomerRef><Memo/></InvoiceAdd>"

    assert search_text(parse_request_xml(request_xml(f"<InvoiceAddRq>{invoice}</InvoiceAddRq>"))) == (
        f"InvoiceAddRq\nInvoice Add\n{name('Cy')}"
    )


def test_a_malformed_response_is_searched_up_to_the_error() -> None:
    assert "Cy" in search_text(REQUEST, "<QBXML><QBXMLMsgsRs><Name>Cy</Name>")


# --- The texts of a response are those that a parser finds one after the other


def searched_one_by_one(text: str) -> list[str]:
    """Return the lines of a response as its elements begin and end, up to an error."""
    lines: list[str] = []
    parts: list[str] = []
    path = [""]

    def start(name: str, attributes: dict[str, str]) -> None:
        lines.append(" ".join(attributes.get("statusMessage", "").split()))
        path.append(name)
        parts.clear()

    def end(name: str) -> None:
        path.pop()
        own, kind = "".join(parts), None
        parts.clear()
        if name in {"RefNumber", "TxnID"}:
            kind = MatchedAs.NUMBER
        elif name in {"FullName", "Name"} and path[-1] in {"CustomerRef", "VendorRet"}:
            kind = MatchedAs.NAME
        if name.endswith(("Name", "ID", "Number")):
            lines.append(marked(kind, own) if kind else " ".join(own.split()))

    parser = defused_parser()
    parser.StartElementHandler, parser.EndElementHandler, parser.CharacterDataHandler = start, end, parts.append
    with suppress(ExpatError):
        parser.Parse(text, True)
    return list(filter(None, dict.fromkeys(lines)))


PARENTS = st.sampled_from(["CustomerRef", "VendorRet", "ItemRef", "DataExtName", "ParentID"])
TEXTS = st.sampled_from(
    ["", "", " \n", "Cy", "Cy  &amp; Co", "&#233;", "a<!-- b -->c", "<![CDATA[<Name>]]>", "<?d e?>f"]
)
LEAVES = st.sampled_from(["FullName", "Name", "ListID", "RefNumber", "TxnID", "Memo", "p:Name", "xml:ID"])
MESSAGES = st.sampled_from(["", "", ' statusMessage="Found  nothing"', ' statusMessage=""', ' other="Cy"'])


@st.composite
def elements(draw: st.DrawFn, depth: int = 0) -> str:
    """Return an element with texts and elements in it."""
    if depth == 4 or draw(st.booleans()):
        name, content = draw(LEAVES), draw(TEXTS)
    else:
        name, content = draw(PARENTS), "".join(draw(st.lists(st.one_of(TEXTS, elements(depth + 1)), max_size=4)))
    return f"<{name}{draw(MESSAGES)}>{content}</{name}>"


@given(found=st.lists(elements(), max_size=4), levels=st.sampled_from([0, 0, 0, 900, 3_000]), data=st.data())
def test_the_texts_of_a_response_are_those_of_its_elements_one_by_one(
    found: list[str], levels: int, data: st.DataObject
) -> None:
    """Also if it is nested deeply, ends early, or its prefixes have no namespaces."""
    whole = "<A>" * levels + f"<QBXML>{''.join(found)}</QBXML>" + "</A>" * levels
    text = whole[: data.draw(st.one_of(st.just(len(whole)), st.integers(1, len(whole))))]

    lines = search_text(Request("16.0", "stopOnError", Element("Rq")), text).split("\n")

    assert lines[1:] == searched_one_by_one(text)
