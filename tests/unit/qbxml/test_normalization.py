"""Values of JSON requests are converted to QBXML's notation."""

from __future__ import annotations

from typing import Any

import pytest

from domain.errors import InvalidRequest
from domain.qbxml import parse_request_json


def line(**values: Any) -> dict[str, Any]:
    children = [{"name": name, "text": value} for name, value in values.items()]
    invoice = [{"name": "CustomerRef"}, {"name": "InvoiceLineAdd", "children": children}]
    return {"request": {"name": "InvoiceAddRq", "children": [{"name": "InvoiceAdd", "children": invoice}]}}


def query(name: str, value: Any) -> dict[str, Any]:
    return {"request": {"name": "CustomerQueryRq", "children": [{"name": name, "text": value}]}}


def text_of(tree: dict[str, Any]) -> str | None:
    element = parse_request_json(tree).element
    while len(element):
        element = element[-1]
    return element.text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (97.5, "97.50"),
        (97, "97"),
        (97.0, "97"),
        ("97.5", "97.50"),
        ("97.50", "97.50"),
        ("97.500", "97.50"),
        ("97.", "97"),
        (-1.5, "-1.50"),
        (1e3, "1000"),
        ("0097.5", "97.50"),
    ],
)
def test_amounts_get_two_decimals_or_none(value: object, text: str) -> None:
    assert text_of(line(Amount=value)) == text


@pytest.mark.parametrize(("value", "text"), [(1.25, "1.25"), ("1.5000000", "1.5"), (2, "2")])
def test_quantities_keep_up_to_five_decimals(value: object, text: str) -> None:
    assert text_of(line(Quantity=value)) == text


@pytest.mark.parametrize(
    ("value", "text"), [(True, "true"), ("TRUE", "true"), ("False", "false"), (1, "1"), ("0", "0")]
)
def test_booleans_become_lower_case(value: object, text: str) -> None:
    customer = [{"name": "Name", "text": "Ann"}, {"name": "IsActive", "text": value}]
    tree = {"request": {"name": "CustomerAddRq", "children": [{"name": "CustomerAdd", "children": customer}]}}

    assert text_of(tree) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("2026-01-31T13:30:00Z", "2026-01-31T13:30:00+00:00"),
        ("2026-01-31T13:30:00.123456-08:00", "2026-01-31T13:30:00-08:00"),
        ("2026-01-31T13:30-0800", "2026-01-31T13:30:00-08:00"),
        ("2026-01-31 13:30:00", "2026-01-31T13:30:00"),
        ("2026-01-31", "2026-01-31"),
        (" 2026-01-31 ", "2026-01-31"),
    ],
)
def test_date_times_lose_z_and_fraction(value: str, text: str) -> None:
    assert text_of(query("FromModifiedDate", value)) == text


@pytest.mark.parametrize(("value", "text"), [("2026-01-31T00:00:00.000Z", "2026-01-31"), ("2026-1-3", "2026-01-03")])
def test_a_date_may_be_written_as_midnight(value: str, text: str) -> None:
    assert text_of(line(ServiceDate=value)) == text


def test_guids_get_braces() -> None:
    guid = "01234567-89ab-cdef-0123-456789abcdef"

    assert text_of(query("OwnerID", guid)) == f"{{{guid}}}"


@pytest.mark.parametrize(
    "tree",
    [
        line(Amount=97.555),
        line(Amount="ninety"),
        line(Amount=10**13),
        line(Quantity=0.0000001),
        line(ServiceDate="2026-01-31T13:30:00Z"),
        line(ServiceDate="2026-02-30T00:00:00Z"),
        line(ServiceDate="31.1.2026"),
        query("FromModifiedDate", "2026-02-30T00:00:00Z"),
        query("FromModifiedDate", "yesterday"),
        query("MaxReturned", 5.5),
        query("OwnerID", "1"),
        query("ActiveStatus", True),
    ],
)
def test_a_value_that_cannot_be_converted_is_a_problem(tree: dict[str, Any]) -> None:
    with pytest.raises(InvalidRequest):
        parse_request_json(tree)
