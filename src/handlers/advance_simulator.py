"""POST /connections/{connection_id}/simulator/advance: let days pass in the company."""

from domain.records.permissions import Permission
from handlers.rest import ApiCall, Data, endpoint
from handlers.rest.models import NewAdvance
from handlers.rest.simulators import ERRORS, simulator_data
from handlers.views.simulators import SimulatorView


@endpoint(
    "Test connections", "POST /connections/{connection_id}/simulator/advance", needs=(Permission.QUEUE,), errors=ERRORS
)
def handler(call: ApiCall, connection_id: str, body: NewAdvance | None = None) -> Data[SimulatorView]:
    """Let days pass in the company of a test connection: without a body, one.

    Only the machine of QuickBooks has another date. The clock of the service does not change.
    """
    days = (body or NewAdvance()).days
    return {"data": simulator_data(call, connection_id, "advance", days=days)}
