"""The part of QuickBooks that the Web Connector uses: a company, or one that fails on purpose."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from simulator.basics.clock import MachineClock
    from simulator.company.lock import CompanyLock
    from simulator.requests.facts import Product


class Session(Protocol):
    """The part of a session with QuickBooks that the Web Connector uses."""

    def process_request(self, text: str) -> str:
        """Answer a QBXML document. Raises `HresultError`."""
        ...

    def end(self) -> None:
        """End the session."""
        ...


class QuickBooks(Protocol):
    """The company file in QuickBooks: a `Company` or a `FaultyCompany`."""

    @property
    def lock(self) -> CompanyLock:
        """The one lock of the company."""
        ...

    @property
    def private_fields(self) -> dict[str, dict[str, str]]:
        """The private fields of applications, by OwnerID."""
        ...

    @property
    def clock(self) -> MachineClock:
        """The machine's clock."""
        ...

    @property
    def product(self) -> Product:
        """The QuickBooks."""
        ...

    @property
    def path(self) -> str:
        """The path of the company file that is open."""
        ...

    def begin_session(self, application: str, path: str = "") -> Session:
        """Open the company. Raises `HresultError`."""
        ...
