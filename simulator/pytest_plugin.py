"""A pytest plugin: the fixture `quickbooks` is a simulated QuickBooks whose books each test finds unchanged.

Installing the package enables it. In a checkout, `pytest -p simulator.pytest_plugin` does.
"""

from __future__ import annotations

import warnings
from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest

from simulator.basics.xml_trees import read_tree
from simulator.books import KINDS
from simulator.company import Company
from simulator.fidelity.strict import about
from simulator.inspection import serving, views
from simulator.runs.scheduler import Simulator

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from xml.etree.ElementTree import Element

    from simulator.web_connector.connector import SessionResult

_HAVE_BALANCES = ("Account", "Customer", "Vendor")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of the configuration file."""
    parser.addini(
        "quickbooks_strict",
        "Warn when a test depends on a behaviour that is not QuickBooks' (simulator/FIDELITY.md)",
        type="bool",
        default=False,
    )
    parser.addini(
        "quickbooks_company",
        "The company of the fixture quickbooks: wholesale, empty, large, or a JSON file of qbxml-simulator",
        default="empty",
    )


@pytest.fixture(scope="session")
def quickbooks_company(pytestconfig: pytest.Config) -> Company:
    """Return the company that all tests begin with. A project can override this fixture in its conftest.py."""
    return Company.opened(str(pytestconfig.getini("quickbooks_company")))


@pytest.fixture
def quickbooks(quickbooks_company: Company, pytestconfig: pytest.Config) -> Iterator[QuickBooks]:
    """Return a QuickBooks whose company is restored after the test. A strict company warns of simplifications."""
    before = quickbooks_company.snapshot()
    quickbooks_company.simplifications.clear()
    if pytestconfig.getini("quickbooks_strict"):
        quickbooks_company.strict = True
    with ExitStack() as stack:
        yield QuickBooks(quickbooks_company, stack)
    simplified = list(quickbooks_company.simplifications)
    quickbooks_company.restore(before)
    quickbooks_company.open_error = None
    for name in simplified:
        warnings.warn(f"not known to be as in QuickBooks: {name}. {about(name)}", FidelityWarning, stacklevel=1)


class FidelityWarning(UserWarning):
    """A test depends on a behaviour that is not QuickBooks'."""


class QuickBooks:
    """A QuickBooks in which one company file is open."""

    def __init__(self, company: Company, stack: ExitStack) -> None:
        self.company = company
        self._stack = stack
        self._url = ""
        self._before = self._counts()
        self._executed_before = len(company.executed)

    @property
    def url(self) -> str:
        """The URL of the inspection API and of `POST /qbxml` in it. The server ends with the test."""
        if not self._url:
            self._url = self._stack.enter_context(serving(self.company))
        return self._url

    def process(self, document: str) -> str:
        """Answer a QBXML document as the request processor does. Raises `HresultError`."""
        return self.company.process_request(document)

    def ask(self, requests: str, *, version: str = "16.0", on_error: str = "continueOnError") -> list[Element]:
        """Answer requests, written without the envelope of a message set. Returns their Rs elements."""
        envelope = f'<QBXML><QBXMLMsgsRq onError="{on_error}">{requests}</QBXMLMsgsRq></QBXML>'
        text = f'<?xml version="1.0"?><?qbxml version="{version}"?>{envelope}'
        return list(read_tree(self.process(text.encode("ascii", "xmlcharrefreplace").decode()))[0])

    def run_session(self, qwc: str, password: str) -> SessionResult:
        """Run one session of a Web Connector against the service that the text of a `.qwc` file names."""
        return Simulator(qwc, password, self.company).run_once()

    def assert_books(
        self,
        *,
        balances: Mapping[str, str] | None = None,
        added: Mapping[str, int] | None = None,
        executed: Mapping[str, int] | None = None,
    ) -> None:
        """Assert that the books balance and have no other problem, and that what is named is so.

        `balances` are those of accounts, customers or vendors by full name, as queries return them: {"Checking":
        "25.00"}. `added` is how many more records of a kind there are than before the test: {"Invoice": 1}. `executed`
        is how often the test's requests succeeded: {"InvoiceAddRq": 1}. The message lists everything that differs.
        """
        __tracebackhide__ = True
        differences = [
            *views.problems(self.company),
            *self._differences_of_balances(balances or {}),
            *self._differences_of_counts(added or {}),
            *self._differences_of_requests(executed or {}),
        ]
        if differences:
            raise AssertionError("The books are not as expected:\n" + "\n".join(differences))

    def _differences_of_balances(self, balances: Mapping[str, str]) -> Iterator[str]:
        books = self.company.books
        for name, expected in balances.items():
            record = next(filter(None, (books.named(name, (kind,)) for kind in _HAVE_BALANCES)), None)
            if record is None:
                yield f"There is no account, customer or vendor {name}."
            elif (balance := views.row(books, record).get("Balance")) != expected:
                yield f"The balance of {name} is {balance}, not {expected}."

    def _differences_of_counts(self, added: Mapping[str, int]) -> Iterator[str]:
        counts = self._counts()
        for kind, expected in added.items():
            if kind not in counts:
                yield f"There is no kind of record {kind}."
            elif (more := counts[kind] - self._before[kind]) != expected:
                yield f"{more} more {kind} records than before the test, not {expected}."

    def _differences_of_requests(self, executed: Mapping[str, int]) -> Iterator[str]:
        done = [execution.name for execution in self.company.executed[self._executed_before :] if execution.succeeded]
        for name, expected in executed.items():
            if done.count(name) != expected:
                yield f"{name} succeeded {done.count(name)} times, not {expected}."

    def _counts(self) -> dict[str, int]:
        return {kind: len(self.company.books[kind]) for kind in KINDS}
