"""Reading a request from XML: accepted forms, and the locations of errors."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain import qbxml
from domain.errors import InvalidRequest, Problem
from domain.qbxml.request.from_xml import read_valid_xml_fast, read_xml_fast
from domain.qbxml.request.problems import Source
from domain.qbxml.request.xml_reader import read_xml
from tests.support.cases import for_each
from tests.support.qbxml_samples import content_of, only_problem, request_xml, requests

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from domain.qbxml import Request

# These rules do not depend on the schema; the names in the requests are invented.
parse_request_xml = partial(qbxml.parse_request_xml, validate=False)


def problem_of(text: str) -> Problem:
    problem = only_problem(parse_request_xml, text)
    assert problem.field == "request_xml"
    return problem


def test_version_on_error_and_label_are_read() -> None:
    request = parse_request_xml(
        '<?xml version="1.0" encoding="utf-8"?>\n<?qbxml version="13.0"?>\n'
        + request_xml('<CustomerQueryRq requestID="7"><MaxReturned>5</MaxReturned></CustomerQueryRq>')
    )

    assert (request.version, request.on_error, request.name) == ("13.0", "stopOnError", "CustomerQueryRq")
    assert request.request_label == "7"
    assert request.is_read


@pytest.mark.parametrize("version", ["2.1", "16.0", "CA3.0", "UK2.0"])
def test_the_version_instruction_decides(version: str) -> None:
    text = f"<?qbxml version='{version}'?>{request_xml('<HostQueryRq/>')}"

    assert parse_request_xml(text, "8.0").version == version


def test_the_default_version_applies_without_an_instruction() -> None:
    text = request_xml("<HostQueryRq/>")

    assert parse_request_xml(text).version == "13.0"
    assert parse_request_xml(text, "8.0").version == "8.0"


def test_on_error_defaults_to_stop_on_error() -> None:
    assert parse_request_xml(request_xml("<HostQueryRq/>", "")).on_error == "stopOnError"


def test_a_byte_order_mark_is_ignored() -> None:
    assert parse_request_xml("\ufeff" + request_xml("<HostQueryRq/>")).name == "HostQueryRq"


def test_white_space_before_the_declaration_is_ignored_and_keeps_line_numbers() -> None:
    prologue = '\n  <?xml version="1.0"\n encoding="utf-8"?>\n'

    assert parse_request_xml(prologue + request_xml("<HostQueryRq/>")).name == "HostQueryRq"
    assert problem_of(f"{prologue}<QBXML>&nbsp;</QBXML>").line == 4


def test_a_declared_encoding_is_ignored() -> None:
    text = '<?xml version="1.0" encoding="utf-16"?>' + request_xml("<AddRq><Name>Zoë</Name></AddRq>")

    assert parse_request_xml(text).element[0].text == "Zoë"


def test_comments_and_white_space_between_elements_are_dropped_and_text_is_kept() -> None:
    request = parse_request_xml(
        request_xml("\n <!-- which? -->\n <ThingAddRq>\n  <Memo> two  words\n</Memo>\n  <Empty/>\n </ThingAddRq>\n")
    )

    memo, empty = request.element
    assert memo.text == " two  words\n"
    assert (empty.text, len(empty)) == (None, 0)


def test_cdata_and_numeric_references_are_text() -> None:
    request = parse_request_xml(request_xml("<ThingAddRq><Memo><![CDATA[<a> & ]]>&#233;&#xE9;</Memo></ThingAddRq>"))

    assert request.element[0].text == "<a> & éé"


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
def test_malformed_xml_is_rejected_with_line_and_column(text: str, line: int, column: int) -> None:
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
def test_a_doctype_is_rejected(doctype: str) -> None:
    problem = problem_of(doctype + request_xml("<HostQueryRq/>"))

    assert "DOCTYPE" in problem.message
    assert problem.line == 1


def test_other_processing_instructions_are_rejected() -> None:
    assert "'php'" in problem_of("<?php echo 1?>" + request_xml("<HostQueryRq/>")).message


@pytest.mark.parametrize("instruction", ['<?qbxml version="thirteen"?>', "<?qbxml?>", '<?qbxml version="13"?>'])
def test_a_version_in_the_wrong_form_is_rejected(instruction: str) -> None:
    assert "version" in problem_of(instruction + request_xml("<HostQueryRq/>")).message


def test_the_version_instruction_may_occur_once_before_the_root() -> None:
    twice = '<?qbxml version="13.0"?>' * 2

    assert "once" in problem_of(twice + request_xml("<HostQueryRq/>")).message
    assert "before" in problem_of(request_xml('<?qbxml version="13.0"?><HostQueryRq/>')).message


@pytest.mark.parametrize(
    ("text", "message", "path"),
    [
        ("<HostQueryRq/>", "outermost element must be QBXML", "HostQueryRq"),
        ("<QBXML><HostQueryRq/></QBXML>", "not HostQueryRq", "QBXML/HostQueryRq"),
        ("<QBXML/>", "exactly one QBXMLMsgsRq", "QBXML"),
        ("<QBXML><SignonMsgsRq/></QBXML>", "SignonMsgsRq", "QBXML/SignonMsgsRq"),
        ("<QBXML><QBXMLMsgsRq/><QBXMLMsgsRq/></QBXML>", "exactly one QBXMLMsgsRq", "QBXML"),
        (request_xml(""), "exactly one request, not 0", "QBXML/QBXMLMsgsRq"),
        (request_xml("<HostQueryRq/><HostQueryRq/>"), "exactly one request, not 2", "QBXML/QBXMLMsgsRq"),
        (request_xml("<CustomerQuery/>"), "ends in Rq", "CustomerQuery"),
        (request_xml("<HostQueryRq>text</HostQueryRq>"), "must contain elements", "HostQueryRq"),
        (request_xml("text"), "not text", "QBXML/QBXMLMsgsRq"),
        ("<QBXML>text</QBXML>", "must not have attributes or text", "QBXML"),
        (request_xml("<HostQueryRq/>", ' onError="stop"'), "one of stopOnError", "QBXML/QBXMLMsgsRq/@onError"),
        (request_xml("<HostQueryRq/>", ' responseData="x"'), "includeAll", "QBXML/QBXMLMsgsRq/@responseData"),
        (request_xml("<HostQueryRq/>", ' onerror="x"'), "no attribute onerror", "QBXML/QBXMLMsgsRq/@onerror"),
    ],
)
def test_anything_but_one_request_in_its_envelope_is_rejected(text: str, message: str, path: str) -> None:
    problem = problem_of(text)

    assert message in problem.message
    assert problem.path == path


@pytest.mark.parametrize("attribute", ["newMessageSetID", "oldMessageSetID"])
def test_message_set_ids_are_reserved_for_the_service(attribute: str) -> None:
    problem = problem_of(request_xml("<HostQueryRq/>", f' {attribute}="0123"'))

    assert problem.message.startswith(f"Remove {attribute}: ")


def test_a_request_id_has_at_most_50_characters() -> None:
    assert parse_request_xml(request_xml(f'<HostQueryRq requestID="{"x" * 50}"/>')).request_label == "x" * 50
    assert problem_of(request_xml(f'<HostQueryRq requestID="{"x" * 51}"/>')).path == "HostQueryRq/@requestID"


def test_elements_may_be_nested_20_levels_deep() -> None:
    deep = "<A>" * 19 + "</A>" * 19

    assert parse_request_xml(request_xml(f"<ThingAddRq>{deep}</ThingAddRq>")).name == "ThingAddRq"
    assert "at most 20 levels" in problem_of(request_xml(f"<ThingAddRq><A>{deep}</A></ThingAddRq>")).message


def test_a_request_has_at_most_50_000_elements() -> None:
    listids = "<ListID>80000001-1</ListID>" * 49_997  # the envelope has two, and the request is one

    assert len(parse_request_xml(request_xml(f"<CustomerQueryRq>{listids}</CustomerQueryRq>")).element) == 49_997
    too_many = problem_of(request_xml(f"<CustomerQueryRq>{listids}<ListID/></CustomerQueryRq>"))
    assert too_many.message == "The request has more than 50,000 elements."


@pytest.mark.parametrize("body", ["<A>text<B/></A>", "<A><B/>text</A>", "<A><B/>text<B/></A>"])
def test_text_beside_elements_is_rejected_with_its_location(body: str) -> None:
    problem = problem_of(request_xml(f"<ThingAddRq>\n{body}</ThingAddRq>"))

    assert "'text'" in problem.message
    assert problem.path == "QBXML/QBXMLMsgsRq/ThingAddRq/A"
    assert problem.line == 2


@pytest.mark.parametrize("body", ["<A>&#127;</A>", "<A>\x85</A>", '<A b="&#x80;"/>'])
def test_control_characters_are_rejected(body: str) -> None:
    assert "does not allow the character" in problem_of(request_xml(f"<ThingAddRq>{body}</ThingAddRq>")).message


def test_an_unpaired_surrogate_is_rejected_with_its_location() -> None:
    problem = problem_of("<QBXML>\n \ud800</QBXML>")

    assert (problem.line, problem.column) == (2, 2)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('<QBXML xmlns="urn:x"/>', "namespaces"),
        ('<q:QBXML xmlns:q="urn:x"/>', "namespaces"),
        (request_xml("<Größe/>"), "not a name in QBXML"),
        (request_xml('<AddRq größe="1"/>'), "not a name in QBXML"),
    ],
)
def test_names_that_qbxml_cannot_have_are_rejected(text: str, message: str) -> None:
    assert message in problem_of(text).message


def contents(result: tuple[Element, str | None] | None) -> tuple[Any, str | None]:
    """Return the tree and the version that a reader returned, for comparisons."""
    assert result is not None
    root, version = result
    return content_of(root), version


@given(requests)
def test_both_readers_agree_on_any_request(request: Request) -> None:
    text = f'<?qbxml version="{request.version}"?>\n{request.to_xml()}'
    spaced = text.replace("><", ">\n<!-- --><")

    for spelling in (text, spaced):
        fast = read_xml_fast(spelling)
        assert fast is None or contents(fast) == contents(read_xml(spelling, Source("request_xml")))


def test_a_plain_request_is_read_fast() -> None:
    text = '<?xml version="1.0"?>\n<?qbxml version="13.0"?>\n' + request_xml(
        "<ThingAddRq>\n<Name>Zoë</Name>\n</ThingAddRq>"
    )

    assert contents(read_xml_fast(text)) == contents(read_xml(text, Source("request_xml")))


VALID = request_xml(
    '\n<InvoiceAddRq requestID="7">\n <InvoiceAdd>\n  <CustomerRef><FullName>Ann</FullName></CustomerRef>\n'
    "  <Memo/>\n  <InvoiceLineAdd><Desc>a &amp; b</Desc><Amount>9.50</Amount></InvoiceLineAdd>\n"
    " </InvoiceAdd>\n</InvoiceAddRq>\n"
)


@pytest.mark.parametrize(
    "text",
    [
        VALID,
        f'<?qbxml version="8.0"?>{VALID}',
        VALID.replace("Ann", "Zoë"),
        VALID.replace("<Memo/>", "<!-- none --><Memo><![CDATA[ < ]]></Memo>"),
        request_xml("<HostQueryRq>\n</HostQueryRq>"),
    ],
)
def test_all_readers_agree_on_a_valid_request(text: str) -> None:
    full = contents(read_xml(text, Source("request_xml")))

    assert contents(read_valid_xml_fast(text, "13.0")) == full
    assert contents(read_xml_fast(text)) == full


def test_a_valid_request_is_read_with_its_children() -> None:
    invoice = qbxml.parse_request_xml(VALID).element[0]

    assert [child.tag for child in invoice] == ["CustomerRef", "Memo", "InvoiceLineAdd"]
    assert [child.text for child in invoice.iter() if len(child) == 0] == ["Ann", None, "a & b", "9.50"]


@for_each(
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
def test_a_request_that_may_be_invalid_is_left_to_the_full_reader(old: str, new: str) -> None:
    assert read_valid_xml_fast(VALID, "13.0") is not None
    assert read_valid_xml_fast(VALID.replace(old, new), "13.0") is None


def test_validity_depends_on_the_version() -> None:
    text = request_xml('<CustomerQueryRq iterator="Start"><MaxReturned>1</MaxReturned></CustomerQueryRq>')
    transfer = request_xml("<TransferQueryRq/>")

    assert read_valid_xml_fast(text, "5.0") is not None
    assert read_valid_xml_fast(text, "4.0") is None
    assert read_valid_xml_fast(f'<?qbxml version="4.0"?>{text}', "13.0") is None
    assert read_valid_xml_fast(transfer, "11.0") is None


@given(st.text() | st.text("<>/?!&;#x\"'= \nABab[]-"))
def test_any_text_is_accepted_or_raises_invalid_request(text: str) -> None:
    inside = request_xml(f"<ThingAddRq>{text}</ThingAddRq>")
    for given_text in (text, inside, f'<?qbxml version="13.0"?>{text}', f'{text}<?qbxml version="13.0"?><A/>{text}'):
        with suppress(InvalidRequest):
            qbxml.parse_request_xml(given_text)


@pytest.mark.parametrize("attributes", ["", ' iterator="Start"'])
def test_max_returned_has_at_most_18_digits_even_without_validation(attributes: str) -> None:
    """The service changes it for smaller pages, and Python refuses to read a number of 5,000 digits."""
    for digits in (19, 5_000):
        text = request_xml(f"<CustomerQueryRq{attributes}><MaxReturned>{'9' * digits}</MaxReturned></CustomerQueryRq>")
        with pytest.raises(InvalidRequest) as caught:
            parse_request_xml(text, validate=False)
        assert caught.value.problems[0].path == "CustomerQueryRq/MaxReturned"


USES_MACROS = (
    "<ReceivePaymentAddRq><ReceivePaymentAdd><CustomerRef><ListID>1</ListID></CustomerRef>"
    '<AppliedToTxnAdd><TxnID useMacro="TxnID:a"/><PaymentAmount>1.00</PaymentAmount></AppliedToTxnAdd>'
    '<AppliedToTxnAdd><TxnID useMacro="TxnID:b"/><PaymentAmount>1.00</PaymentAmount></AppliedToTxnAdd>'
    "</ReceivePaymentAdd></ReceivePaymentAddRq>"
)


@pytest.mark.parametrize("validate", [True, False])
@pytest.mark.parametrize("version", ["13.0", "16.0", "CA3.0"])
def test_every_macro_must_be_defined_in_the_request(version: str, *, validate: bool) -> None:
    with pytest.raises(InvalidRequest) as caught:
        parse_request_xml(request_xml(USES_MACROS), version, validate=validate)

    assert [problem.path for problem in caught.value.problems if "macro" in problem.message] == [
        f"ReceivePaymentAddRq/ReceivePaymentAdd/AppliedToTxnAdd{step}/TxnID/@useMacro" for step in ("", "")
    ]
