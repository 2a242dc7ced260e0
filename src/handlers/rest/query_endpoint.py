"""The endpoints of convenience queries, which differ only in their entry in `domain.queries.tables`."""

from domain.errors import QuotaExceeded, UnsupportedByVersion
from domain.qbxml import default_version
from domain.queries import QUERIES
from handlers.rest import Data, Endpoint, request_checks, services
from handlers.rest.queueing import queue, webhook_to
from handlers.views.requests import QueuedRequestView


def query_endpoint(name: str) -> Endpoint:
    """Return the handler of `GET /connections/{connection_id}/<name>`."""
    endpoint = Endpoint("Queries", changes=True, query=QUERIES[name])

    def query(connection_id: str) -> Data[QueuedRequestView]:
        supported = services().requests.connection(endpoint.app_id, connection_id).qbxml_version
        parameters = request_checks.query_parameters(endpoint.event)
        request, webhook_url, may_iterate = QUERIES[name].build(parameters, default_version(supported))
        caller, webhook = endpoint.caller, webhook_to(webhook_url)
        data, _ = queue(caller, connection_id, request, webhook, may_iterate=may_iterate)
        return data

    query.__doc__ = f"""Queue a query for {name.replace("_", " ")}.

    Returns the queued request. Its webhook delivers the response of QuickBooks.
    """
    endpoint.route(
        "GET",
        f"/api/v1/connections/<connection_id>/{name}",
        status=202,
        operation_id=f"query_{name}",
        errors=(QuotaExceeded, UnsupportedByVersion),
    )(query)
    return endpoint
