"""Reading a request from JSON: accepted forms, and the locations of errors."""

from __future__ import annotations

import json
from contextlib import suppress
from decimal import Decimal
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain import qbxml
from domain.errors import InvalidRequest, Problem
from tests.support.cases import for_each
from tests.support.qbxml_samples import only_problem, parts_of, request_xml

# These rules do not depend on the schema; the names in the requests are invented.
parse_request_json = partial(qbxml.parse_request_json, validate=False)


def problem_of(tree: object) -> Problem:
    problem = only_problem(parse_request_json, tree)
    assert problem.field == "request_json"
    return problem


def with_child(child: object) -> dict[str, Any]:
    return {"request": {"name": "ThingAddRq", "children": [child]}}


def text_of(value: object) -> str | None:
    return parse_request_json(with_child({"name": "A", "text": value})).element[0].text


def test_json_and_xml_give_the_same_request() -> None:
    tree = {
        "version": "13.0",
        "request": {
            "name": "CustomerQueryRq",
            "attributes": {"request_id": "1"},
            "children": [{"name": "MaxReturned", "text": "100"}],
        },
    }

    request = parse_request_json(tree)

    xml = request_xml('<CustomerQueryRq requestID="1"><MaxReturned>100</MaxReturned></CustomerQueryRq>')
    assert parts_of(request) == parts_of(qbxml.parse_request_xml(xml))
    assert request.to_xml() == xml
    assert request.to_json() == tree


def test_the_tree_may_include_the_envelope() -> None:
    request = parse_request_json(
        {
            "version": "16.0",
            "request": [
                {
                    "name": "QBXML",
                    "children": [
                        {
                            "name": "QBXMLMsgsRq",
                            "attributes": {"onError": "continueOnError"},
                            "children": [{"name": "HostQueryRq", "attributes": {"requestID": 7}, "children": []}],
                        }
                    ],
                }
            ],
        }
    )

    assert (request.version, request.on_error, request.request_label) == ("16.0", "continueOnError", "7")


def test_the_shorter_form_is_that_of_a_response() -> None:
    line = {"Desc": "a", "Amount": {"@defMacro": "x", "#text": 9.5}}
    request = parse_request_json(
        {"version": "16.0", "InvoiceAddRq": {"@requestID": 7, "InvoiceAdd": {"InvoiceLineAdd": [line, {"Desc": ""}]}}}
    )

    assert request.version == "16.0"
    assert request.to_xml() == request_xml(
        '<InvoiceAddRq requestID="7"><InvoiceAdd><InvoiceLineAdd><Desc>a</Desc><Amount defMacro="x">9.50</Amount>'
        "</InvoiceLineAdd><InvoiceLineAdd><Desc></Desc></InvoiceLineAdd></InvoiceAdd></InvoiceAddRq>"
    )


def test_both_forms_of_a_request_are_equal() -> None:
    short = qbxml.parse_request_json({"CustomerQueryRq": {"MaxReturned": 5}})
    tree = {"request": {"name": "CustomerQueryRq", "children": [{"name": "MaxReturned", "text": 5}]}}

    assert parts_of(short) == parts_of(qbxml.parse_request_json(tree))
    assert parse_request_json({"HostQueryRq": None}).to_xml() == request_xml("<HostQueryRq></HostQueryRq>")


@pytest.mark.parametrize(
    ("tree", "pointer"),
    [
        ({"CustomerQueryRq": {"MaxReturned": "x"}}, "/CustomerQueryRq/MaxReturned"),
        ({"CustomerQueryRq": {"OwnerID": ["0", "x"]}}, "/CustomerQueryRq/OwnerID/1"),
        ({"CustomerQueryRq": {"@metaData": "x"}}, "/CustomerQueryRq/@metaData"),
        ({"CustomerQueryRq": {"@requestID": "x" * 51}}, "/CustomerQueryRq/@requestID"),
        ({"CustomerQueryRq": {"a/b": 1}}, "/CustomerQueryRq/a~1b"),
        ({"CustomerQueryRq": {"@a b": 1}}, "/CustomerQueryRq/@a b"),
        ({"CustomerQueryRq": {"@a": []}}, "/CustomerQueryRq/@a"),
        ({"CustomerQueryRq": {"OwnerID": [[1]]}}, "/CustomerQueryRq/OwnerID/0"),
        ({"CustomerQueryRq": {"#text": "x", "OwnerID": "0"}}, "/CustomerQueryRq/#text"),
        ({"Customer QueryRq": {}}, "/Customer QueryRq"),
        ({"CustomerQueryRq": {}, "version": "x"}, "/version"),
        ({"CustomerQueryRq": {}, "VendorQueryRq": {}}, "/VendorQueryRq"),
    ],
)
def test_an_error_in_the_shorter_form_is_located_by_its_json_pointer(tree: object, pointer: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        qbxml.parse_request_json(tree)

    assert [problem.path for problem in caught.value.problems] == [pointer]


@pytest.mark.parametrize(
    "tree",
    [
        {"CustomerQueryRq": {"ListID": ["80000001-1"] * 50_000}},
        {"request": {"name": "CustomerQueryRq", "children": [{"name": "ListID", "text": "80000001-1"}] * 50_000}},
    ],
)
def test_a_request_has_at_most_50_000_elements(tree: Any) -> None:
    assert problem_of(tree).message == "The request has more than 50,000 elements."


def test_the_shorter_form_may_be_nested_20_levels_deep() -> None:
    tree: Any = {}
    for _ in range(20):
        tree = {"A": tree}

    assert "at most 20 levels" in problem_of({"ThingAddRq": tree}).message


def test_the_request_may_be_in_an_array_of_one() -> None:
    assert parse_request_json({"request": [{"name": "HostQueryRq"}]}).name == "HostQueryRq"


def test_the_version_defaults_to_13_and_may_be_a_number() -> None:
    assert parse_request_json({"request": {"name": "HostQueryRq"}}).version == "13.0"
    for version in (14.0, 14, Decimal("14.0")):
        assert parse_request_json({"version": version, "request": {"name": "HostQueryRq"}}).version == "14.0"


@for_each(
    ("value", "text"),
    [
        ("as it is ", "as it is "),
        (True, "true"),
        (False, "false"),
        (7, "7"),
        (-7, "-7"),
        (97.5, "97.5"),
        (100.0, "100"),
        (1e3, "1000"),
        (1e21, "1000000000000000000000"),
        (1e-7, "0.0000001"),
        (0.1, "0.1"),
        (-0.0, "0"),
        (Decimal("97.50"), "97.50"),
        (Decimal("1E+3"), "1000"),
        ("", None),
    ],
)
def test_text_may_be_a_string_a_number_or_a_boolean(value: object, text: str | None) -> None:
    assert text_of(value) == text


@pytest.mark.parametrize("value", [float("inf"), float("-inf"), float("nan"), Decimal("NaN"), [], {}])
def test_text_of_another_type_is_rejected(value: object) -> None:
    assert problem_of(with_child({"name": "A", "text": value})).path == "/request/children/0/text"


@pytest.mark.parametrize(
    ("tree", "pointer"),
    [
        ({"CustomerModRq": {"CustomerMod": {"Phone": None}}}, "/CustomerModRq/CustomerMod/Phone"),
        ({"CustomerModRq": {"CustomerMod": None}}, "/CustomerModRq/CustomerMod"),
        ({"ThingModRq": {"Note": ["a", None]}}, "/ThingModRq/Note/1"),
        ({"ThingModRq": {"Note": {"@x": "1", "#text": None}}}, "/ThingModRq/Note/#text"),
        (with_child({"name": "Phone", "text": None}), "/request/children/0/text"),
        (with_child({"name": "Phone", "text": None, "children": []}), "/request/children/0/text"),
        (with_child({"name": "A", "children": [{"name": "B", "text": None}]}), "/request/children/0/children/0/text"),
    ],
)
def test_null_is_refused_as_a_value(tree: object, pointer: str) -> None:
    problem = problem_of(tree)

    assert (problem.path, problem.message) == (pointer, "A value must not be null.")
    assert problem.suggestion == 'Leave it out to keep the value, or write "" to clear it.'


def test_a_null_that_holds_no_value_is_ignored() -> None:
    empty = '<ThingAddRq requestID="1"><A></A></ThingAddRq>'
    attributes = {"requestID": "1", "b": None}
    tree = {"name": "ThingAddRq", "text": None, "attributes": attributes, "children": [{"name": "A"}]}
    short = {"ThingAddRq": {"@requestID": "1", "@b": None, "#text": None, "A": ""}}

    assert parse_request_json({"request": tree}).to_xml() == request_xml(empty)
    assert parse_request_json(short).to_xml() == request_xml(empty)
    assert parse_request_json({"request": {"name": "HostQueryRq", "text": None}}).name == "HostQueryRq"


def test_empty_children_and_null_members_are_like_absent_ones() -> None:
    request = parse_request_json(with_child({"name": "A", "text": "x", "children": [], "attributes": None}))

    assert request.element[0].text == "x"


@for_each(
    ("tree", "pointer"),
    [
        (None, ""),
        ([], ""),
        ("<QBXML/>", ""),
        ({}, "/request"),
        ({"request": None}, "/request"),
        ({"request": []}, "/request"),
        ({"request": [{"name": "QBXML"}, {"name": "QBXML"}]}, "/request"),
        ({"request": [{"name": "Customer"}]}, "/request/0"),
        ({"request": ["HostQueryRq"]}, "/request/0"),
        ({"request": "HostQueryRq"}, "/request"),
        ({"request": {}}, "/request/name"),
        ({"request": {"name": 1}}, "/request/name"),
        ({"request": {"name": "a b"}}, "/request/name"),
        ({"request": {"name": "a}b"}}, "/request/name"),
        ({"request": {"name": "Customer"}}, "/request"),
        ({"request": {"name": "HostQueryRq", "text": "x"}}, "/request"),
        ({"request": {"name": "HostQueryRq"}, "verion": "13.0"}, "/verion"),
        ({"request": {"name": "HostQueryRq"}, "version": "thirteen"}, "/version"),
        ({"request": {"name": "HostQueryRq"}, "version": True}, "/version"),
        (with_child("A"), "/request/children/0"),
        (with_child({"name": "A", "chldren": []}), "/request/children/0/chldren"),
        (with_child({"name": "A", "a/b~c": 1}), "/request/children/0/a~1b~0c"),
        (with_child({"name": "A", "children": {}}), "/request/children/0/children"),
        (with_child({"name": "A", "text": "x", "children": [{"name": "B"}]}), "/request/children/0/text"),
        (with_child({"name": "A", "text": "a\x00"}), "/request/children/0/text"),
        (with_child({"name": "A", "text": "\ud800"}), "/request/children/0/text"),
        (with_child({"name": "A", "attributes": []}), "/request/children/0/attributes"),
        (with_child({"name": "A", "attributes": {"b c": "1"}}), "/request/children/0/attributes/b c"),
        (with_child({"name": "A", "attributes": {"b": []}}), "/request/children/0/attributes/b"),
        (
            {"request": {"name": "HostQueryRq", "attributes": {"requestID": "1", "request_id": "2"}}},
            "/request/attributes/request_id",
        ),
        (
            {"request": {"name": "HostQueryRq", "attributes": {"request_id": "x" * 51}}},
            "/request/attributes/request_id",
        ),
    ],
)
def test_an_error_is_located_by_its_json_pointer(tree: object, pointer: str) -> None:
    assert problem_of(tree).path == pointer


def test_elements_may_be_nested_20_levels_deep() -> None:
    def element_of(depth: int) -> dict[str, Any]:
        return {"name": "A", "children": [element_of(depth - 1)] if depth > 1 else []}

    assert parse_request_json(with_child(element_of(19))).name == "ThingAddRq"
    assert "at most 20 levels" in problem_of(with_child(element_of(20))).message


def test_message_set_ids_are_reserved_for_the_service() -> None:
    tree = {
        "request": [
            {
                "name": "QBXML",
                "children": [
                    {
                        "name": "QBXMLMsgsRq",
                        "attributes": {"newMessageSetID": "1"},
                        "children": [{"name": "HostQueryRq"}],
                    }
                ],
            }
        ]
    }

    assert problem_of(tree).message.startswith("Remove newMessageSetID")


def test_children_are_put_in_schema_order() -> None:
    request = parse_request_json(
        {
            "request": {
                "name": "CustomerQueryRq",
                "children": [
                    {"name": "OwnerID", "text": 0},
                    {"name": "NameFilter", "children": [{"name": "Name", "text": "A"}, {"name": "MatchCriterion"}]},
                    {"name": "ActiveStatus", "text": "All"},
                    {"name": "MaxReturned", "text": 5},
                ],
            }
        }
    )

    names = [child.tag for child in request.element]
    assert names == ["MaxReturned", "ActiveStatus", "NameFilter", "OwnerID"]
    assert [child.tag for child in request.element[2]] == ["MatchCriterion", "Name"]


def test_lines_and_line_groups_keep_their_order() -> None:
    def line(name: str, item: str) -> dict[str, Any]:
        return {"name": name, "children": [{"name": "Desc", "text": item}]}

    request = parse_request_json(
        {
            "request": {
                "name": "InvoiceAddRq",
                "children": [
                    {
                        "name": "InvoiceAdd",
                        "children": [
                            line("InvoiceLineAdd", "1"),
                            line("InvoiceLineGroupAdd", "2"),
                            {"name": "CustomerRef", "children": [{"name": "ListID", "text": "8-1"}]},
                            line("InvoiceLineAdd", "3"),
                        ],
                    }
                ],
            }
        }
    )

    names = [child.tag for child in request.element[0]]
    assert names == ["CustomerRef", "InvoiceLineAdd", "InvoiceLineGroupAdd", "InvoiceLineAdd"]


def test_an_unknown_element_stays_after_the_element_it_follows() -> None:
    request = parse_request_json(
        {
            "request": {
                "name": "CustomerQueryRq",
                "children": [{"name": "OwnerID"}, {"name": "MaxReturned"}, {"name": "New"}, {"name": "ActiveStatus"}],
            }
        }
    )

    assert [child.tag for child in request.element] == ["MaxReturned", "New", "ActiveStatus", "OwnerID"]


def test_a_request_type_without_children_is_accepted() -> None:
    assert len(parse_request_json({"request": {"name": "AccountTaxLineInfoQueryRq"}}).element) == 0


def test_decimals_keep_their_exact_digits() -> None:
    tree = json.loads(
        '{"request": {"name": "ThingAddRq", "children": [{"name": "A", "text": 97.50}]}}', parse_float=Decimal
    )

    assert parse_request_json(tree).element[0].text == "97.50"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.decimals() | st.text(),
    lambda values: st.lists(values) | st.dictionaries(st.text(), values),
)
_some_text = st.text() | st.sampled_from(["CustomerQueryRq", "InvoiceAddRq", "MaxReturned", "QBXML", "QBXMLMsgsRq"])
trees = st.fixed_dictionaries(
    {},
    optional={
        "version": json_values | st.sampled_from(["13.0", 13.0]),
        "request": st.recursive(
            json_values,
            lambda nodes: (
                st.lists(nodes, max_size=2)
                | st.fixed_dictionaries(
                    {"name": json_values | _some_text},
                    optional={
                        "text": json_values,
                        "attributes": json_values | st.dictionaries(_some_text, json_values),
                        "children": json_values | st.lists(nodes),
                    },
                )
            ),
        ),
    },
)


@given(json_values | trees)
def test_any_json_is_accepted_or_raises_invalid_request(tree: object) -> None:
    with suppress(InvalidRequest):
        qbxml.parse_request_json(tree)


def test_numbers_with_too_many_digits_are_rejected() -> None:
    assert problem_of(with_child({"name": "A", "text": Decimal("1e999999")})).path == "/request/children/0/text"
    assert problem_of({"version": 10**400, "request": {"name": "HostQueryRq"}}).path == "/version"


@pytest.mark.parametrize("validate", [True, False])
def test_every_macro_must_be_defined_in_the_request(*, validate: bool) -> None:
    applications = [{"TxnID": {"@useMacro": f"TxnID:{name}"}, "PaymentAmount": "1.00"} for name in "ab"]
    payment = {"CustomerRef": {"ListID": "1"}, "AppliedToTxnAdd": applications}

    with pytest.raises(InvalidRequest) as caught:
        parse_request_json({"ReceivePaymentAddRq": {"ReceivePaymentAdd": payment}}, validate=validate)

    assert [problem.path for problem in caught.value.problems] == [
        f"/ReceivePaymentAddRq/ReceivePaymentAdd/AppliedToTxnAdd/{index}/TxnID/@useMacro" for index in (0, 1)
    ]


@pytest.mark.parametrize("digits", [19, 5_000])
def test_max_returned_has_at_most_18_digits_even_without_validation(digits: int) -> None:
    with pytest.raises(InvalidRequest) as caught:
        parse_request_json({"CustomerQueryRq": {"MaxReturned": "9" * digits}}, validate=False)

    assert caught.value.problems[0].path == "/CustomerQueryRq/MaxReturned"
