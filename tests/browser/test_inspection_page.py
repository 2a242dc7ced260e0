"""The page of the inspection API: lists, transactions, the ledger and records, without failing scripts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from simulator.company import Company
from simulator.inspection import serving

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page

HOSTILE = "&lt;img src=x onerror=alert(1)&gt;"
ADD = (
    '<?xml version="1.0"?><?qbxml version="13.0"?><QBXML><QBXMLMsgsRq onError="stopOnError"><CustomerAddRq>'
    f"<CustomerAdd><Name>{HOSTILE}</Name></CustomerAdd></CustomerAddRq></QBXMLMsgsRq></QBXML>"
)


@pytest.fixture(scope="module")
def company() -> Company:
    return Company.generated(customers=40)


@pytest.fixture
def page(browser: Browser, company: Company) -> Iterator[Page]:
    """Yield the page; a test fails when a script fails, a dialog opens, or anything is fetched from elsewhere."""
    problems: list[str] = []
    with serving(company) as url:
        context = browser.new_context()
        page = context.new_page()
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("dialog", lambda dialog: problems.append(dialog.message))
        page.on("request", lambda request: problems.extend([] if request.url.startswith(url) else [request.url]))
        page.goto(url)
        yield page
        context.close()
    assert problems == []


def test_the_overview_counts_the_books(page: Page) -> None:
    expect(page.get_by_text("Books balance")).to_be_visible()
    expect(page.get_by_role("link", name="Sales orders 40")).to_be_visible()


def test_a_transaction_shows_its_postings_and_links_to_related_transactions(page: Page) -> None:
    expect(page.get_by_text("Latest invoices")).to_be_visible()
    page.get_by_role("link", name="Receive payments").click()
    expect(page.get_by_role("heading", name="Receive payments")).to_be_visible()
    page.locator("tbody tr").first.click()
    record = page.get_by_role("complementary", name="Record")
    expect(record.get_by_role("cell", name="Accounts Receivable")).to_be_visible()

    record.get_by_role("row").filter(has_text="Invoice").last.click()

    expect(record.get_by_text("Invoice line").first).to_be_visible()


def test_a_list_is_searched_and_a_name_is_never_read_as_html(page: Page, company: Company) -> None:
    company.process_request(ADD)
    page.get_by_role("link", name="Customers").click()
    page.get_by_placeholder("Search").fill("onerror")

    expect(page.locator("tbody tr")).to_have_count(1)
    expect(page.get_by_role("button", name="<img src=x onerror=alert(1)>")).to_be_visible()


def test_the_ledger_has_equal_totals(page: Page) -> None:
    page.get_by_role("link", name="Ledger").click()

    totals = page.locator("tfoot td.number")
    expect(totals).to_have_count(2)
    assert totals.nth(0).inner_text() == totals.nth(1).inner_text()


def test_a_write_appears_on_the_open_page(page: Page, company: Company) -> None:
    company.process_request(ADD.replace(HOSTILE, "Before"))
    page.get_by_role("link", name="Executed requests").click()
    requests = page.locator("tbody tr", has_text="CustomerAddRq")
    expect(requests.first).to_be_visible()
    before = requests.count()

    company.process_request(ADD.replace(HOSTILE, "Live"))

    expect(requests).to_have_count(before + 1)
