"""DELETE /queued_requests/{request_id}, also below its connection: delete a record and its bodies."""

from typing import Annotated

from aws_lambda_powertools.event_handler.openapi.params import Query

from domain.errors import InFlight, InvalidState
from handlers.bootstrap import services
from handlers.rest import ConnectionId, Endpoint, RequestId
from handlers.rest.models import DeleteParameters

handler = Endpoint("Queued requests", changes=True)
OPTIONS = {"status": 204, "errors": (InFlight, InvalidState)}


@handler.delete("/api/v1/queued_requests/<request_id>", **OPTIONS)
@handler.delete("/api/v1/connections/<connection_id>/queued_requests/<request_id>", **OPTIONS)
def delete_queued_request(
    request_id: RequestId, parameters: Annotated[DeleteParameters, Query()], connection_id: ConnectionId | None = None
) -> None:
    """Delete a queued request that has ended.

    Deleting it again does nothing.
    """
    services().requests.delete(handler.app_id, request_id, connection_id, force=parameters.force)
