"""DELETE /queued_requests/{request_id}, also below its connection: delete a record and its bodies."""

from domain.errors import InFlight, InvalidState
from handlers.rest import REQUEST, REQUEST_OF_CONNECTION, Endpoint, services
from handlers.rest.models import DeleteParameters

handler = Endpoint("Queued requests", changes=True)


@handler.route("DELETE", REQUEST, REQUEST_OF_CONNECTION, status=204, errors=(InFlight, InvalidState))
def delete_queued_request(request_id: str, parameters: DeleteParameters, connection_id: str | None = None) -> None:
    """Delete a queued request that has ended.

    Deleting it again does nothing.
    """
    services().requests.delete(handler.app_id, request_id, connection_id, force=parameters.force)
