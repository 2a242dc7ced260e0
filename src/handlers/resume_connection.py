"""POST /connections/{connection_id}/resume: hand out its queue again."""

from typing import Any

from aws_lambda_powertools.event_handler import Response

from handlers.bootstrap import services
from handlers.rest import ConnectionId, Endpoint
from handlers.rest.connections import connection_answer

handler = Endpoint(changes=True)


@handler.post(
    "/api/v1/connections/<connection_id>/resume",
    operation_id="resume_connection",
    summary="Resume a paused connection",
    description="The queue is worked from the next session on. Resuming again does nothing.",
    response_description="The connection",
    tags=["Connections"],
)
def resume(connection_id: ConnectionId) -> Response[Any]:
    """Answer with the connection as it is now."""
    return connection_answer(services().connections.resume(handler.app_id, connection_id))
