"""The endpoints of convenience queries, which differ only in their entry in `domain.queries.tables`."""

from collections.abc import Mapping, Sequence
from functools import partial

from domain.errors import IdempotencyKeyReused, UnsupportedByVersion
from domain.qbxml import default_version
from domain.queries import QUERIES
from domain.queries.query import Query
from domain.queueing.new_request import Idempotency, NewRequest, QueueRequest, WebhookUrl
from domain.records.connection import Connection
from domain.records.permissions import Permission
from handlers.rest import ApiCall, Data, Endpoint, request_checks
from handlers.rest.endpoint import CONNECTION
from handlers.rest.waiting import queue_and_wait
from handlers.views.requests import QueuedRequestView, new_queued_request


def query_endpoint(name: str) -> Endpoint:
    """Return the handler of `GET` and `POST /connections/{connection_id}/<name>`, which do the same."""

    def query(call: ApiCall, connection_id: str) -> tuple[Data[QueuedRequestView], bool]:
        parameters = request_checks.query_parameters(call.event)
        request_checks.require_proposal(call, webhook_url="webhook_url" in parameters)
        key = request_checks.idempotency_key(call.event)
        idempotency = Idempotency.of(key, connection_id, [name, dict(parameters)]) if key else None
        read = partial(_new_request, QUERIES[name], parameters)
        command = QueueRequest(call.app_id, connection_id, read, idempotency, call.limits, author=call.author)
        queued = queue_and_wait(call, command)
        return {"data": new_queued_request(queued)}, queued.repeated

    query.__doc__ = f"""Queue a query for {name.replace("_", " ")}.

    Returns the queued request. Its webhook delivers the response of QuickBooks. A call that is repeated with the same
    `Idempotency-Key` within 24 hours returns the first record with status 200. A browser gets 403 for `GET`.
    """
    return Endpoint(
        "Queries",
        [f"{method} {CONNECTION}/{name}" for method in ("GET", "POST")],
        query,
        needs=(Permission.PROPOSE,),
        queues=True,
        query=QUERIES[name],
        status=202,
        repeated_status=200,
        errors=(IdempotencyKeyReused, UnsupportedByVersion),
    )


def _new_request(query: Query, parameters: Mapping[str, Sequence[str]], connection: Connection) -> NewRequest:
    """Return the query in the version of the connection. Raises InvalidRequest."""
    built = query.build(parameters, default_version(connection.qbxml_version))
    return NewRequest(
        built.request,
        built.webhook_url or WebhookUrl.DEFAULT,
        built.may_iterate,
        built.label,
        built.metadata,
        send_by=built.send_by,
        is_low=built.is_low,
    )
