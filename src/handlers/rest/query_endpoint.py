"""The endpoints of convenience queries, which differ only in their entry in `domain.queries.tables`."""

from domain.errors import QuotaExceeded, UnsupportedByVersion
from domain.qbxml import default_version
from domain.queries import QUERIES
from handlers.rest import Call, Data, Endpoint, request_checks, services
from handlers.rest.endpoint import CONNECTION
from handlers.rest.queueing import queue, webhook_to
from handlers.views.requests import QueuedRequestView


def query_endpoint(name: str) -> Endpoint:
    """Return the handler of `GET /connections/{connection_id}/<name>`."""

    def query(call: Call, connection_id: str) -> Data[QueuedRequestView]:
        supported = services().requests.connection(call.app_id, connection_id).qbxml_version
        parameters = request_checks.query_parameters(call.event)
        request, webhook_url, may_iterate = QUERIES[name].build(parameters, default_version(supported))
        data, _ = queue(call, connection_id, request, webhook_to(webhook_url), may_iterate=may_iterate)
        return data

    query.__doc__ = f"""Queue a query for {name.replace("_", " ")}.

    Returns the queued request. Its webhook delivers the response of QuickBooks.
    """
    routes, errors = [f"GET {CONNECTION}/{name}"], (QuotaExceeded, UnsupportedByVersion)
    return Endpoint("Queries", routes, query, changes=True, query=QUERIES[name], status=202, errors=errors)
