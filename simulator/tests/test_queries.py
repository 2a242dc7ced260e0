"""The responses of the simulated QuickBooks to every form of query, in QuickBooks' own text."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import TYPE_CHECKING, Any

import defusedxml.ElementTree
import pytest

from simulator.basics.clock import MachineClock
from simulator.books.kinds import LISTS, TRANSACTIONS
from simulator.requests.shown import shown
from simulator.tests.support import NOW, OWNER_ID, a_company, ask, customers, document, names, status

if TYPE_CHECKING:
    from simulator import Company


def orders(company: Company, filters: str = "") -> Any:
    return ask(company, f'<SalesOrderQueryRq requestID="1">{filters}</SalesOrderQueryRq>')[0]


def invoices(company: Company, filters: str = "") -> Any:
    return ask(company, f'<InvoiceQueryRq requestID="1">{filters}</InvoiceQueryRq>')[0]


def test_the_response_has_quickbooks_own_form() -> None:
    company = a_company()
    row = next(iter(company.books["ItemInventory"]))

    text = company.process_request(
        document(
            f'<ItemQueryRq requestID="a&quot;b"><ListID>{row.id}</ListID>'
            "<IncludeRetElement>ListID</IncludeRetElement><IncludeRetElement>Name</IncludeRetElement></ItemQueryRq>"
        )
    )

    assert text == (
        '<?xml version="1.0" ?>\n<QBXML>\n<QBXMLMsgsRs>\n'
        '<ItemQueryRs requestID="a&quot;b" statusCode="0" statusSeverity="Info" statusMessage="Status OK">\n'
        f"<ItemInventoryRet>\n<ListID>{row.id}</ListID>\n<Name>Cabinet</Name>\n</ItemInventoryRet>\n"
        "</ItemQueryRs>\n</QBXMLMsgsRs>\n</QBXML>\n"
    )


def test_no_match_is_status_1_and_self_closed() -> None:
    text = a_company().process_request(
        document(
            '<CustomerQueryRq requestID="1"><NameFilter><MatchCriterion>Contains</MatchCriterion>'
            "<Name>nobody at all</Name></NameFilter></CustomerQueryRq>"
        )
    )

    assert (
        '<CustomerQueryRs requestID="1" statusCode="1" statusSeverity="Info" '
        'statusMessage="A query request did not find a matching object in QuickBooks" />\n'
    ) in text


def test_a_request_without_request_id_is_answered_without() -> None:
    response = ask(a_company(), "<HostQueryRq />")[0]

    assert "requestID" not in response.attrib


def test_a_query_returns_only_active_customers_by_default() -> None:
    company = a_company(customers=200)

    active, inactive, every = (
        customers(company, f"<ActiveStatus>{value}</ActiveStatus>") for value in ("ActiveOnly", "InactiveOnly", "All")
    )

    assert names(customers(company)) == names(active)
    assert {element.findtext("IsActive") for element in inactive} == {"false"}
    assert len(active) + len(inactive) == len(every) == 200


def test_customers_are_in_list_order_with_jobs_below_their_parents() -> None:
    company = a_company(customers=200)

    every = names(customers(company, "<ActiveStatus>All</ActiveStatus>"))

    jobs = [name for name in every if ":" in name]
    assert jobs
    assert all(
        every[every.index(job) - 1].split(":")[0] == job.split(":")[0] for job in jobs
    )  # fmt: skip


def test_lists_of_ids_and_names_find_and_miss() -> None:
    company = a_company()
    first, second = list(company.books["Customer"])[:2]

    by_id = customers(company, f"<ListID>{second.id}</ListID><ListID>{first.id}</ListID>")
    by_name = customers(
        company, f"<FullName>{first.full_name.upper()}</FullName>".encode("ascii", "xmlcharrefreplace").decode()
    )
    partly = customers(company, f"<ListID>80000099-1</ListID><ListID>{first.id}</ListID>")
    nothing = customers(company, "<FullName>nobody</FullName>")

    assert names(by_id) == [second.full_name, first.full_name]
    assert names(by_name) == [first.full_name]
    assert (status(partly), len(partly)) == (("500", "Warn"), 1)
    assert 'There was a required element ("80000099-1")' in partly.get("statusMessage")
    assert (status(nothing), len(nothing)) == (("500", "Warn"), 0)


@pytest.mark.parametrize(
    ("criterion", "holds"),
    [
        ("StartsWith", lambda name, text: name.startswith(text)),
        ("Contains", lambda name, text: text in name),
        ("EndsWith", lambda name, text: name.endswith(text)),
    ],
)
def test_name_filter_ignores_case(criterion: str, holds: Any) -> None:
    company = a_company(customers=100)
    part = "k" if criterion != "EndsWith" else "1"

    rows = customers(
        company,
        f"<ActiveStatus>All</ActiveStatus><NameFilter><MatchCriterion>{criterion}</MatchCriterion>"
        f"<Name>{part.upper()}</Name></NameFilter>",
    )

    expected = {row.full_name for row in company.books["Customer"] if holds(row.fields["Name"].lower(), part)}
    assert expected
    assert set(names(rows)) == expected


@pytest.mark.parametrize(
    ("first", "last"), [("C", "M"), ("", "M"), ("C", "")], ids=["closed", "open begin", "open end"]
)
def test_name_range_filter_is_inclusive_with_open_ends(first: str, last: str) -> None:
    company = a_company(customers=100)
    ends = (f"<FromName>{first}</FromName>" if first else "") + (f"<ToName>{last}</ToName>" if last else "")

    elements = customers(company, f"<ActiveStatus>All</ActiveStatus><NameRangeFilter>{ends}</NameRangeFilter>")

    assert 0 < len(elements) < 100
    for element in elements:
        name = element.findtext("Name").lower()
        assert first.lower() <= name
        assert not last or name <= last.lower()


def test_modified_dates_are_inclusive_and_mean_the_machines_time_without_an_offset() -> None:
    company = a_company()
    row = max(company.books["Customer"], key=lambda row: row.modified)
    local = company.clock.text(row.modified)[:19]
    moment = datetime.fromtimestamp(row.modified, timezone(timedelta(hours=9))).isoformat()

    def count(bounds: str) -> int:
        return len(customers(company, f"<ActiveStatus>All</ActiveStatus>{bounds}"))

    assert count(f"<FromModifiedDate>{local}</FromModifiedDate>") == 1
    assert count(f"<FromModifiedDate>{moment}</FromModifiedDate>") == 1
    five_hours_before = sum(customer.modified <= row.modified - 5 * 3600 for customer in company.books["Customer"])
    assert count(f"<ToModifiedDate>{local}+00:00</ToModifiedDate>") == five_hours_before > 30
    assert count(f"<ToModifiedDate>{local}</ToModifiedDate>") == 40
    assert count(f"<ToModifiedDate>{local[:10]}</ToModifiedDate>") == 40
    assert count(f"<FromModifiedDate>{local[:10]}</FromModifiedDate>") >= 1
    assert count("<ToModifiedDate>2024-01-01</ToModifiedDate>") == 0


def test_balance_currency_and_class_filters() -> None:
    company = a_company(customers=120)
    everyone = "<ActiveStatus>All</ActiveStatus>"
    balances = [float(shown(company.books, row)["TotalBalance"]) for row in company.books["Customer"]]

    def with_balance(operator: str, amount: str) -> int:
        return len(
            customers(
                company,
                f"{everyone}<TotalBalanceFilter><Operator>{operator}</Operator><Amount>{amount}</Amount>"
                "</TotalBalanceFilter>",
            )
        )

    assert with_balance("GreaterThan", "0.00") == sum(balance > 0 for balance in balances)
    assert with_balance("Equal", "0") == sum(balance == 0 for balance in balances)
    assert with_balance("LessThan", "0") == 0
    assert with_balance("LessThanEqual", "0") + with_balance("GreaterThanEqual", "0.01") == 120
    of_class = customers(
        company, f"{everyone}<ClassFilter><FullNameWithChildren>retail</FullNameWithChildren></ClassFilter>"
    )
    assert {element.findtext("ClassRef/FullName") for element in of_class} == {"Retail", "Retail:Web"}
    by_id = next(row.id for row in company.books["Class"] if row.full_name == "Retail")
    assert {
        element.findtext("ClassRef/FullName")
        for element in customers(company, f"{everyone}<ClassFilter><ListID>{by_id}</ListID></ClassFilter>")
    } == {"Retail"}
    unknown = customers(company, "<ClassFilter><FullName>No such class</FullName></ClassFilter>")
    assert status(unknown) == ("500", "Warn")
    currency = customers(company, "<CurrencyFilter><FullName>US Dollar</FullName></CurrencyFilter>")
    assert status(currency) == ("3250", "Error")


def test_include_ret_element_limits_and_owner_id_shows_custom_fields() -> None:
    company = a_company()
    everyone = "<ActiveStatus>All</ActiveStatus>"

    plain = customers(company, everyone)
    custom = customers(company, f"{everyone}<OwnerID>0</OwnerID>")
    limited = customers(
        company, f"{everyone}<IncludeRetElement>Name</IncludeRetElement><IncludeRetElement>Typo</IncludeRetElement>"
    )

    assert plain.find("CustomerRet/DataExtRet") is None
    assert custom.findtext("CustomerRet/DataExtRet/DataExtName") == "Region"
    assert {child.tag for element in limited for child in element} == {"Name"}


def test_max_returned_truncates_and_metadata_counts_all() -> None:
    company = a_company()

    cut = customers(company, "<MaxReturned>3</MaxReturned><ActiveStatus>All</ActiveStatus>")
    count = customers(company, "<ActiveStatus>All</ActiveStatus>", ' metaData="MetaDataOnly"')
    both = customers(
        company,
        "<MaxReturned>3</MaxReturned><ActiveStatus>All</ActiveStatus>",
        ' metaData="MetaDataAndResponseData"',
    )

    assert (len(cut), cut.get("retCount")) == (3, None)
    assert (len(count), count.get("retCount")) == (0, "40")
    assert (len(both), both.get("retCount")) == (3, "40")


def test_sales_orders_have_no_lines_and_links_by_default() -> None:
    company = a_company()

    bare = orders(company)
    full = orders(
        company, "<IncludeLineItems>true</IncludeLineItems><IncludeLinkedTxns>1</IncludeLinkedTxns>"
    )  # fmt: skip

    assert bare.find("SalesOrderRet/SalesOrderLineRet") is None
    assert bare.find("SalesOrderRet/LinkedTxn") is None
    assert full.find("SalesOrderRet/SalesOrderLineRet/ItemRef/FullName") is not None
    assert {link.findtext("TxnType") for link in full.iter("LinkedTxn")} == {"Invoice"}


def test_sales_orders_by_txn_id_and_numbers() -> None:
    company = a_company()
    row = next(row for row in company.books["SalesOrder"] if row.fields["RefNumber"] == "SO-10")

    assert len(orders(company, f"<TxnID>{row.id}</TxnID>")) == 1
    assert len(orders(company, "<RefNumber>so-10</RefNumber>")) == 1
    assert status(orders(company, "<RefNumberCaseSensitive>so-10</RefNumberCaseSensitive>")) == ("500", "Warn")
    assert len(orders(company, "<RefNumberCaseSensitive>SO-10</RefNumberCaseSensitive>")) == 1


def test_ref_number_filters() -> None:
    company = a_company()

    ending = orders(
        company,
        "<RefNumberFilter><MatchCriterion>EndsWith</MatchCriterion><RefNumber>7</RefNumber></RefNumberFilter>",
    )
    numbers = orders(
        company,
        "<RefNumberRangeFilter><FromRefNumber>1005</FromRefNumber><ToRefNumber>1012</ToRefNumber></RefNumberRangeFilter>",
    )
    texts = orders(company, "<RefNumberRangeFilter><FromRefNumber>SO-</FromRefNumber></RefNumberRangeFilter>")

    assert [order.findtext("RefNumber") for order in ending] == ["1007", "1017", "1027", "1037"]
    assert [order.findtext("RefNumber") for order in numbers] == [
        str(number) for number in range(1005, 1013) if number != 1010
    ]
    assert [order.findtext("RefNumber") for order in texts] == ["SO-10", "SO-20", "SO-30", "SO-40"]


def test_sales_orders_by_dates_and_macros() -> None:
    company = a_company(customers=120, now=lambda: datetime(2025, 6, 15, 17, tzinfo=UTC).timestamp())
    days = [row.fields["TxnDate"] for row in company.books["SalesOrder"]]

    june = orders(
        company,
        "<TxnDateRangeFilter><FromTxnDate>2025-06-01</FromTxnDate><ToTxnDate>2025-06-30</ToTxnDate></TxnDateRangeFilter>",
    )
    this_month = orders(company, "<TxnDateRangeFilter><DateMacro>ThisMonth</DateMacro></TxnDateRangeFilter>")
    modified = orders(
        company,
        "<ModifiedDateRangeFilter><ToModifiedDate>2025-06-30</ToModifiedDate></ModifiedDateRangeFilter>",
    )

    assert len(june) == len(this_month) == sum(day.startswith("2025-06") for day in days) > 0
    assert 0 < len(modified) < 120


def test_entity_filter_by_id_name_and_with_jobs() -> None:
    company = a_company(customers=150)
    customers_with_orders = [
        company.books.lists[row.fields["CustomerRef"]["ListID"]] for row in company.books["SalesOrder"]
    ]
    job = next(customer for customer in customers_with_orders if ":" in customer.full_name)
    job_name = job.full_name
    parent = job_name.split(":")[0]

    def names_of_customers(filter_: str) -> set[str]:
        text = f"<EntityFilter>{filter_}</EntityFilter>".encode("ascii", "xmlcharrefreplace").decode()
        return {str(order.findtext("CustomerRef/FullName")) for order in orders(company, text)}

    assert names_of_customers(f"<FullName>{job_name}</FullName>") == {job_name}
    assert names_of_customers(f"<ListID>{job.id}</ListID>") == {job_name}
    below = names_of_customers(f"<FullNameWithChildren>{parent}</FullNameWithChildren>")
    assert job_name in below
    assert {name.split(":")[0] for name in below} == {parent}
    assert status(orders(company, "<EntityFilter><FullName>nobody</FullName></EntityFilter>")) == ("500", "Warn")


def test_invoices_by_paid_status_and_account() -> None:
    company = a_company(customers=100)

    paid, unpaid, every = (
        invoices(company, f"<PaidStatus>{value}</PaidStatus>") for value in ("PaidOnly", "NotPaidOnly", "All")
    )

    assert {element.findtext("IsPaid") for element in paid} == {"true"}
    assert {element.findtext("BalanceRemaining") for element in paid} == {"0.00"}
    assert len(paid) + len(unpaid) == len(every) == len(invoices(company))
    receivable = "<AccountFilter><FullName>Accounts Receivable</FullName></AccountFilter>"
    assert len(invoices(company, receivable)) == len(every)


def test_vendors_and_items_answer_their_filters() -> None:
    company = a_company(customers=100)

    vendors = ask(company, '<VendorQueryRq metaData="MetaDataOnly"><ActiveStatus>All</ActiveStatus></VendorQueryRq>')[0]
    items = ask(
        company,
        "<ItemQueryRq><ActiveStatus>All</ActiveStatus><NameFilter><MatchCriterion>Contains</MatchCriterion>"
        "<Name>in</Name></NameFilter></ItemQueryRq>",
    )[0]

    assert vendors.get("retCount") == "14"
    assert {element.tag for element in items} == {
        "ItemGroupRet",
        "ItemInventoryRet",
        "ItemNonInventoryRet",
        "ItemPaymentRet",
        "ItemServiceRet",
    }


def test_host_returns_versions_and_list_sizes() -> None:
    company = a_company()

    plain = ask(company, "<HostQueryRq />")[0]
    sizes = ask(
        company,
        "<HostQueryRq><IncludeListMetaData><IncludeMaxCapacity>true</IncludeMaxCapacity></IncludeListMetaData></HostQueryRq>",
    )[0]

    assert plain.find("HostRet/ListMetaData") is None
    assert sizes.findtext("HostRet/ListMetaData/EntityMetaData/MaxCapacity") == "100000"


def test_the_company_shows_private_fields_to_their_owner_only() -> None:
    company = a_company(private_fields={OWNER_ID: {"FileID": "{1}"}, "{OTHER}": {"FileID": "{2}"}})

    mine = ask(company, f"<CompanyQueryRq><OwnerID>{OWNER_ID}</OwnerID></CompanyQueryRq>")[0]

    assert [element.text for element in mine.iter("DataExtValue")] == ["{1}"]
    assert ask(company, "<CompanyQueryRq />")[0].find("CompanyRet/DataExtRet") is None


class _DaylightSaving(tzinfo):
    """UTC-5, and UTC-4 from April to September."""

    def dst(self, when: datetime | None) -> timedelta:
        return timedelta(hours=1 if when is not None and 4 <= when.month <= 9 else 0)

    def utcoffset(self, when: datetime | None) -> timedelta:
        return timedelta(hours=-5) + self.dst(when)

    def tzname(self, when: datetime | None) -> str:
        return "summer" if self.dst(when) else "winter"


def test_old_products_write_the_winter_offset_in_summer() -> None:
    winter, summer = 1_768_500_000, NOW
    new = MachineClock(lambda: NOW, _DaylightSaving())
    old = MachineClock(lambda: NOW, _DaylightSaving(), standard_offset_in_summer=True)

    assert old.text(winter) == new.text(winter) == "2026-01-15T13:00:00-05:00"
    assert new.text(summer) == "2026-09-21T10:13:20-04:00"
    assert old.text(summer) == "2026-09-21T10:13:20-05:00"


def test_a_seed_gives_the_same_company_within_windows_1252() -> None:
    def content(seed: int) -> list[Any]:
        return [row.fields for row in a_company(seed=seed).books["Customer"]]

    assert content(3) == content(3) != content(4)
    text = a_company(customers=300).process_request(
        document("<CustomerQueryRq><ActiveStatus>All</ActiveStatus></CustomerQueryRq>")
    )
    text.encode("cp1252")
    assert not text.isascii()
    assert len(set(names(defusedxml.ElementTree.fromstring(text)[0][0]))) == 300


def test_every_record_has_a_unique_id() -> None:
    books = a_company().books

    assert len(books.lists) == sum(len(books[kind]) for kind in LISTS)
    assert len(books.transactions) == sum(len(books[kind]) for kind in TRANSACTIONS)
