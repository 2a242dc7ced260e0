"""What a reader of changes needs: queries by time of change, pages, deletions, and costs that follow the changes."""

from __future__ import annotations

import random
from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest

from simulator.books import GROUPS, KINDS
from simulator.books.records import VOID
from simulator.requests.derived import queried_kinds
from simulator.schema import schema
from simulator.tests.function_calls import function_calls
from simulator.tests.support import NOW, a_company, ask, document

if TYPE_CHECKING:
    from simulator import Company
    from simulator.books import Books

DAY = 86_400
LISTED, RANGES = "FromModifiedDate", ("ModifiedDateRangeFilter", "TransactionModifiedDateRangeFilter")


@cache
def elements(group: str) -> dict[str, Any]:
    """Return the elements of a query by name, in their order. Some kinds have no query."""
    request = schema().requests.get(f"{group}QueryRq")
    return {} if request is None else request.content.elements


BY_TIME = sorted(group for group in (*GROUPS, "Transaction") if {LISTED, *RANGES} & elements(group).keys())
BY_NAME = sorted(group for group in BY_TIME if "NameRangeFilter" in elements(group) and group != "ToDo")
BY_DATE = sorted(group for group in BY_TIME if "TxnDateRangeFilter" in elements(group))
PAGED = sorted(group for group in BY_TIME if "iterator" in schema().requests[f"{group}QueryRq"].attributes)


def query(company: Company, group: str, attributes: str = "", **filters: str) -> Any:
    """Send a query in the order of the schema, for ids alone and with inactive objects."""
    model = elements(group)
    contents = {"ActiveStatus": "All", "DoneStatus": "All"} | filters
    parts = [f"<{name}>{contents[name]}</{name}>" if name in contents else "" for name in model]
    parts += ["<IncludeRetElement>ListID</IncludeRetElement><IncludeRetElement>TxnID</IncludeRetElement>"]
    return ask(company, f"<{group}QueryRq{attributes}>{''.join(parts)}</{group}QueryRq>", version="16.0")[0]


def ids(response: Any) -> list[str]:
    return [row.findtext("ListID") or row.findtext("TxnID") or "" for row in response]


def changed(company: Company, group: str, first: int, last: int) -> dict[str, str]:
    """Return the filter of a query by time of change, whose times are local and have no offset."""
    start, end = (company.clock.text(seconds)[: len("2026-01-31T09:15:00")] for seconds in (first, last))
    name = next((name for name in RANGES if name in elements(group)), None)
    if name is None:
        return {"FromModifiedDate": start, "ToModifiedDate": end}
    return {name: f"<FromModifiedDate>{start}</FromModifiedDate><ToModifiedDate>{end}</ToModifiedDate>"}


def records_of(company: Company, group: str) -> list[Any]:
    kinds = queried_kinds() if group == "Transaction" else GROUPS[group]
    return [record for kind in kinds for record in company.books[kind]]


@cache
def books_of_every_kind() -> Books:
    """Return books with ten records of each kind, which were changed in the ten seconds before now."""
    company, chance = a_company(customers=2, sales_orders=0), random.Random(1)
    for preference in ("multi_currency", "sites"):
        company.set_preference(preference, "on")
    for kind in KINDS.values():
        for number in range(10):
            fields: dict[str, Any] = (
                {kind.name_field: f"{'aBcD'[number % 4]} {kind.name} {number}"} if kind.name_field else {}
            )
            fields |= {"IsActive": chance.choice(("true", "false"))} if kind.is_list else {VOID: "true"}
            fields |= {} if kind.is_list else {"TxnDate": f"2026-01-{chance.randint(1, 9):02}"}
            if kind.name == "BuildAssembly":  # it shows the quantity of its assembly
                fields["ItemInventoryAssemblyRef"] = next(iter(company.books["ItemInventoryAssembly"])).reference()
            company.books.add(kind, fields, at=NOW - chance.randint(1, 10))
    return company.books


def company_of_every_kind() -> Company:
    company = a_company(customers=2, sales_orders=0)
    company.books = replace(books_of_every_kind().copy(), clock=company.clock)
    return company


@pytest.mark.parametrize("group", BY_TIME)
def test_a_query_finds_what_was_changed_in_a_range_of_time_with_both_ends(group: str) -> None:
    company, chance = company_of_every_kind(), random.Random(group)
    for _ in range(8):
        first, last = sorted(NOW - chance.randint(0, 11) for _ in range(2))

        found = ids(query(company, group, **changed(company, group, first, last)))

        assert len(found) == len(set(found))
        assert set(found) == {one.id for one in records_of(company, group) if first <= one.modified <= last}
        everything = ids(query(company, group))
        assert found == [record_id for record_id in everything if record_id in found], "the order of a query is one"


@pytest.mark.parametrize("group", BY_NAME)
def test_ranges_of_names_that_meet_return_each_object_of_the_list(group: str) -> None:
    company = company_of_every_kind()
    ends = ("", "b", "C d", "")
    found = [
        ids(query(company, group, NameRangeFilter=f"<FromName>{first}</FromName><ToName>{last}</ToName>"))
        for first, last in pairwise(ends)
    ]

    assert all(found)
    assert {one for part in found for one in part} == {one.id for one in records_of(company, group)}


@pytest.mark.parametrize("group", BY_DATE)
def test_ranges_of_dates_that_follow_each_other_return_each_transaction_once(group: str) -> None:
    company = company_of_every_kind()
    days = ((1, 3), (4, 4), (5, 9))
    found = [
        one
        for first, last in days
        for one in ids(
            query(
                company,
                group,
                TxnDateRangeFilter=f"<FromTxnDate>2026-01-0{first}</FromTxnDate><ToTxnDate>2026-01-0{last}</ToTxnDate>",
            )
        )
    ]

    assert sorted(found) == sorted(one.id for one in records_of(company, group) if one.fields["TxnDate"] > "2026")


@pytest.mark.parametrize("group", PAGED)
def test_the_pages_of_changes_are_those_of_the_moment_of_the_first_page(group: str) -> None:
    """What is changed between two pages is on neither twice, and is found again by the next query."""
    company, chance = company_of_every_kind(), random.Random(group)
    everything = ids(query(company, group))
    assert ids(query(company, group, **changed(company, group, NOW, NOW))) == []
    page = query(company, group, ' iterator="Start"', MaxReturned="7")
    found, iterator = ids(page), page.get("iteratorID")
    while page.get("iteratorRemainingCount") != "0":
        company.edit(chance.choice(everything))
        page = query(company, group, f' iterator="Continue" iteratorID="{iterator}"', MaxReturned="7")
        found += ids(page)

    assert found == everything
    edited = {one.id for one in records_of(company, group) if one.modified == NOW}
    assert set(ids(query(company, group, **changed(company, group, NOW, NOW)))) == edited != set()


@pytest.mark.parametrize("part", ["List", "Txn"])
def test_every_kind_with_deletions_reports_them_for_90_days_and_no_other_is_accepted(part: str) -> None:
    now = [NOW]
    company = a_company(customers=2, sales_orders=0, now=lambda: now[0])
    kinds = schema().requests[f"{part}DeletedQueryRq"].content[f"{part}DelType"].values
    known = [kind for kind in kinds if kind in KINDS]
    for kind in known:
        named = KINDS[kind].name_field
        record = company.books.add(KINDS[kind], {named: f"Gone {kind}"} if named else {VOID: "true"})
        now[0] += 1
        company.books.remove(record)
    types = "".join(f"<{part}DelType>{kind}</{part}DelType>" for kind in kinds)

    def deleted(first: int, last: int) -> list[str]:
        start, end = (company.clock.text(seconds) for seconds in (first, last))
        times = f"<FromDeletedDate>{start}</FromDeletedDate><ToDeletedDate>{end}</ToDeletedDate>"
        body = f"{types}<DeletedDateRangeFilter>{times}</DeletedDateRangeFilter>"
        response = ask(company, f"<{part}DeletedQueryRq>{body}</{part}DeletedQueryRq>", version="16.0")[0]
        return [row.findtext(f"{part}DelType") for row in response]

    last = now[0]
    assert deleted(NOW, last) == known
    assert deleted(NOW + 2, NOW + 3) == known[1:3]
    now[0] = NOW + 2 + 90 * DAY
    assert deleted(NOW, last) == known[1:]
    assert {kind for kind in KINDS if kind not in kinds and KINDS[kind].is_list == (part == "List")} == (
        {"Lead", "Template"} if part == "List" else {"Transfer"}
    )


@pytest.mark.parametrize(("small", "large"), [(1_000, 100_000)])
def test_a_query_that_finds_no_change_costs_as_much_in_a_large_company_as_in_a_small_one(
    small: int, large: int
) -> None:
    def calls(customers: int) -> int:
        company = a_company(customers=2, sales_orders=0)
        for number in range(customers):
            company.books.add(KINDS["Customer"], {"Name": f"Customer {number:06}", "IsActive": "true"}, at=NOW - DAY)
        nothing = "<FromModifiedDate>2037-01-01</FromModifiedDate>"
        kinds = f"<CustomerQueryRq>{nothing}</CustomerQueryRq><EntityQueryRq>{nothing}</EntityQueryRq>"
        request = document(kinds)
        company.process_request(request)  # the first query by time sorts the records once
        company.edit(next(iter(company.books["Customer"])).id)
        assert company.process_request(request).count('statusCode="1"') == 2
        return function_calls(lambda: company.process_request(request))

    assert calls(large) < 1.1 * calls(small)
