"""The endpoints of convenience queries, which differ only in their entry in `domain.queries.tables`."""

from collections.abc import Mapping, Sequence
from functools import partial

from domain.errors import QuotaExceeded, UnsupportedByVersion
from domain.qbxml import default_version
from domain.queries import QUERIES
from domain.queries.query import Query
from domain.queueing.new_request import NewRequest, QueueRequest, WebhookUrl
from domain.records.connection import Connection
from handlers.rest import Call, Data, Endpoint, request_checks, services
from handlers.rest.endpoint import CONNECTION
from handlers.views.requests import QueuedRequestView, new_queued_request


def query_endpoint(name: str) -> Endpoint:
    """Return the handler of `GET /connections/{connection_id}/<name>`."""

    def query(call: Call, connection_id: str) -> Data[QueuedRequestView]:
        read = partial(_new_request, QUERIES[name], request_checks.query_parameters(call.event))
        queued = services().queueing.queue(QueueRequest(call.app_id, connection_id, read, limits=call.limits))
        return {"data": new_queued_request(queued)}

    query.__doc__ = f"""Queue a query for {name.replace("_", " ")}.

    Returns the queued request. Its webhook delivers the response of QuickBooks.
    """
    routes, errors = [f"GET {CONNECTION}/{name}"], (QuotaExceeded, UnsupportedByVersion)
    return Endpoint("Queries", routes, query, changes=True, query=QUERIES[name], status=202, errors=errors)


def _new_request(query: Query, parameters: Mapping[str, Sequence[str]], connection: Connection) -> NewRequest:
    """Return the query in the version of the connection. Raises InvalidRequest."""
    request, webhook_url, may_iterate = query.build(parameters, default_version(connection.qbxml_version))
    return NewRequest(request, webhook_url or WebhookUrl.DEFAULT, may_iterate)
