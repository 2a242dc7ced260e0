"""DELETE /queued_requests/{request_id}, also below its connection: delete a record and its bodies."""

from typing import Annotated

from aws_lambda_powertools.event_handler.openapi.params import Query

from domain.errors import InFlight, InvalidState
from handlers.bootstrap import services
from handlers.rest import REQUEST, REQUEST_OF_CONNECTION, ConnectionId, Endpoint, RequestId
from handlers.rest.models import DeleteParameters

handler = Endpoint("Queued requests", changes=True)
ERRORS = (InFlight, InvalidState)


@handler.route("DELETE", REQUEST, status=204, errors=ERRORS)
@handler.route("DELETE", REQUEST_OF_CONNECTION, status=204, errors=ERRORS)
def delete_queued_request(
    request_id: RequestId, parameters: Annotated[DeleteParameters, Query()], connection_id: ConnectionId | None = None
) -> None:
    """Delete a queued request that has ended.

    Deleting it again does nothing.
    """
    services().requests.delete(handler.app_id, request_id, connection_id, force=parameters.force)
