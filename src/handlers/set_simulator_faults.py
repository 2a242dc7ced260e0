"""POST /connections/{connection_id}/simulator/faults: let things fail."""

from domain.records.permissions import Permission
from handlers.rest import ApiCall, Data, endpoint
from handlers.rest.models import NewFaults
from handlers.rest.simulators import ERRORS, simulator_data
from handlers.views.simulators import SimulatorView


@endpoint(
    "Test connections", "POST /connections/{connection_id}/simulator/faults", needs=(Permission.QUEUE,), errors=ERRORS
)
def handler(call: ApiCall, connection_id: str, body: NewFaults) -> Data[SimulatorView]:
    """Replace the faults of a test connection, which happen from the next session on.

    Events are counted from this call on. A late execution happens at the end of its session at the latest.
    """
    return {"data": simulator_data(call, connection_id, "faults", steps=body.steps, expect=body.expect)}
