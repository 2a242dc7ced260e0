"""POST /connections/{connection_id}/reset_company_file: take the next session's company file as the right one."""

from typing import Any

from aws_lambda_powertools.event_handler import Response

from handlers.bootstrap import services
from handlers.rest import ConnectionId, Endpoint
from handlers.rest.connections import connection_answer

handler = Endpoint(changes=True)


@handler.post(
    "/api/v1/connections/<connection_id>/reset_company_file",
    status_code=200,
    operation_id="reset_company_file",
    summary="Take the next session's company file as the right one",
    description=(
        "A connection is pinned to one company file by the mark (`FileID`) that its .qwc file left there. While a file "
        "with another mark is open, or one without a mark at another path, its queue is held and `last_error.code` is "
        "`company_file_mismatch`. After a reset files without a mark are worked in until one that bears a mark is "
        "open; that one becomes the connection's. Asking again changes nothing more. A write whose answer was lost is "
        "never repeated in another file than the one it was sent to."
    ),
    response_description="The connection",
    tags=["Connections"],
)
def reset(connection_id: ConnectionId) -> Response[Any]:
    """Answer with the connection as it is now."""
    return connection_answer(services().connections.reset_company_file(handler.app_id, connection_id))
