"""Requests that QuickBooks refuses as a whole, and values of a wrong form with their status."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from simulator.basics.errors import HresultError
from simulator.tests.support import a_company, ask, customers, document, status

if TYPE_CHECKING:
    from simulator import Company


def orders(company: Company, filters: str) -> Any:
    return ask(company, f'<SalesOrderQueryRq requestID="1">{filters}</SalesOrderQueryRq>')[0]


@pytest.mark.parametrize(
    ("request_text", "code"),
    [
        ("<FromModifiedDate>2024-01-01T00:00:00Z</FromModifiedDate>", "3020"),
        ("<FromModifiedDate>2024-01-01T00:00:00.5</FromModifiedDate>", "3020"),
        ("<FromModifiedDate>2024-02-30</FromModifiedDate>", "3020"),
        ("<FromModifiedDate>1969-12-31</FromModifiedDate>", "3020"),
        ("<FromModifiedDate>2038-02-01</FromModifiedDate>", "3020"),
        ("<FromModifiedDate>2024-02-01</FromModifiedDate><ToModifiedDate>2024-01-01</ToModifiedDate>", "3030"),
        ("<NameRangeFilter><FromName>M</FromName><ToName>A</ToName></NameRangeFilter>", "3031"),
        ("<TotalBalanceFilter><Operator>Equal</Operator><Amount>1.5</Amount></TotalBalanceFilter>", "3040"),
        (f"<ListID>{'8' * 37}</ListID>", "3000"),
        (f"<IncludeRetElement>{'x' * 51}</IncludeRetElement>", "3070"),
    ],
)
def test_values_of_a_wrong_form_get_their_status(request_text: str, code: str) -> None:
    assert status(customers(a_company(), request_text)) == (code, "Error")


def test_other_values_of_a_wrong_form_get_their_status() -> None:
    company = a_company()

    assert status(orders(company, "<IncludeLineItems>yes</IncludeLineItems>")) == ("3010", "Error")
    dates = "<FromTxnDate>2024-02-01</FromTxnDate><ToTxnDate>2024-01-01</ToTxnDate>"
    assert status(orders(company, f"<TxnDateRangeFilter>{dates}</TxnDateRangeFilter>")) == ("3030", "Error")
    bad_day = "<FromTxnDate>2024-13-01</FromTxnDate>"
    assert status(orders(company, f"<TxnDateRangeFilter>{bad_day}</TxnDateRangeFilter>")) == ("3020", "Error")
    short_day = "<FromTxnDate>2024-1-1</FromTxnDate>"
    assert status(orders(company, f"<TxnDateRangeFilter>{short_day}</TxnDateRangeFilter>")) == ("3020", "Error")


def test_a_request_id_of_51_characters_is_refused() -> None:
    fits = ask(a_company(), f'<HostQueryRq requestID="{"x" * 50}" />')[0]
    too_long = ask(a_company(), f'<HostQueryRq requestID="{"x" * 51}" />')[0]

    assert status(fits) == ("0", "Info")
    assert status(too_long) == ("1060", "Error")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "<QBXML/>",
        document("<CustomerQueryRq/>").removeprefix('<?xml version="1.0" encoding="utf-8"?>\n'),
        document("<CustomerQueryRq/>").replace('<?qbxml version="13.0"?>\n', ""),
        f" {document('<CustomerQueryRq/>')}",
        f"\ufeff{document('<CustomerQueryRq/>')}",
        document("<CustomerQueryRq><FullName>Café</FullName></CustomerQueryRq>"),
        document("<CustomerQueryRq>").replace("</QBXML>", ""),
        document("<CustomersQueryRq/>"),
        document("<customerqueryrq/>"),
        document("<QBXMLMsgsRq/>"),
        document("<CustomerQueryRq/>", on_error="stoponerror"),
        document("<CustomerQueryRq/>").replace(' onError="continueOnError"', ""),
        document("<CustomerQueryRq/>", sets=' other="1"'),
        document('<CustomerQueryRq iterator="start"/>'),
        document('<HostQueryRq iterator="Start"/>'),
        document('<CustomerQueryRq requestId="1"/>'),
        document("<CustomerQueryRq><ActiveStatus>All</ActiveStatus><MaxReturned>1</MaxReturned></CustomerQueryRq>"),
        document("<CustomerQueryRq><ListID>1</ListID><MaxReturned>1</MaxReturned></CustomerQueryRq>"),
        document("<CustomerQueryRq><ListID>1</ListID><FullName>1</FullName></CustomerQueryRq>"),
        document("<CustomerQueryRq><Unknown>1</Unknown></CustomerQueryRq>"),
        document("<CustomerQueryRq><MaxReturned>0</MaxReturned></CustomerQueryRq>"),
        document("<CustomerQueryRq><MaxReturned>ten</MaxReturned></CustomerQueryRq>"),
        document("<CustomerQueryRq><MaxReturned a='1'>1</MaxReturned></CustomerQueryRq>"),
        document("<CustomerQueryRq><MaxReturned><b/></MaxReturned></CustomerQueryRq>"),
        document("<CustomerQueryRq>text</CustomerQueryRq>"),
        document("<CustomerQueryRq><ActiveStatus>Active</ActiveStatus></CustomerQueryRq>"),
        document("<CustomerQueryRq><OwnerID>{no}</OwnerID></CustomerQueryRq>"),
        document("<CustomerQueryRq><NameFilter><Name>A</Name></NameFilter></CustomerQueryRq>"),
        document(
            "<CustomerQueryRq><NameFilter><Name>A</Name><MatchCriterion>Contains</MatchCriterion></NameFilter></CustomerQueryRq>"
        ),
        document("<CustomerQueryRq><ModifiedDateRangeFilter/></CustomerQueryRq>"),
        document("<SalesOrderQueryRq><FromModifiedDate>2024-01-01</FromModifiedDate></SalesOrderQueryRq>"),
        document("<SalesOrderQueryRq><PaidStatus>All</PaidStatus></SalesOrderQueryRq>"),
        document(
            "<SalesOrderQueryRq><ModifiedDateRangeFilter/><TxnDateRangeFilter><DateMacro>Today</DateMacro>"
            "</TxnDateRangeFilter></SalesOrderQueryRq>"
        ),
        document(
            "<SalesOrderQueryRq><TxnDateRangeFilter><DateMacro>Someday</DateMacro></TxnDateRangeFilter></SalesOrderQueryRq>"
        ),
        document("<CustomerAddRq><CustomerAdd><CompanyName>A</CompanyName></CustomerAdd></CustomerAddRq>"),
        document("<HostQueryRq/>").replace("<QBXML>", "<!DOCTYPE QBXML [<!ENTITY a 'b'>]><QBXML>"),
    ],
)
def test_a_document_that_violates_the_schema_fails_as_a_whole(text: str) -> None:
    company = a_company()

    with pytest.raises(HresultError) as caught:
        company.process_request(text)

    assert caught.value.hresult == "0x80040400"
    assert caught.value.message == "QuickBooks found an error when parsing the provided XML text stream."
    assert company.executed == []


@pytest.mark.parametrize("version", ["17.0", "99.0", "abc", "13"])
def test_versions_beyond_the_products_are_refused(version: str) -> None:
    with pytest.raises(HresultError) as caught:
        a_company().process_request(document("<HostQueryRq/>", version=version))

    assert caught.value.hresult == "0x80040423"
