"""What is read from a request's XML, and what is refused with its place."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain import qbxml
from domain.errors import InvalidRequest, Problem
from domain.qbxml.request.document import Element
from domain.qbxml.request.placed_reader import read_with_places
from domain.qbxml.request.quick_reader import read_fitting, read_quickly
from tests.support.qbxml_samples import request_xml, requests

if TYPE_CHECKING:
    from domain.qbxml import Request

# These rules hold before any schema; the names in the requests are made up.
parse_request_xml = partial(qbxml.parse_request_xml, validate=False)


def problem_of(text: str) -> Problem:
    with pytest.raises(InvalidRequest) as raised:
        parse_request_xml(text)
    (problem,) = raised.value.problems
    assert problem.field == "request_xml"
    return problem


def test_a_request_is_read_with_its_version_its_rule_and_its_label() -> None:
    request = parse_request_xml(
        '<?xml version="1.0" encoding="utf-8"?>\n<?qbxml version="13.0"?>\n'
        + request_xml('<CustomerQueryRq requestID="7"><MaxReturned>5</MaxReturned></CustomerQueryRq>')
    )

    assert (request.version, request.on_error, request.name) == ("13.0", "stopOnError", "CustomerQueryRq")
    assert request.request_id == "7"
    assert request.is_read


@pytest.mark.parametrize("version", ["2.1", "16.0", "CA3.0", "UK2.0"])
def test_the_version_instruction_is_honoured(version: str) -> None:
    text = f"<?qbxml version='{version}'?>{request_xml('<HostQueryRq/>')}"

    assert parse_request_xml(text, "8.0").version == version


def test_without_a_version_instruction_the_default_holds() -> None:
    text = request_xml("<HostQueryRq/>")

    assert parse_request_xml(text).version == "13.0"
    assert parse_request_xml(text, "8.0").version == "8.0"


def test_on_error_defaults_to_stopping() -> None:
    assert parse_request_xml(request_xml("<HostQueryRq/>", "")).on_error == "stopOnError"


def test_a_byte_order_mark_is_no_content() -> None:
    assert parse_request_xml("\ufeff" + request_xml("<HostQueryRq/>")).name == "HostQueryRq"


def test_white_space_before_the_declaration_is_no_harm_and_moves_no_place() -> None:
    prologue = '\n  <?xml version="1.0"\n encoding="utf-8"?>\n'

    assert parse_request_xml(prologue + request_xml("<HostQueryRq/>")).name == "HostQueryRq"
    assert problem_of(f"{prologue}<QBXML>&nbsp;</QBXML>").line == 4


def test_a_declared_encoding_means_nothing_in_a_text_that_is_already_decoded() -> None:
    text = '<?xml version="1.0" encoding="utf-16"?>' + request_xml("<AddRq><Name>Zoë</Name></AddRq>")

    assert parse_request_xml(text).element.children[0].text == "Zoë"


def test_comments_and_white_space_between_elements_are_dropped_and_text_is_kept_exactly() -> None:
    request = parse_request_xml(
        request_xml("\n <!-- which? -->\n <ThingAddRq>\n  <Memo> two  words\n</Memo>\n  <Empty/>\n </ThingAddRq>\n")
    )

    memo, empty = request.element.children
    assert memo.text == " two  words\n"
    assert (empty.text, empty.children) == (None, ())


def test_cdata_and_numeric_references_are_text() -> None:
    request = parse_request_xml(request_xml("<ThingAddRq><Memo><![CDATA[<a> & ]]>&#233;&#xE9;</Memo></ThingAddRq>"))

    assert request.element.children[0].text == "<a> & éé"


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("", 1, 1),
        ("no XML", 1, 1),
        ("<QBXML>\n<QBXMLMsgsRq", 2, 1),
        ("<QBXML>\n  <QBXMLMsgsRq></QBXML>", 2, 18),
        ('<QBXML a="1" a="2"/>', 1, 14),
        ("<QBXML/><QBXML/>", 1, 9),
        ("<QBXML>\n&nbsp;</QBXML>", 2, 1),
        ("<QBXML>&#31;</QBXML>", 1, 8),
        ("<QBXML>\x01</QBXML>", 1, 8),
    ],
)
def test_malformed_xml_is_refused_with_line_and_column(text: str, line: int, column: int) -> None:
    problem = problem_of(text)

    assert problem.message.startswith("The XML is malformed")
    assert (problem.line, problem.column) == (line, column)


@pytest.mark.parametrize(
    "doctype",
    [
        "<!DOCTYPE QBXML>",
        '<!DOCTYPE QBXML SYSTEM "http://example.com/a.dtd">',
        '<!DOCTYPE QBXML [<!ENTITY a "b">]>',
        '<!DOCTYPE QBXML [<!ENTITY % a SYSTEM "file:///etc/passwd"> %a;]>',
        '<!DOCTYPE QBXML [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>',
    ],
)
def test_document_types_and_with_them_entities_are_refused(doctype: str) -> None:
    problem = problem_of(doctype + request_xml("<HostQueryRq/>"))

    assert "DOCTYPE" in problem.message
    assert problem.line == 1


def test_other_processing_instructions_are_refused() -> None:
    assert "'php'" in problem_of("<?php echo 1?>" + request_xml("<HostQueryRq/>")).message


@pytest.mark.parametrize("instruction", ['<?qbxml version="thirteen"?>', "<?qbxml?>", '<?qbxml version="13"?>'])
def test_a_version_that_is_none_is_refused(instruction: str) -> None:
    assert "version" in problem_of(instruction + request_xml("<HostQueryRq/>")).message


def test_the_version_stands_once_and_first() -> None:
    twice = '<?qbxml version="13.0"?>' * 2

    assert "once" in problem_of(twice + request_xml("<HostQueryRq/>")).message
    assert "before" in problem_of(request_xml('<?qbxml version="13.0"?><HostQueryRq/>')).message


@pytest.mark.parametrize(
    ("text", "message", "path"),
    [
        ("<HostQueryRq/>", "outermost element is QBXML", "HostQueryRq"),
        ("<QBXML><HostQueryRq/></QBXML>", "not HostQueryRq", "QBXML/HostQueryRq"),
        ("<QBXML/>", "exactly one QBXMLMsgsRq", "QBXML"),
        ("<QBXML><SignonMsgsRq/></QBXML>", "SignonMsgsRq", "QBXML/SignonMsgsRq"),
        ("<QBXML><QBXMLMsgsRq/><QBXMLMsgsRq/></QBXML>", "exactly one QBXMLMsgsRq", "QBXML"),
        (request_xml(""), "exactly one request; here are 0", "QBXML/QBXMLMsgsRq"),
        (request_xml("<HostQueryRq/><HostQueryRq/>"), "exactly one request; here are 2", "QBXML/QBXMLMsgsRq"),
        (request_xml("<CustomerQuery/>"), "ends in Rq", "CustomerQuery"),
        (request_xml("<HostQueryRq>text</HostQueryRq>"), "holds elements", "HostQueryRq"),
        (request_xml("text"), "not text", "QBXML/QBXMLMsgsRq"),
        ("<QBXML>text</QBXML>", "neither attributes nor text", "QBXML"),
        (request_xml("<HostQueryRq/>", ' onError="stop"'), "one of stopOnError", "QBXML/QBXMLMsgsRq/@onError"),
        (request_xml("<HostQueryRq/>", ' responseData="x"'), "includeAll", "QBXML/QBXMLMsgsRq/@responseData"),
        (request_xml("<HostQueryRq/>", ' onerror="x"'), "no attribute onerror", "QBXML/QBXMLMsgsRq/@onerror"),
    ],
)
def test_anything_but_one_request_in_its_envelope_is_refused(text: str, message: str, path: str) -> None:
    problem = problem_of(text)

    assert message in problem.message
    assert problem.path == path


@pytest.mark.parametrize("attribute", ["newMessageSetID", "oldMessageSetID"])
def test_message_set_ids_belong_to_the_service(attribute: str) -> None:
    problem = problem_of(request_xml("<HostQueryRq/>", f' {attribute}="0123"'))

    assert problem.message.startswith(f"{attribute} is set by this service")


def test_a_request_id_has_50_characters_at_most() -> None:
    assert parse_request_xml(request_xml(f'<HostQueryRq requestID="{"x" * 50}"/>')).request_id == "x" * 50
    assert problem_of(request_xml(f'<HostQueryRq requestID="{"x" * 51}"/>')).path == "HostQueryRq/@requestID"


def test_elements_nest_20_deep_at_most() -> None:
    deep = "<A>" * 19 + "</A>" * 19

    assert parse_request_xml(request_xml(f"<ThingAddRq>{deep}</ThingAddRq>")).name == "ThingAddRq"
    assert "20 deep" in problem_of(request_xml(f"<ThingAddRq><A>{deep}</A></ThingAddRq>")).message


@pytest.mark.parametrize("body", ["<A>text<B/></A>", "<A><B/>text</A>", "<A><B/>text<B/></A>"])
def test_text_beside_elements_is_refused_with_its_place(body: str) -> None:
    problem = problem_of(request_xml(f"<ThingAddRq>\n{body}</ThingAddRq>"))

    assert "'text'" in problem.message
    assert problem.path == "QBXML/QBXMLMsgsRq/ThingAddRq/A"
    assert problem.line == 2


@pytest.mark.parametrize("body", ["<A>&#127;</A>", "<A>\x85</A>", '<A b="&#x80;"/>'])
def test_control_characters_are_refused(body: str) -> None:
    assert "control character" in problem_of(request_xml(f"<ThingAddRq>{body}</ThingAddRq>")).message


def test_half_a_surrogate_pair_is_refused_with_its_place() -> None:
    problem = problem_of("<QBXML>\n \ud800</QBXML>")

    assert (problem.line, problem.column) == (2, 2)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('<QBXML xmlns="urn:x"/>', "namespaces"),
        ('<q:QBXML xmlns:q="urn:x"/>', "namespaces"),
        (request_xml("<Größe/>"), "no QBXML name"),
        (request_xml('<AddRq größe="1"/>'), "no QBXML name"),
    ],
)
def test_names_that_qbxml_cannot_have_are_refused(text: str, message: str) -> None:
    assert message in problem_of(text).message


@given(requests)
def test_a_request_is_the_same_read_quickly_and_with_places(request: Request) -> None:
    text = f'<?qbxml version="{request.version}"?>\n{request.to_xml()}'
    spaced = text.replace("><", ">\n<!-- --><")

    for each in (text, spaced):
        assert read_quickly(each) in (read_with_places(each, "request_xml"), None)


def test_a_plain_request_is_read_quickly() -> None:
    text = '<?xml version="1.0"?>\n<?qbxml version="13.0"?>\n' + request_xml(
        "<ThingAddRq>\n<Name>Zoë</Name>\n</ThingAddRq>"
    )

    assert read_quickly(text) == read_with_places(text, "request_xml")


FITTING = request_xml(
    '\n<InvoiceAddRq requestID="7">\n <InvoiceAdd>\n  <CustomerRef><FullName>Ann</FullName></CustomerRef>\n'
    "  <Memo/>\n  <InvoiceLineAdd><Desc>a &amp; b</Desc><Amount>9.50</Amount></InvoiceLineAdd>\n"
    " </InvoiceAdd>\n</InvoiceAddRq>\n"
)


@pytest.mark.parametrize(
    "text",
    [
        FITTING,
        f'<?qbxml version="8.0"?>{FITTING}',
        FITTING.replace("Ann", "Zoë"),
        FITTING.replace("<Memo/>", "<!-- none --><Memo><![CDATA[ < ]]></Memo>"),
        request_xml("<HostQueryRq>\n</HostQueryRq>"),
    ],
)
def test_a_request_that_fits_the_schema_is_the_same_however_it_is_read(text: str) -> None:
    fitting = read_fitting(text, "13.0")

    assert fitting is not None
    assert fitting == read_quickly(text) == read_with_places(text, "request_xml")
    assert read_with_places(text, "request_xml") == fitting


def test_the_children_of_a_request_that_fits_are_a_sequence_like_any_other() -> None:
    invoice = parse_request_xml(FITTING).element
    again = parse_request_xml(FITTING).element
    other = parse_request_xml(FITTING.replace("Ann", "Bob")).element

    assert (invoice == again, invoice == other) == (True, False)
    assert len(invoice.children) == 1
    assert invoice.children[0].children[0].children[0].text == "Ann"
    assert [child.name for child in invoice.children[:1]] == ["InvoiceAdd"]
    assert invoice.children[0].child("Memo") == Element("Memo")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("<Amount>9.50<", "<Amount>9.5<"),
        ("<Desc>a", f"<Desc>{'a' * 5000}"),
        ("<Memo/>", "<Memo><FullName>a</FullName></Memo>"),
        ("<Memo/>", '<Memo colour="red"/>'),
        ("<Memo/>", "<Colour/>"),
        ("<Memo/>", "text"),
        ("<CustomerRef>", "<CustomerRef>text"),
        ("<InvoiceAddRq requestID", "<InvoiceAddRq iterator"),
        ("<CustomerRef><FullName>Ann</FullName></CustomerRef>", ""),
        ("<InvoiceAdd>", "<InvoiceAdd/><InvoiceAdd>"),
        ("<QBXMLMsgsRq ", "text<QBXMLMsgsRq "),
        ("<QBXML>", '<QBXML xmlns="urn:x">'),
        ("Ann", "<?php?>"),
        ("Ann", "&#65;"),
        ("Ann", "\x85"),
        ("Ann", "\ud800"),
        ("InvoiceAddRq", "CustomerAdd"),
        ("InvoiceAddRq", "ThingAddRq"),
    ],
)
def test_what_may_not_fit_is_left_to_the_reader_that_knows_places(old: str, new: str) -> None:
    assert read_fitting(FITTING, "13.0") is not None
    assert read_fitting(FITTING.replace(old, new), "13.0") is None


def test_a_request_fits_the_version_that_it_names() -> None:
    text = request_xml('<CustomerQueryRq iterator="Start"><MaxReturned>1</MaxReturned></CustomerQueryRq>')
    transfer = request_xml("<TransferQueryRq/>")

    assert read_fitting(text, "5.0") is not None
    assert read_fitting(text, "4.0") is None
    assert read_fitting(f'<?qbxml version="4.0"?>{text}', "13.0") is None
    assert read_fitting(transfer, "11.0") is None


@given(st.text() | st.text("<>/?!&;#x\"'= \nABab[]-"))
def test_no_text_raises_anything_else(text: str) -> None:
    inside = request_xml(f"<ThingAddRq>{text}</ThingAddRq>")
    for given_text in (text, inside, f'<?qbxml version="13.0"?>{text}', f'{text}<?qbxml version="13.0"?><A/>{text}'):
        with suppress(InvalidRequest):
            qbxml.parse_request_xml(given_text)
