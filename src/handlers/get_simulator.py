"""GET /connections/{connection_id}/simulator: the state of the simulator of a test connection."""

from handlers.rest import ApiCall, Data, endpoint
from handlers.rest.simulators import ERRORS, simulator_data
from handlers.views.simulators import SimulatorView


@endpoint("Test connections", "GET /connections/{connection_id}/simulator", errors=ERRORS)
def handler(call: ApiCall, connection_id: str) -> Data[SimulatorView]:
    """Get the simulator of a test connection: its company, its faults and its limits."""
    return {"data": simulator_data(call, connection_id, "show")}
