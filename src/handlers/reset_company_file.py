"""POST /connections/{connection_id}/reset_company_file: accept the next session's company file."""

from domain.records.permissions import Permission
from handlers.rest import ApiCall, endpoint, services
from handlers.rest.connections import ConnectionResponse, connection_response


@endpoint("Connections", "POST /connections/{connection_id}/reset_company_file", needs=(Permission.ADMINISTER,))
def handler(call: ApiCall, connection_id: str) -> ConnectionResponse:
    """Accept the next session's company file.

    A connection is pinned to one company file by the mark (`FileID`) that its .qwc file left there. While a file with
    another mark is open, or a file without a mark at another path, nothing is sent, and `last_error.code` is
    `company_file_mismatch`. After a reset, requests are sent to files without a mark until a file with a mark is open;
    the connection is then pinned to that file. Resetting again changes nothing. A write whose response was lost is
    never repeated in a file other than the one that it was sent to.
    """
    return connection_response(services().connections.reset_company_file(call.app_id, connection_id, actor=call.actor))
