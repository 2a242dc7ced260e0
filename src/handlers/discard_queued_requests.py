"""POST /connections/{connection_id}/queued_requests/discard: take many requests out of the queue."""

from functools import partial

from domain.queueing.many import ManyRequests
from domain.records.permissions import Permission
from handlers.rest import ApiCall, endpoint, services
from handlers.rest.models import NewDiscard
from handlers.views.many import DiscardedPart, discarded_part


@endpoint("Queued requests", "POST /connections/{connection_id}/queued_requests/discard", needs=(Permission.OPERATE,))
def handler(call: ApiCall, connection_id: str, body: NewDiscard) -> DiscardedPart:
    """Take the requests that match a filter out of the queue.

    A call does a part of the work. Call again with `next` as the `cursor` until `next` is null. Requests that are
    queued after the first call stay, and so does what QuickBooks may be executing.
    """
    many = ManyRequests(
        services().store, services().clock, partial(services().quotas.check_read, call.app_id, call.limits)
    )
    tally = many.discard(
        call.app_id,
        connection_id,
        body.filter.which(),
        actor=call.actor,
        cursor=body.cursor,
        dry_run=body.dry_run,
    )
    return discarded_part(tally)
