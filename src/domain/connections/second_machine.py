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
    moment, failed = timestamp(now), remembered(connection.failed_beside, now)
    if connection.password_works:
        if failed and connection.login_failed_at:  # no good login between them
            failed = replace(failed, at=moment, address=address)
        else:
            failed = FailedLogins(moment, moment, failed.times + 1 if failed else 1, address)
    return replace(connection, login_failed_at=moment, failed_beside=failed)


def remembered(failed: FailedLogins | None, now: datetime) -> FailedLogins | None:
    """Return the failed logins beside good ones, or None if the last one is too long ago to count."""
    return failed if failed and failed.at > timestamp(now - FORGOTTEN_AFTER) else None


def warnings(connection: Connection, now: datetime, waits_since: str | None = None) -> list[ConnectionWarning]:
    """Return the warnings about a connection. `waits_since` is that of `missed_calls`."""
    failed = remembered(connection.failed_beside, now)
    if failed is None or has_wrong_password(connection, now, waits_since):
        return []
    if not failed.prove_second and connection.login_failed_at is None:
        return []
    address = f" (address {failed.address})" if failed.address else ""
    works = f"The current password works: it was last used at {connection.last_connected_at}."
    if not failed.prove_second:
        message = f"A Web Connector{address} called with a wrong password at {failed.at}. {works}"
    else:
        message = f"A second Web Connector{address} still calls with another password, last at {failed.at}. {works}"
    return [ConnectionWarning(SECOND_WEB_CONNECTOR, message, _HINT)]
