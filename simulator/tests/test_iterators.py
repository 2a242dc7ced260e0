"""Iterators of queries: pages, the number of remaining rows, and iterators that are refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.tests.function_calls import function_calls
from simulator.tests.support import a_company, ask, customers, document, names, status

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulator import Company


def test_an_iterator_returns_every_row_once_with_the_number_of_remaining_rows() -> None:
    company = a_company()
    everyone = "<ActiveStatus>All</ActiveStatus>"
    page = customers(company, f"<MaxReturned>15</MaxReturned>{everyone}", ' iterator="Start"')
    full_names, remaining_counts = names(page), [page.get("iteratorRemainingCount")]
    iterator_id = page.get("iteratorID")

    while page.get("iteratorRemainingCount") != "0":
        page = customers(
            company, f"<MaxReturned>15</MaxReturned>{everyone}", f' iterator="Continue" iteratorID="{iterator_id}"'
        )
        full_names += names(page)
        remaining_counts.append(page.get("iteratorRemainingCount"))
        assert page.get("iteratorID") == iterator_id

    assert remaining_counts == ["25", "10", "0"]
    assert full_names == [row.full_name for row in company.books["Customer"]]
    assert list(page.attrib)[-2:] == ["iteratorRemainingCount", "iteratorID"]


def test_iterators_that_are_stopped_finished_foreign_or_unknown_are_refused() -> None:
    company = a_company()
    rest = "<MaxReturned>30</MaxReturned>"

    def start() -> str:
        return str(customers(company, rest, ' iterator="Start"').get("iteratorID"))

    def go_on(iterator_id: str, step: str = "Continue", name: str = "CustomerQueryRq") -> tuple[str, str]:
        return status(
            ask(company, f'<{name} iterator="{step}" iteratorID="{iterator_id}">{rest}</{name}>')[0]
        )  # fmt: skip

    stopped, finished, foreign = start(), start(), start()
    assert go_on(stopped, "Stop") == ("0", "Info")
    assert go_on(finished) == ("0", "Info")
    assert go_on(stopped) == ("3000", "Error")
    assert go_on(finished) == ("3000", "Error")
    assert go_on(foreign, name="VendorQueryRq") == ("3000", "Error")
    assert go_on("{00000000-0000-0000-0000-999999999999}") == ("3000", "Error")


def test_an_iterator_needs_max_returned_and_a_filter_query() -> None:
    company = a_company()
    iterator_id = customers(company, "<MaxReturned>1</MaxReturned>", ' iterator="Start"').get("iteratorID")

    assert status(customers(company, "", ' iterator="Start"')) == ("3150", "Error")
    assert status(customers(company, "<MaxReturned>1</MaxReturned>", ' iterator="Continue"')) == ("3000", "Error")
    assert status(customers(company, "", f' iterator="Continue" iteratorID="{iterator_id}"')) == ("3150", "Error")
    assert status(customers(company, "<ListID>1-1</ListID>", ' iterator="Start"')) == ("3250", "Error")


def test_a_start_without_a_match_has_no_iterator() -> None:
    none = "<MaxReturned>5</MaxReturned><FromModifiedDate>2037-01-01</FromModifiedDate>"

    response = customers(a_company(), none, ' iterator="Start"')

    assert status(response) == ("1", "Info")
    assert "iteratorID" not in response.attrib


def test_an_iterator_page_filters_nothing_again() -> None:
    """The pages of a large company take about as many function calls as those of a small one."""
    small, large = (pages_of_customers(a_company(customers=count, sales_orders=1)) for count in (1_100, 10_000))

    assert function_calls(large) < 1.2 * function_calls(small)


def pages_of_customers(company: Company) -> Callable[[], None]:
    """Start a query and return a function that reads ten more pages of 100 customers."""
    iterator_id = customers(company, "<MaxReturned>100</MaxReturned>", ' iterator="Start"').get("iteratorID")
    request = document(
        f'<CustomerQueryRq iterator="Continue" iteratorID="{iterator_id}">'
        "<MaxReturned>100</MaxReturned></CustomerQueryRq>"
    )

    def read() -> None:
        for _ in range(10):
            company.process_request(request)

    return read
