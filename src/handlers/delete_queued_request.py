"""DELETE /queued_requests/{request_id}, also below its connection: delete a record and its bodies."""

from domain.errors import HasDependants, InvalidState, MayBeExecuted
from domain.records.permissions import Permission
from handlers.rest import ApiCall, endpoint, services
from handlers.rest.models import DeleteParameters


@endpoint(
    "Queued requests",
    "DELETE /queued_requests/{request_id}",
    needs=(Permission.ADMINISTER,),
    status=204,
    errors=(HasDependants, MayBeExecuted, InvalidState),
)
def handler(call: ApiCall, request_id: str, parameters: DeleteParameters, connection_id: str | None = None) -> None:
    """Delete a queued request that has ended.

    Deleting it again does nothing.
    """
    services().requests.delete(
        call.app_id,
        request_id,
        connection_id,
        actor=call.actor,
        force=parameters.force,
        dependants=parameters.dependants,
    )
