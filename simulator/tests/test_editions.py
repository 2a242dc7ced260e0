"""Editions of QuickBooks and versions of qbXML: the elements of each in requests and responses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from simulator.basics.errors import HresultError
from simulator.requests.facts import SUPPORTED_VERSIONS, Product
from simulator.tests.support import a_company, ask, document

if TYPE_CHECKING:
    from simulator import Company

CUSTOMER = "<CustomerAddRq><CustomerAdd><Name>New</Name>{}</CustomerAdd></CustomerAddRq>"
TAX_ITEM = "<ItemSalesTaxRef><FullName>County Tax</FullName></ItemSalesTaxRef>"
ORDER = (
    "<SalesOrderAddRq><SalesOrderAdd><CustomerRef><FullName>New</FullName></CustomerRef><SalesOrderLineAdd>"
    "<ItemRef><FullName>Consulting</FullName></ItemRef></SalesOrderLineAdd></SalesOrderAdd></SalesOrderAddRq>"
)
BILL = (
    "<VendorAddRq><VendorAdd><Name>Maker</Name></VendorAdd></VendorAddRq>"
    "<BillAddRq><BillAdd><VendorRef><FullName>Maker</FullName></VendorRef><ExpenseLineAdd>"
    "<AccountRef><FullName>Office Supplies</FullName></AccountRef><Amount>5.00</Amount></ExpenseLineAdd>"
    "</BillAdd></BillAddRq>"
)


def edition(country: str, **facts: str) -> Company:
    return a_company(product=Product(country=country, **facts))


@pytest.mark.parametrize(
    ("country", "request_text"),
    [
        ("CA", "<SalesTaxPayableQueryRq/>"),
        ("UK", "<AccountTaxLineInfoQueryRq/>"),
        ("AU", "<InventorySiteQueryRq/>"),
        ("US", "<SalesTaxReturnQueryRq/>"),
    ],
)
def test_a_request_that_the_edition_does_not_have_is_refused(country: str, request_text: str) -> None:
    response: Any = ask(edition(country), request_text)[0]

    assert (response.get("statusCode"), response.get("statusSeverity")) == ("3250", "Error")
    assert response.get("statusMessage").startswith("This feature is not enabled or not available in this version")


def test_a_field_that_the_edition_does_not_have_is_left_out_with_a_warning() -> None:
    company = edition("CA")

    response: Any = ask(company, CUSTOMER.format(TAX_ITEM))[0]

    assert (response.get("statusCode"), response.get("statusSeverity")) == ("530", "Warn")
    assert response.get("statusMessage") == 'The field "ItemSalesTaxRef" is not supported by this implementation.'
    assert response[0].find("ItemSalesTaxRef") is None
    record = company.books.named("New", ("Customer",))
    assert record is not None
    assert "ItemSalesTaxRef" not in record.fields


def test_a_field_of_the_edition_is_stored_and_returned() -> None:
    response: Any = ask(edition("US"), CUSTOMER.format(TAX_ITEM))[0]

    assert response.get("statusCode") == "0"
    assert response[0].findtext("ItemSalesTaxRef/FullName") == "County Tax"


def test_a_refusal_stays_a_refusal_when_a_field_was_left_out() -> None:
    company = edition("CA")
    ask(company, CUSTOMER.format(""))

    assert ask(company, CUSTOMER.format(TAX_ITEM))[0].get("statusCode") == "3100"


def test_fields_that_the_edition_does_not_have_are_left_out_of_responses() -> None:
    company = edition("UK")
    ask(company, CUSTOMER.format(""))
    record = company.books.named("New", ("Customer",))
    assert record is not None
    record.fields["ItemSalesTaxRef"] = {"ListID": next(iter(company.books["ItemSalesTax"])).id}

    response: Any = ask(company, "<CustomerQueryRq><FullName>New</FullName></CustomerQueryRq>")[0]

    assert response.get("statusCode") == "0"
    assert response[0].find("ItemSalesTaxRef") is None


@pytest.mark.parametrize("number", SUPPORTED_VERSIONS)
def test_a_product_reads_its_own_and_all_older_versions(number: str) -> None:
    company = a_company(product=Product(highest_version=number))

    for version in SUPPORTED_VERSIONS:
        text = document("<CustomerQueryRq><MaxReturned>1</MaxReturned></CustomerQueryRq>", version=version)
        if SUPPORTED_VERSIONS.index(version) <= SUPPORTED_VERSIONS.index(number):
            assert 'statusCode="0"' in company.process_request(text)
        else:
            with pytest.raises(HresultError) as caught:
                company.process_request(text)
            assert caught.value.hresult == "0x80040423"


@pytest.mark.parametrize(("country", "version"), [("CA", "CA3.0"), ("UK", "UK2.0")])
def test_old_versions_can_have_the_prefix_of_the_country(country: str, version: str) -> None:
    text = document("<CustomerQueryRq><MaxReturned>1</MaxReturned></CustomerQueryRq>", version=version)

    assert 'statusCode="0"' in edition(country).process_request(text)
    with pytest.raises(HresultError) as caught:
        edition("US").process_request(text)
    assert caught.value.hresult == "0x80040423"


def test_the_fields_of_qbxml_16_are_in_responses_to_requests_of_that_version_only() -> None:
    company = a_company()
    ask(company, BILL + CUSTOMER.format("") + ORDER)
    next(iter(company.books["SalesOrder"])).fields["StoreName"] = "Web shop"

    def fields(request: str, version: str) -> set[str]:
        return {child.tag for response in ask(company, request, version=version) for row in response for child in row}

    for request, name in (("<BillQueryRq/>", "IsPending"), ("<SalesOrderQueryRq/>", "StoreName")):
        assert name in fields(request, "16.0")
        assert name not in fields(request, "15.0")
        assert name not in fields(request, "13.0")


def test_the_values_of_qbxml_16_are_refused_in_requests_of_older_versions() -> None:
    request = "<TxnDeletedQueryRq><TxnDelType>PayrollPriorPayment</TxnDelType></TxnDeletedQueryRq>"

    assert ask(a_company(), request, version="16.0")[0].get("statusCode") == "1"
    with pytest.raises(HresultError) as caught:
        ask(a_company(), request, version="15.0")
    assert caught.value.hresult == "0x80040400"
