"""The statuses in a response, and the reasons why a response is unreadable."""

from __future__ import annotations

import pytest

from domain.qbxml import ResponseStatus, UnreadableResponse, parse_response
from tests.support.qbxml_samples import STATUS_OK, response_xml


def test_statuses_are_in_the_order_of_the_requests() -> None:
    text = response_xml(
        '<CustomerAddRs requestID="1" statusCode="3100" statusSeverity="Error" statusMessage="In use." />\n'
        '<CustomerQueryRs requestID="2" statusCode="3231" statusSeverity="Error" statusMessage="Not processed." />'
    )

    first, second = parse_response(text).statuses

    assert first == ResponseStatus("CustomerAddRs", "1", 3100, "Error", "In use.")
    assert first.is_error
    assert second.code == 3231


def test_a_page_has_the_remaining_count_and_the_iterator_id() -> None:
    text = response_xml(
        f'<AQueryRs requestID="1" {STATUS_OK} iteratorRemainingCount="18" iteratorID="{{x}}"><ARet/></AQueryRs>'
    )

    (status,) = parse_response(text).statuses

    assert (status.iterator_remaining, status.iterator_id) == (18, "{x}")
    assert not status.is_error


def test_absent_attributes_are_none() -> None:
    (status,) = parse_response(response_xml(f"<AQueryRs {STATUS_OK}/>")).statuses

    assert (status.request_label, status.iterator_remaining, status.iterator_id) == (None, None, None)


def test_an_empty_label_is_an_absent_one() -> None:
    (status,) = parse_response(response_xml(f'<AQueryRs requestID="" {STATUS_OK}/>')).statuses

    assert status.request_label is None


def test_the_status_of_the_message_set_is_read() -> None:
    response = parse_response(response_xml("", ' newMessageSetID="" messageSetStatusCode="600"'))

    assert (response.statuses, response.message_set_status) == ((), 600)


def test_the_message_set_has_no_status_without_error_recovery() -> None:
    assert parse_response(response_xml(f"<AQueryRs {STATUS_OK}/>")).message_set_status is None


@pytest.mark.parametrize(
    "bad", ["&#x1F;", "&#31;", "&#0;", "&#xFFFE;", "&#x110000;", "&#99999999999;", "\x1f", "\ud800"]
)
def test_characters_that_xml_forbids_are_replaced(bad: str) -> None:
    text = response_xml(f'<AQueryRs statusCode="1" statusMessage="a{bad}b"><Memo>{bad}&#233;</Memo></AQueryRs>')

    (status,) = parse_response(text).statuses

    assert status.message == "a\N{REPLACEMENT CHARACTER}b"


def test_a_forbidden_character_after_a_status_does_not_repeat_the_status() -> None:
    text = response_xml(f"<AQueryRs {STATUS_OK}><ARet><Memo>&#x1F;</Memo></ARet></AQueryRs>")

    assert len(parse_response(text).statuses) == 1


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "malformed"),
        ("<QBXML><QBXMLMsgsRs>", "malformed"),
        ("<QBXML><QBXMLMsgsRs></QBXML>", "line 1, column 23"),
        ("<html/>", "no QBXMLMsgsRs"),
        (response_xml("<AQueryRs/>"), "no statusCode"),
        (response_xml('<AQueryRs statusCode="zero"/>'), "not a number"),
        (response_xml("", ' messageSetStatusCode="x"'), "not a number"),
        ("<!DOCTYPE a [<!ENTITY b 'c'>]><QBXML/>", "DOCTYPE"),
    ],
)
def test_text_that_is_not_a_response_is_unreadable(text: str, reason: str) -> None:
    with pytest.raises(UnreadableResponse, match=reason):
        parse_response(text)
