"""Whether a second Web Connector calls with another password, which happens after a move to a new computer.

The protocol names no machine, and the computers of an office share an address. A login that fails proves a second Web
Connector only if good logins continue. One failure after a good login can be a typing error.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING

from domain.connections.calls import has_wrong_password
from domain.records.connection import FailedLogins
from domain.timestamps import timestamp

if TYPE_CHECKING:
    from datetime import datetime

    from domain.records.connection import Connection

FORGOTTEN_AFTER = timedelta(days=1)
"""The warning ends so long after the last failed login. A machine that is off at night calls again within this time."""

PROVED_BY = 2
"""So many failed logins between good ones prove a second Web Connector."""

SECOND_WEB_CONNECTOR = "second_web_connector"

WARNING_CODES = (SECOND_WEB_CONNECTOR,)

_HINT = (
    "Nothing waits because of this. If the Web Connector was moved to a new computer, remove the application from the "
    "Web Connector of the old one. If there is only one computer, type the connection's password into it again. "
    "Computers of one office can have the same address."
)


@dataclass(frozen=True, slots=True)
class ConnectionWarning:
    """Something about a connection that needs a person, although nothing waits because of it."""

    code: str
    message: str
    hint: str


def after_failed_login(connection: Connection, now: datetime, address: str | None) -> Connection:
    """Return the connection with a login that failed now. `address` is None if it is not known."""
    moment, failed = timestamp(now), connection.failed_beside
    if connection.password_works:
        recent = failed is not None and failed.at > timestamp(now - FORGOTTEN_AFTER)
        before = failed.times if failed and recent else 0
        follows_a_good_one = connection.login_failed_at is None or before == 0
        failed = FailedLogins(moment, address, before + follows_a_good_one)
    return replace(connection, login_failed_at=moment, failed_beside=failed)


def warnings(connection: Connection, now: datetime) -> list[ConnectionWarning]:
    """Return the warnings about a connection."""
    failed = connection.failed_beside
    if failed is None or failed.at <= timestamp(now - FORGOTTEN_AFTER) or has_wrong_password(connection, now):
        return []
    if failed.times < PROVED_BY and connection.login_failed_at is None:
        return []
    address = f" (address {failed.address})" if failed.address else ""
    works = f"The current password works: it was last used at {connection.last_connected_at}."
    if failed.times < PROVED_BY:
        message = f"A Web Connector{address} called with a wrong password at {failed.at}. {works}"
    else:
        message = f"A second Web Connector{address} still calls with another password, last at {failed.at}. {works}"
    return [ConnectionWarning(SECOND_WEB_CONNECTOR, message, _HINT)]
