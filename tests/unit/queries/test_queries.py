"""The convenience queries build QBXML from parameters."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.errors import InvalidRequest, Problem
from domain.qbxml import parse_request_xml
from domain.qbxml.schema.facts import return_elements
from domain.queries import QUERIES
from domain.queries.values import BOOLEAN, COUNT, DAY, LIST_ID, MOMENT
from tests.support.cases import for_each
from tests.support.qbxml_samples import parts_of

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from domain.queries.query import Parameter, Query


def build(query: str, **parameters: str | list[str]) -> Element:
    request = (
        QUERIES[query]
        .build(
            {
                name.replace("include", "include[]") if name == "include" else name: [value]
                if isinstance(value, str)
                else value
                for name, value in parameters.items()
            }
        )
        .request
    )
    return request.element


def problems_of(query: str, **parameters: str | list[str]) -> dict[str, Problem]:
    with pytest.raises(InvalidRequest) as caught:
        build(query, **parameters)
    return {problem.field: problem for problem in caught.value.problems}


def leaves(element: Element) -> dict[str, str | None]:
    texts: dict[str, str | None] = {}
    for child in element:
        if len(child):
            texts |= {f"{child.tag}/{path}": text for path, text in leaves(child).items()}
        else:
            texts[child.tag] = child.text
    return texts


@pytest.mark.parametrize("query", ["customers", "vendors", "items"])
def test_a_list_without_parameters_returns_active_objects(query: str) -> None:
    assert leaves(build(query)) == {"ActiveStatus": "ActiveOnly"}


def test_sales_orders_without_parameters_return_100_without_lines() -> None:
    assert leaves(build("sales_orders")) == {"MaxReturned": "100", "IncludeLineItems": "false"}


@pytest.mark.parametrize(
    ("query", "parameters", "expected"),
    [
        ("customers", {"name": "A&B"}, {"NameFilter/MatchCriterion": "Contains", "NameFilter/Name": "A&B"}),
        (
            "vendors",
            {"from_name": "A", "to_name": "C"},
            {"NameRangeFilter/FromName": "A", "NameRangeFilter/ToName": "C"},
        ),
        ("items", {"active": "All"}, {"ActiveStatus": "All"}),
        ("customers", {"max_returned": "7"}, {"MaxReturned": "7"}),
        (
            "customers",
            {"from_modified_date": "2026-01-31T13:30:00Z"},
            {"FromModifiedDate": "2026-01-31T13:30:00+00:00"},
        ),
        (
            "customers",
            {"to_modified_date": "2026-01-31T13:30:00.123-08:00"},
            {"ToModifiedDate": "2026-01-31T13:30:00-08:00"},
        ),
        (
            "customers",
            {"to_modified_date": "2026-01-31T13:30:00 01:00"},
            {"ToModifiedDate": "2026-01-31T13:30:00+01:00"},
        ),
        ("customers", {"to_modified_date": "2026-01-31T13:30"}, {"ToModifiedDate": "2026-01-31T13:30:00"}),
        (
            "sales_orders",
            {"from_modified_date": "2026-01-31", "to_modified_date": "2026-02-01T00:00:00+0100"},
            {
                "ModifiedDateRangeFilter/FromModifiedDate": "2026-01-31",
                "ModifiedDateRangeFilter/ToModifiedDate": "2026-02-01T00:00:00+01:00",
            },
        ),
        (
            "invoices",
            {"from_transaction_date": "2026-01-01", "to_transaction_date": "2026-01-31"},
            {"TxnDateRangeFilter/FromTxnDate": "2026-01-01", "TxnDateRangeFilter/ToTxnDate": "2026-01-31"},
        ),
        ("sales_orders", {"customer_list_id": "8-1"}, {"EntityFilter/ListID": "8-1"}),
        (
            "invoices",
            {"status": "NotPaidOnly", "include_line_items": "TRUE"},
            {"PaidStatus": "NotPaidOnly", "IncludeLineItems": "true"},
        ),
    ],
)
def test_each_parameter_sets_its_element(query: str, parameters: dict[str, str], expected: dict[str, str]) -> None:
    assert expected.items() <= leaves(build(query, **parameters)).items()


def test_elements_are_in_schema_order() -> None:
    element = build(
        "invoices", status="All", customer_list_id="8-1", from_transaction_date="2026-01-01", max_returned="5"
    )

    names = [child.tag for child in element]
    assert names == ["MaxReturned", "TxnDateRangeFilter", "EntityFilter", "PaidStatus", "IncludeLineItems"]


@pytest.mark.parametrize("include", [["ListID,Name"], ["ListID", "Name"], ["ListID , Name", "ListID"]])
def test_include_may_be_repeated_or_separated_by_commas(include: list[str]) -> None:
    element = build("customers", include=include)

    assert [child.text for child in element if child.tag == "IncludeRetElement"] == ["ListID", "Name"]


def test_a_query_has_the_default_version_or_the_one_it_names() -> None:
    query = QUERIES["customers"]

    assert query.build({}).request.version == "13.0"
    assert query.build({}, "11.0").request.version == "11.0"
    assert query.build({"qbxml_version": ["16.0"]}, "11.0").request.version == "16.0"


def test_an_element_that_the_version_does_not_have_is_rejected() -> None:
    problem = problems_of("customers", iterate="true", qbxml_version="4.0")["qbxml_version"]

    assert problem.message == "iterator requires QBXML 5.0; this request uses 4.0."


@pytest.mark.parametrize("version", ["99.0", "13", "", "x", "CA99.0"])
def test_a_version_that_does_not_exist_is_rejected(version: str) -> None:
    assert list(problems_of("customers", qbxml_version=version)) == ["qbxml_version"]


def test_custom_fields_are_requested_with_their_owner() -> None:
    assert leaves(build("vendors", include="DataExtRet"))["OwnerID"] == "0"


def test_a_page_has_100_objects_by_default() -> None:
    by_default = build("customers", iterate="true")
    by_choice = build("customers", iterate="true", max_returned="5")

    assert by_default.attrib == {"iterator": "Start"}
    assert leaves(by_default)["MaxReturned"] == "100"
    assert leaves(by_choice)["MaxReturned"] == "5"


def test_labels_metadata_and_webhook_url_are_passed_on() -> None:
    built = QUERIES["customers"].build(
        {
            "request_id": ["mine"],
            "webhook_url": ["https://example.com"],
            "label": ["nächtlicher Abgleich 夜"],
            "metadata": ['{"order": "1007", "who": "Ada"}'],
        }
    )

    assert built.request.request_label == "mine"
    assert built.webhook_url == "https://example.com"
    assert (built.label, built.metadata) == ("nächtlicher Abgleich 夜", {"order": "1007", "who": "Ada"})


def test_labels_metadata_and_webhook_url_are_optional() -> None:
    built = QUERIES["customers"].build({})

    assert (built.request.request_label, built.webhook_url, built.label, built.metadata) == (None, None, None, {})


@for_each(
    ("query", "parameters"),
    [
        ("customers", {"name": ""}),
        ("customers", {"name": "a\x00"}),
        ("customers", {"name": ["a", "b"]}),
        ("customers", {"max_returned": "0"}),
        ("customers", {"max_returned": "-1"}),
        ("customers", {"max_returned": "1.5"}),
        ("customers", {"max_returned": "²"}),
        ("customers", {"active": "activeonly"}),
        ("customers", {"iterate": "yes"}),
        ("customers", {"request_id": "x" * 51}),
        ("customers", {"from_modified_date": "yesterday"}),
        ("customers", {"from_modified_date": "2026-02-30"}),
        ("customers", {"from_modified_date": "2026-01-31T25:00:00Z"}),
        ("customers", {"from_modified_date": "2026-01-31T13:30:00+99:00"}),
        ("sales_orders", {"from_transaction_date": "2026-01-31T13:30:00Z"}),
        ("sales_orders", {"from_transaction_date": "31.1.2026"}),
        ("sales_orders", {"customer_list_id": "x" * 37}),
        ("sales_orders", {"customer_list_id": "8\ud800"}),
        ("invoices", {"status": "paid"}),
        ("invoices", {"include_line_items": ""}),
        ("items", {"include[]": "Name"}),
        ("items", {"status": "All"}),
        ("sales_orders", {"name": "x"}),
        ("customers", {"webhook_url": ""}),
    ],
)
def test_a_wrong_value_is_rejected_with_the_parameters_name(query: str, parameters: dict[str, str | list[str]]) -> None:
    assert list(problems_of(query, **parameters)) == list(parameters)


def test_a_typo_has_a_similar_name_as_suggestion() -> None:
    problems = problems_of("customers", nmae="x", include="Nmae,Name")

    assert "name" in (problems["nmae"].suggestion or "")
    assert problems["include[]"].suggestion == "Did you mean Name?"


@pytest.mark.parametrize(
    ("name", "suggestion"),
    [
        ("max_return", "Did you mean max_returned?"),
        ("from_modified_dates", "Did you mean from_modified_date?"),
        ("from_created_date", None),
        ("from_due_date", "QBXML cannot select by due date. Query by status or transaction date, and compare DueDate."),
        ("customer_full_name", None),
        ("x" * 200, None),
    ],
)
def test_a_parameter_with_another_meaning_is_never_suggested(name: str, suggestion: str | None) -> None:
    assert problems_of("invoices", **{name: "2026-01-01"})[name].suggestion == suggestion


def test_all_problems_are_reported_at_once() -> None:
    assert set(problems_of("customers", active="x", max_returned="x", foo="x")) == {"active", "max_returned", "foo"}


@pytest.mark.parametrize("other", ["from_name", "to_name"])
def test_a_name_cannot_be_combined_with_a_range_of_names(other: str) -> None:
    assert list(problems_of("customers", **{"name": "x", other: "y"})) == [other]


@pytest.mark.parametrize("modified", ["from_modified_date", "to_modified_date"])
@pytest.mark.parametrize("dated", ["from_transaction_date", "to_transaction_date"])
def test_modified_dates_cannot_be_combined_with_transaction_dates(modified: str, dated: str) -> None:
    assert list(problems_of("sales_orders", **{modified: "2026-01-01", dated: "2026-01-01"})) == [dated]


SAMPLES = ((LIST_ID, "80000001-1"), (DAY, "2026-01-31"), (MOMENT, "2026-01-31"), (COUNT, "5"), (BOOLEAN, "true"))
"""A valid value of each kind."""


@for_each(
    ("query", "parameter"), [(query, parameter) for query in QUERIES.values() for parameter in query.own_parameters]
)
def test_the_query_has_an_element_for_every_parameter(query: Query, parameter: Parameter) -> None:
    samples = (*parameter.choices, *(sample for kind, sample in SAMPLES if kind is parameter.kind), "Ann")
    where = f"correct {parameter.path} of {parameter.name} in src/domain/queries/tables.py"

    try:
        element = query.build({parameter.name: [samples[0]]}, "16.0").request.element
    except InvalidRequest as error:
        pytest.fail(f"{where}: {error.message}")

    assert element.find(parameter.path) is not None, where


@pytest.mark.parametrize("query", [query for query in QUERIES.values() if query.returns], ids=lambda query: query.name)
def test_include_names_elements_of_the_response(query: Query) -> None:
    kinds = list(return_elements(query.request_name))

    assert query.returns in kinds, f"{query.request_name} in src/domain/queries/tables.py returns {kinds}"


@pytest.mark.parametrize("query", list(QUERIES))
def test_every_parameter_has_a_description_and_a_type(query: str) -> None:
    for parameter in QUERIES[query].parameters:
        assert parameter.description.endswith(".")
        assert parameter.schema["type"] in {"string", "boolean", "integer", "array"}


def test_a_default_has_the_type_of_its_parameter() -> None:
    schemas = {parameter.name: parameter.schema for parameter in QUERIES["sales_orders"].parameters}

    assert schemas["max_returned"] == {"type": "integer", "minimum": 1, "default": 100}
    assert schemas["include_line_items"] == {"type": "boolean", "default": False}
    assert "TxnID" in schemas["include[]"]["items"]["enum"]


VALUES = {
    "include[]": ["ListID", "TxnID", "Name,DataExtRet", "Memo", "Xyzzy"],
    "from_modified_date": ["2026-01-31", "2026-01-31T13:30:00Z", "2026-01-31T13:30:00.5+0100", "yesterday"],
    "max_returned": ["1", "0"],
    "name": ["a&b", "é", "日"],
}
DEFAULT_VALUES = ["All", "ActiveOnly", "true", "2026-01-31", "8-1"]


@given(st.data())
def test_any_combination_of_parameters_is_valid_or_rejected(data: st.DataObject) -> None:
    query = data.draw(st.sampled_from(list(QUERIES.values())))
    names = data.draw(st.lists(st.sampled_from([parameter.name for parameter in query.parameters]), unique=True))
    parameters = {name: [data.draw(st.sampled_from(VALUES.get(name, DEFAULT_VALUES)))] for name in names}

    request = None
    with suppress(InvalidRequest):
        request = query.build(parameters).request

    assert request is None or parts_of(parse_request_xml(request.to_xml(), request.version)) == parts_of(request)


@pytest.mark.parametrize(
    ("value", "iterates", "may_iterate"),
    [(None, False, True), ("auto", False, True), ("AUTO", False, True), ("true", True, False), ("1", True, False)]
    + [(value, False, False) for value in ("never", "false", "0")],
)
def test_iterate_decides_when_a_query_is_sent_in_pages(value: str | None, *, iterates: bool, may_iterate: bool) -> None:
    query = QUERIES["customers"].build({} if value is None else {"iterate": [value]})

    assert (query.request.iterator is not None, query.may_iterate) == (iterates, may_iterate)


@pytest.mark.parametrize(
    ("query", "version", "name", "since"),
    [
        ("sales_orders", "13.0", "ShippingDetails", "16.0"),
        ("sales_orders", "15.0", "SOChannel", "16.0"),
        ("customers", "11.0", "JobTitle", "12.0"),
    ],
)
def test_an_element_of_a_later_version_cannot_be_included(query: str, version: str, name: str, since: str) -> None:
    problem = problems_of(query, include=["TimeModified", name], qbxml_version=version)["include[]"]

    assert problem.message == f"{name} requires QBXML {since}; this query uses {version}."
    assert problem.suggestion == f"Use qbxml_version={since} if QuickBooks supports it."
    assert problems_free(query, include=name, qbxml_version=since)


def problems_free(query: str, **parameters: str | list[str]) -> bool:
    return len(build(query, **parameters)) > 0
