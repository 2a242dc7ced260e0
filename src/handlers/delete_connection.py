"""DELETE /connections/{connection_id}: delete a connection and, soon after, its requests."""

from domain.errors import ConnectionActive
from domain.maintenance.connection_removal import remove_connection
from domain.records.permissions import Permission
from handlers.rest import ApiCall, endpoint, services


@endpoint(
    "Connections",
    "DELETE /connections/{connection_id}",
    needs=(Permission.ADMINISTER,),
    status=204,
    errors=(ConnectionActive,),
)
def handler(call: ApiCall, connection_id: str) -> None:
    """Delete a connection and its requests."""
    remove_connection(services().store, services().clock, call.app_id, connection_id, actor=call.actor)
