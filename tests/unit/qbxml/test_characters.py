"""Characters: what QuickBooks keeps, what is refused, what is replaced when that is asked for."""

# ruff: noqa: RUF001 - characters that look alike are what this is about

from __future__ import annotations

from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.errors import InvalidRequest, Problem
from domain.qbxml import parse_request_json, parse_request_xml
from domain.qbxml.request.characters import is_kept, replaced
from tests.support.qbxml_samples import request_xml


def customer(name: str) -> str:
    return request_xml(f"<CustomerAddRq><CustomerAdd><Name>{name}</Name></CustomerAdd></CustomerAddRq>")


def problem_of(text: str, *, validate: bool = True) -> Problem:
    with pytest.raises(InvalidRequest) as raised:
        parse_request_xml(text, validate=validate)
    (problem,) = raised.value.problems
    return problem


@pytest.mark.parametrize("name", ["Zoë", "“Ünï” – €", "ŠšŽžŒœŸ", "½ ©"])
def test_windows_1252_is_kept(name: str) -> None:
    assert parse_request_xml(customer(name)).element.children[0].children[0].text == name


def test_other_characters_are_refused_with_their_field_and_a_proposal() -> None:
    problem = problem_of(customer("Łódź"))

    assert problem.message == "QuickBooks cannot keep Ł (U+0141), ź (U+017A)."
    assert problem.path == "CustomerAddRq/CustomerAdd/Name"
    assert problem.suggestion == "Write 'Lódz', or add transliterate=true."


def test_they_are_refused_without_validation_too() -> None:
    assert problem_of(customer("Ł"), validate=False).path == "CustomerAddRq/CustomerAdd/Name"


def test_what_has_no_replacement_is_to_be_removed() -> None:
    assert problem_of(customer("日本")).suggestion == "Remove it."


def test_attributes_are_looked_at_too() -> None:
    assert problem_of(request_xml('<HostQueryRq requestID="Ł"/>')).path == "HostQueryRq/@requestID"


def test_json_problems_have_pointers() -> None:
    tree = {"request": {"name": "CustomerQueryRq", "children": [{"name": "FullName", "text": "Ł"}]}}

    with pytest.raises(InvalidRequest) as raised:
        parse_request_json(tree)

    assert raised.value.problems[0].path == "/request/children/0"


def test_transliteration_replaces_them() -> None:
    request = parse_request_xml(customer("Łódź"), transliterate=True)

    assert request.element.children[0].children[0].text == "Lódz"


def test_transliteration_leaves_alone_what_is_kept() -> None:
    assert parse_request_xml(customer("Zoë ½"), transliterate=True).element.children[0].children[0].text == "Zoë ½"


def test_transliteration_replaces_attributes_too() -> None:
    request = parse_request_xml(request_xml('<HostQueryRq requestID="Ł"/>'), transliterate=True)

    assert request.request_id == "L"


def test_what_transliteration_cannot_replace_is_refused() -> None:
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
def test_replacements_read_alike(text: str, plain: str) -> None:
    assert replaced(text) == plain


@given(st.text(st.characters(codec="cp1252")))
def test_a_replacement_changes_nothing_that_is_kept(text: str) -> None:
    assert is_kept(text)
    assert replaced(normalize("NFC", text)) == normalize("NFC", text)
