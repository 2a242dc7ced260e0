"""Characters that QuickBooks cannot store are rejected, or replaced on request."""

# ruff: noqa: RUF001 - this module is about characters that look alike

from __future__ import annotations

from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.errors import InvalidRequest
from domain.qbxml import parse_request_json, parse_request_xml
from domain.qbxml.request.characters import is_storable, transliterated_text
from tests.support.qbxml_samples import only_problem, request_xml


def customer(name: str) -> str:
    return request_xml(f"<CustomerAddRq><CustomerAdd><Name>{name}</Name></CustomerAdd></CustomerAddRq>")


@pytest.mark.parametrize("name", ["Zoë", "“Ünï” – €", "ŠšŽžŒœŸ", "½ ©"])
def test_characters_of_windows_1252_are_accepted(name: str) -> None:
    assert parse_request_xml(customer(name)).element[0][0].text == name


def test_other_characters_are_rejected_with_a_replacement_as_suggestion() -> None:
    problem = only_problem(parse_request_xml, customer("Łódź"))

    assert problem.message == "QuickBooks cannot store Ł (U+0141), ź (U+017A)."
    assert problem.path == "CustomerAddRq/CustomerAdd/Name"
    assert problem.suggestion == "Write 'Lódz', or add ?transliterate=true."


def test_other_characters_are_rejected_without_validation_too() -> None:
    assert only_problem(parse_request_xml, customer("Ł"), validate=False).path == "CustomerAddRq/CustomerAdd/Name"


def test_the_suggestion_is_to_remove_a_character_without_a_replacement() -> None:
    assert "?transliterate=true" in (only_problem(parse_request_xml, customer("\u2603")).suggestion or "")


def test_characters_in_attributes_are_checked_too() -> None:
    assert only_problem(parse_request_xml, request_xml('<HostQueryRq requestID="Ł"/>')).path == "HostQueryRq/@requestID"


def test_json_problems_have_pointers() -> None:
    tree = {"request": {"name": "CustomerQueryRq", "children": [{"name": "FullName", "text": "Ł"}]}}

    with pytest.raises(InvalidRequest) as caught:
        parse_request_json(tree)

    assert caught.value.problems[0].path == "/request/children/0"


def test_transliteration_replaces_characters() -> None:
    request = parse_request_xml(customer("Łódź"), transliterate=True)

    assert request.element[0][0].text == "Lódz"


def test_transliteration_keeps_characters_that_quickbooks_can_store() -> None:
    assert parse_request_xml(customer("Zoë ½"), transliterate=True).element[0][0].text == "Zoë ½"


def test_transliteration_replaces_characters_in_attributes() -> None:
    request = parse_request_xml(request_xml('<HostQueryRq requestID="Ł"/>'), transliterate=True)

    assert request.request_label == "L"


def test_a_character_without_a_replacement_is_rejected_despite_transliteration() -> None:
    with pytest.raises(InvalidRequest):
        parse_request_xml(customer("日本"), transliterate=True)


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("e\u0301", "é"),
        ("İstanbul", "Istanbul"),
        ("ﬁ ①", "fi 1"),
        ("a\u200bb", "ab"),
        ("−5 ≤ x", "-5 <= x"),
        ("x\u0336", "x"),
        ("ẞ", "SS"),
    ],
)
def test_a_replacement_resembles_the_character(text: str, plain: str) -> None:
    assert transliterated_text(text) == plain


@given(st.text(st.characters(codec="cp1252")))
def test_storable_text_is_never_transliterated(text: str) -> None:
    assert is_storable(text)
    assert transliterated_text(normalize("NFC", text)) == normalize("NFC", text)
