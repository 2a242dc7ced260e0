"""POST /connections/{connection_id}/accept_company_file: accept the company file at the path where it was found."""

from domain.errors import InvalidState
from domain.records.permissions import Permission
from handlers.rest import ApiCall, endpoint, services
from handlers.rest.connections import ConnectionResponse, connection_response


@endpoint(
    "Connections",
    "POST /connections/{connection_id}/accept_company_file",
    needs=(Permission.OPERATE,),
    errors=(InvalidState,),
)
def handler(call: ApiCall, connection_id: str) -> ConnectionResponse:
    """Accept the company file at the path where the last session found it.

    A copy of a company file has the same mark (`FileID`). If a file with the connection's mark is open at a path that
    was not seen before, nothing is sent, and `last_error` has the code `company_file_moved` and the `path`. After this
    call, requests are sent to the file at that path, too. `company_file_paths` lists all accepted paths, at most ten:
    two machines may see one file on a mapped drive and on a network share. If no path waits to be accepted, the call
    returns 400 `invalid_state`. A write whose response was lost is never repeated at another path than the one that it
    was sent to.
    """
    return connection_response(services().connections.accept_company_file(call.app_id, connection_id, actor=call.actor))
