"""POST /connections/{connection_id}/simulator/reset: begin again with the company as it was made."""

from domain.records.permissions import Permission
from handlers.rest import ApiCall, Data, endpoint
from handlers.rest.simulators import ERRORS, simulator_data
from handlers.views.simulators import SimulatorView


@endpoint(
    "Test connections", "POST /connections/{connection_id}/simulator/reset", needs=(Permission.QUEUE,), errors=ERRORS
)
def handler(call: ApiCall, connection_id: str) -> Data[SimulatorView]:
    """Reset the company of a test connection to its beginning, on the present day and without faults.

    Queued requests stay queued. A write that QuickBooks was executing is sent again.
    """
    return {"data": simulator_data(call, connection_id, "reset")}
