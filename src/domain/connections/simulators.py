"""The simulated QuickBooks of test connections, as the service sees it: a port, and the use cases that need it.

The simulator is a program of its own, which shares no code with the service. It logs in at `/qbwc` like any other Web
Connector. The service only makes it, wakes it, passes on what a test asks of it, and deletes it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from domain.errors import InvalidRequest, InvalidState, NotFound, TooManyRequests
from domain.records.ownership import owned_connection

if TYPE_CHECKING:
    from collections.abc import Mapping

    from domain.records.connection import Connection
    from domain.storage.ports import ConnectionStore

COMPANIES = ("wholesale", "empty")
"""The companies that a test connection can have."""

MAX_DAYS = 3650
"""How many days later than today a company may be."""

NOT_A_TEST_CONNECTION = "This is not a test connection, so it has no simulator. Create one with `simulated`."


class Simulators(Protocol):
    """The simulators of all test connections."""

    def wake(self, connection_id: str) -> None:
        """Let the Web Connector of a test connection run a session soon. Returns at once."""
        ...

    def call(self, connection_id: str, operation: str, **arguments: Any) -> Mapping[str, Any]:
        """Carry out an operation, and return its `data`, or its `error` with `code` and `message`."""
        ...


def no_simulator(_: str) -> None:
    """Do nothing for a test connection: stands for a deployment that has none."""


def call_simulator(
    store: ConnectionStore, simulators: Simulators, app_id: str, connection_id: str, operation: str, **arguments: Any
) -> Any:
    """Carry out an operation of a test connection of this app, and return its data.

    `arguments` are members of the body or parameters: errors name the first one. Raises NotFound, InvalidState for a
    connection that is not a test connection, InvalidRequest, and TooManyRequests if the company is being changed.
    """
    connection = owned_connection(store.connection(connection_id), app_id)
    if not connection.simulated:
        raise InvalidState(NOT_A_TEST_CONNECTION)
    result = simulators.call(connection.id, operation, **arguments)
    if error := result.get("error"):
        match error["code"]:
            case "not_found":
                raise NotFound(error["message"])
            case "changed":
                raise TooManyRequests(error["message"])
            case _:
                raise InvalidRequest.of(next(iter(arguments), operation), error["message"])
    return result["data"]


def refuse_for_simulator(connection: Connection) -> Connection:
    """Return the connection. Raises InvalidState for a test connection, whose password only its simulator has."""
    if connection.simulated:
        raise InvalidState("Only its simulator has the password of a test connection, and it cannot be set.")
    return connection
