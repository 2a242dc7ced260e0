"""Preferences of a company file: what is off is refused and not in responses, what is on is there."""

from __future__ import annotations

import random
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import defusedxml.ElementTree
import pytest

from simulator import Company
from simulator.basics.statuses import STATUSES
from simulator.requests.editions import supported
from simulator.requests.facts import Product
from simulator.rules.preferences import CLOSING_DATE, OFF, ON, PREFERENCES
from simulator.schema import schema
from simulator.tests.bookkeeping import Bookkeeper
from simulator.tests.random_requests import random_request
from simulator.tests.support import a_company, ask, document

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from xml.etree.ElementTree import Element

SWITCHES = [name for name in PREFERENCES if name != CLOSING_DATE]
FEATURES = [name for name in SWITCHES if PREFERENCES[name].status == 3250]
MACRO_ERRORS = range(9100, 9200)
"""Statuses of a macro that no request defines. They come first."""
ROUNDS = 3
"""Random requests of each type."""
RARE = {"EmployeeAddRq": 20, "ListMergeRq": 20}
"""Further random requests of the types that a preference covers in part."""


def company_with(value: str, *names: str, **fields: Any) -> Company:
    company = a_company(customers=20, **fields)
    for name in names:
        company.set_preference(name, value)
    return company


def uses(request: Element, name: str) -> bool:
    """Return whether a request uses what a preference covers, read from the table by names alone."""
    preference = PREFERENCES[name]
    verbs = ("Add", "Mod", "Query")
    if request.tag in {f"{kind}{verb}Rq" for kind in preference.kinds for verb in verbs} | set(preference.covers):
        return True
    if request.tag in {"ListDelRq", "TxnDelRq", "TxnVoidRq", "ListMergeRq"} and request[0].text in preference.kinds:
        return True
    for entry in preference.covers:
        kind, _, rest = entry.rpartition("/")
        tag, _, value = rest.partition("=")
        if kind:
            if any(request.find(f"{kind}{verb}/{tag}") is not None for verb in verbs):
                return True
        elif any(
            (child.tag == tag or (tag[0] == "*" and child.tag.endswith(tag[1:]))) and value in {"", child.text}
            for child in request.iter()
        ):
            return True
    return False


def every_random_request(company: Company, seed: int) -> Iterator[tuple[str, Element]]:
    chance = random.Random(seed)
    for model in schema().requests.values():
        for _ in range(ROUNDS + RARE.get(model.name, 0)):
            text = random_request(model, company.books, chance)
            yield text, defusedxml.ElementTree.fromstring(text)


@pytest.mark.parametrize("name", SWITCHES)
def test_a_request_that_uses_what_is_off_is_refused_with_its_status_and_no_other_is(name: str) -> None:
    company = company_with(ON, *SWITCHES)
    company.set_preference(name, OFF)
    refused = 0

    for text, request in every_random_request(company, seed=7):
        response = ask(company, text, version="16.0")[0]
        message = response.get("statusMessage", "")
        is_refused = message.endswith(f"Turn on the preference {name}.")
        if int(response.get("statusCode")) in MACRO_ERRORS:
            continue

        left, _ = supported(request, schema().requests[request.tag], company.product.edition)
        assert is_refused == uses(left, name), text
        assert "Turn on" not in message or is_refused
        if is_refused:
            refused += 1
            status = PREFERENCES[name].status
            assert response.get("statusCode") == str(status)
            assert message.startswith(STATUSES[status].text.removesuffix("."))
            assert not len(response)

    assert refused > ROUNDS


def test_every_entry_of_the_table_covers_something_of_the_schema() -> None:
    names = {model.name for model in _everything()}
    values = {f"{model.name}={value}" for model in _everything() for value in model.values}

    for name in SWITCHES:
        for entry in PREFERENCES[name].covers:
            element_name = entry.rpartition("/")[2]
            is_ending = element_name[0] == "*" and any(other.endswith(element_name[1:]) for other in names)
            assert is_ending or element_name in names | values, entry


def _everything() -> Iterator[Any]:
    seen = set()
    pending = [*schema().requests.values(), *schema().responses.values()]
    while pending:
        model = pending.pop()
        yield model
        if hasattr(model.type, "elements") and id(model.type) not in seen:
            seen.add(id(model.type))
            pending += model.type.elements.values()


def every_record(company: Company) -> Element:
    """Return the responses of all queries that work without a filter."""
    queries = "".join(
        f"<{name}/>" for name, model in schema().requests.items() if name.endswith("QueryRq") and not _required(model)
    )
    responses: Element = ask(company, queries, version="16.0")
    return responses


def _required(model: Any) -> bool:
    return any(particle.least for particle in model.content.group.particles)


def tags_of(element: Element) -> set[str]:
    return {child.tag for child in element.iter()}


@pytest.mark.parametrize(
    ("name", "tags"),
    [
        ("sales_tax", {"SalesTaxPreferences", "CustomerSalesTaxCodeRef", "ItemSalesTaxRef"}),
        ("classes", {"ClassRef", "ClassRet"}),
        ("multi_currency", {"CurrencyRef", "ExchangeRate", "BalanceRemainingInHomeCurrency", "HomeCurrencyRef"}),
        ("sites", {"InventorySiteRet"}),
        ("inventory", {"PurchaseOrderRet", "InventoryAdjustmentRet"}),
        ("estimates", {"EstimateRet"}),
        ("price_levels", {"PriceLevelRet", "PriceLevelRef"}),
    ],
)
def test_what_is_off_is_absent_from_every_response_and_there_again_when_it_is_on(name: str, tags: set[str]) -> None:
    company = company_with(ON, *SWITCHES)
    before = every_record(company)
    company.set_preference(name, OFF)
    without = every_record(company)
    company.set_preference(name, ON)

    assert tags <= tags_of(before)
    assert not tags & tags_of(without)
    assert tags_of(every_record(company)) == tags_of(before)


def preferences_of(company: Company) -> Element:
    response: Element = ask(company, "<PreferencesQueryRq/>", version="16.0")[0][0]
    return response


@pytest.mark.parametrize("name", SWITCHES)
@pytest.mark.parametrize("value", [ON, OFF])
def test_preferences_query_shows_each_switch(name: str, value: str) -> None:
    company = company_with(value, name)

    shown = preferences_of(company)

    assert company.preferences[name] == value
    for flag in PREFERENCES[name].flags:
        assert shown.findtext(flag) == ("true" if value == ON else "false")
    mode = ask(company, "<HostQueryRq/>")[0].findtext("HostRet/QBFileMode")
    assert (mode == "SingleUser") == (company.preferences["single_user_mode"] == ON)
    assert (shown.find("SalesTaxPreferences") is not None) == (company.preferences["sales_tax"] == ON)


def test_a_company_that_charges_sales_tax_has_default_codes_and_gives_them_to_new_customers() -> None:
    keeper = Bookkeeper()
    keeper.add("SalesTaxCode", Name="Ex", IsTaxable=False)
    exempt = keeper.add("Customer", Name="Dealer", SalesTaxCodeRef="Non")
    keeper.books.preferences["DefaultItemSalesTaxRef"] = {"ListID": keeper.get("Both", "ItemSalesTaxGroup")[0].text}
    section = preferences_of(keeper.company).find("SalesTaxPreferences")

    assert section is not None
    assert section.findtext("DefaultItemSalesTaxRef/FullName") == "Both"
    assert section.findtext("DefaultTaxableSalesTaxCodeRef/FullName") == "Tax"
    assert section.findtext("DefaultNonTaxableSalesTaxCodeRef/FullName") == "Non"
    assert exempt.findtext("SalesTaxCodeRef/FullName") == "Non"
    assert keeper.add("Customer", Name="Shop").findtext("SalesTaxCodeRef/FullName") == "Tax"
    assert keeper.add("Customer", Name="Job", ParentRef="Dealer").findtext("SalesTaxCodeRef/FullName") == "Non"
    assert keeper.invoice("Shop").findtext("CustomerSalesTaxCodeRef/FullName") == "Tax"
    assert keeper.invoice("Dealer:Job").findtext("CustomerSalesTaxCodeRef/FullName") == "Non"


def test_a_company_without_sales_tax_charges_none_and_still_shows_the_codes_of_lines() -> None:
    company = company_with(OFF, "sales_tax")
    line = "<InvoiceLineAdd><ItemRef><FullName>Cabinet</FullName></ItemRef><Rate>100</Rate></InvoiceLineAdd>"
    customer = company.books["Customer"]
    name = next(iter(customer)).full_name

    invoice = ask(
        company,
        f"<InvoiceAddRq><InvoiceAdd><CustomerRef><FullName>{name}</FullName></CustomerRef>{line}</InvoiceAdd></InvoiceAddRq>",
    )[0][0]

    assert invoice.findtext("SalesTaxPercentage") == invoice.findtext("SalesTaxTotal") == "0.00"
    assert invoice.findtext("BalanceRemaining") == "100.00"
    assert invoice.findtext("InvoiceLineRet/SalesTaxCodeRef/FullName") == "Tax"


@pytest.mark.parametrize(("country", "currency"), [("US", "US Dollar"), ("UK", "British Pound Sterling")])
def test_the_usual_currencies_exist_when_a_company_begins_to_use_several(country: str, currency: str) -> None:
    company = company_with(ON, "multi_currency", product=Product(country=country))

    assert preferences_of(company).findtext("MultiCurrencyPreferences/HomeCurrencyRef/FullName") == currency
    names = [name.text for name in ask(company, "<CurrencyQueryRq/>")[0].iter("Name")]
    assert currency in names
    assert len(names) > 5


@pytest.mark.parametrize(("rate", "amount"), [("1.25", "100"), ("0.3", "0.05"), ("110.5", "19.99")])
def test_a_transaction_has_the_currency_of_its_customer_and_amounts_in_the_home_currency(
    rate: str, amount: str
) -> None:
    keeper = Bookkeeper()
    keeper.company.set_preference("multi_currency", ON)
    keeper.add("Customer", Name="Elise", CurrencyRef="Euro")
    line = [{"ItemRef": "Work", "Rate": amount}]

    foreign = keeper.invoice("Elise", ExchangeRate=rate, InvoiceLineAdd=line)
    domestic = keeper.invoice("Ada", InvoiceLineAdd=line)

    assert foreign.findtext("CurrencyRef/FullName") == "Euro"
    assert Decimal(foreign.findtext("ExchangeRate", "")) == Decimal(rate)
    in_home = Decimal(foreign.findtext("BalanceRemainingInHomeCurrency", ""))
    assert abs(in_home - Decimal(amount) * Decimal(rate)) <= Decimal("0.005")
    assert domestic.findtext("CurrencyRef/FullName") == "US Dollar"
    assert domestic.findtext("BalanceRemainingInHomeCurrency") == domestic.findtext("BalanceRemaining")
    found = keeper.ask("CustomerQueryRq", "<CurrencyFilter><FullName>Euro</FullName></CurrencyFilter>")
    assert [customer.findtext("Name") for customer in found] == ["Elise"]


def test_stock_is_at_the_default_site_of_a_company_with_sites() -> None:
    keeper = Bookkeeper()
    keeper.company.set_preference("sites", ON)
    keeper.add("InventorySite", Name="Harbour")

    here = keeper.invoice(InvoiceLineAdd=[{"ItemRef": "Door", "Quantity": 1}])
    there = keeper.invoice(InvoiceLineAdd=[{"ItemRef": "Door", "Quantity": 1, "InventorySiteRef": "Harbour"}])

    assert here.findtext("InvoiceLineRet/InventorySiteRef/FullName") == "Unspecified Site"
    assert there.findtext("InvoiceLineRet/InventorySiteRef/FullName") == "Harbour"


@pytest.mark.parametrize("day", ["2025-12-31", "2026-02-28"])
def test_the_closing_date_is_a_preference(day: str) -> None:
    keeper = Bookkeeper()
    before = keeper.invoice(TxnDate=day)

    keeper.company.set_preference(CLOSING_DATE, day)

    assert preferences_of(keeper.company).findtext("AccountingPreferences/ClosingDate") == day
    assert keeper.refusal("Invoice", CustomerRef="Ada", TxnDate=day)[0] == "3171"
    assert keeper.delete(before).get("statusCode") == "3161"
    keeper.company.set_preference(CLOSING_DATE, OFF)
    assert preferences_of(keeper.company).find("AccountingPreferences/ClosingDate") is None
    assert keeper.delete(before).get("statusCode") == "0"


@pytest.mark.parametrize(
    ("name", "value", "country", "reason"),
    [
        ("taxes", ON, "US", "There is no preference 'taxes'. The preferences are sales_tax,"),
        ("classes", "yes", "US", "classes must be on or off, not 'yes'"),
        ("classes", "2025-01-01", "US", "classes must be on or off"),
        (CLOSING_DATE, ON, "US", "closing_date must be a date"),
        (CLOSING_DATE, "2025-02-30", "US", "closing_date must be a date"),
        (CLOSING_DATE, "20250228", "US", "closing_date must be a date"),
        ("sites", ON, "UK", "QuickBooks has no inventory sites in the country UK"),
    ],
)
def test_a_wrong_preference_is_an_error_and_changes_nothing(name: str, value: str, country: str, reason: str) -> None:
    company = a_company(product=Product(country=country))
    before = company.preferences

    with pytest.raises(ValueError, match=reason):
        company.set_preference(name, value)

    assert company.preferences == before


def test_preferences_are_kept_in_the_file_and_in_snapshots(tmp_path: Path) -> None:
    company = company_with(OFF, "classes")
    snapshot = company.snapshot()
    company.set_preference("multi_currency", ON)
    company.set_preference(CLOSING_DATE, "2025-06-30")

    company.save(tmp_path / "company.json")
    loaded = Company.load(tmp_path / "company.json")
    expected = dict(company.preferences)
    company.restore(snapshot)

    assert loaded.preferences == expected
    assert expected["multi_currency"] == ON
    assert (company.preferences["multi_currency"], company.preferences["classes"]) == (OFF, OFF)


def test_a_request_can_name_an_element_that_is_off_only_as_one_not_to_return() -> None:
    company = company_with(OFF, "classes")

    response = ask(company, "<InvoiceQueryRq><IncludeRetElement>ClassRef</IncludeRetElement></InvoiceQueryRq>")[0]

    assert response.get("statusCode") == "0"
    assert not [child for invoice in response for child in invoice]


def test_the_text_of_a_document_does_not_matter_to_preferences() -> None:
    text = document("<CustomerAddRq><CustomerAdd><Name>ClassRef</Name></CustomerAdd></CustomerAddRq>")

    assert 'statusCode="0"' in company_with(OFF, *FEATURES).process_request(text)
