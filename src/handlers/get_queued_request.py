"""GET /queued_requests/{request_id}, also below its connection: one record with its bodies."""

from domain.errors import Gone
from domain.queueing.waiting_calls import WaitFor
from domain.records.audit import Actor
from domain.web_connector.outcomes.sent_document import sent_document
from handlers.rest import ApiCall, Data, endpoint, services
from handlers.rest.models import DetailParameters
from handlers.rest.people import names_of_people
from handlers.views.audit_log import actor_view
from handlers.views.requests import QueuedRequestView, batch_member, queued_request


@endpoint("Queued requests", "GET /queued_requests/{request_id}", errors=(Gone,))
def handler(
    call: ApiCall, parameters: DetailParameters, request_id: str, connection_id: str | None = None
) -> Data[QueuedRequestView]:
    """Get a queued request."""
    if parameters.wait:
        waiting_calls = services().waiting_calls
        until = waiting_calls.end_of(parameters.wait)
        waiting_calls.wait_to_get(call.app_id, request_id, connection_id, until, WaitFor(parameters.wait_for))
    stored, waiting = services().requests.detail(call.app_id, request_id, connection_id)
    view = queued_request(stored, waiting=waiting, with_result=parameters.include == "result")
    _add_names(view, stored.queued_by)
    if successor_id := services().requests.successor_id(stored.record):
        view["replaced_by"] = successor_id
    if parameters.include == "sent_xml":
        view["sent_xml"] = sent_document(stored)
    if parameters.include == "batch":
        view["batch"] = [batch_member(one) for one in services().requests.batch_of(stored.record)]
    return {"data": view}


def _add_names(view: QueuedRequestView, author: Actor | None) -> None:
    """Add the names of who queued the request and of who decided about it."""
    approval = view["approval"]
    decider = Actor.of_id(approval["decided_by"]) if approval else None
    names = names_of_people([author, decider])
    if author:
        view["queued_by"] = actor_view(author, names)
    if approval and decider:
        approval["decided_by_name"] = names.get(decider.id or "")
