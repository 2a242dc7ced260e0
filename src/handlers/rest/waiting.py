"""Queueing with a call that may wait until the request has ended (`Prefer: wait=20`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from domain.errors import ServiceError
from handlers.common.bootstrap import services
from handlers.common.logs import ServiceLogger
from handlers.rest.request_checks import preferred_wait

if TYPE_CHECKING:
    from domain.queueing.new_request import Queued, QueueRequest
    from handlers.rest.request_checks import ApiCall

logger = ServiceLogger()


def queue_and_wait(call: ApiCall, command: QueueRequest) -> Queued:
    """Queue a request, and wait for as long as its `Prefer` header says.

    The response has `Preference-Applied` if the call could wait. Raises InvalidRequest for a wrong header, and the
    errors of `Queueing.queue`.
    """
    seconds = preferred_wait(call.event)
    if seconds is None:
        return services().queueing.queue(command)
    until = services().waiting_calls.end_of(seconds)
    queued = services().queueing.queue(command)
    try:
        if services().waiting_calls.wait(queued.stored.record, until):
            queued = services().queueing.current(queued)
            call.response_headers["Preference-Applied"] = f"wait={seconds}"
    except ServiceError:
        pass  # for example, it was deleted meanwhile
    except Exception:
        # The request is queued, so the caller must get its id.
        logger.exception("fault", request_id=call.event["requestContext"]["requestId"])
    return queued
