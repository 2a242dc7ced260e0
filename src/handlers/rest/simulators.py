"""Code that the endpoints of the simulators of test connections share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from domain.connections.simulators import call_simulator
from domain.errors import InvalidState, TestConnectionsOff
from handlers.common.bootstrap import services

if TYPE_CHECKING:
    from handlers.rest.request_checks import ApiCall

ERRORS = (InvalidState, TestConnectionsOff)
"""The errors of a connection that is not a test connection, and of a deployment without them."""


def simulator_data(call: ApiCall, connection_id: str, operation: str, **arguments: Any) -> Any:
    """Return the data of an operation. Raises the errors of `call_simulator`, and TestConnectionsOff."""
    return call_simulator(services().store, services().simulators, call.app_id, connection_id, operation, **arguments)
