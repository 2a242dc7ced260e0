"""POST /connections/{connection_id}/redeliver: send many webhooks again."""

from functools import partial

from domain.queueing.many import ANY_REQUEST, ManyRequests
from domain.records.permissions import Permission
from handlers.rest import ApiCall, endpoint, services
from handlers.rest.models import NewRedelivery
from handlers.views.many import RedeliveredPart, redelivered_part


@endpoint("Connections", "POST /connections/{connection_id}/redeliver", needs=(Permission.OPERATE,), status=202)
def handler(call: ApiCall, connection_id: str, body: NewRedelivery) -> RedeliveredPart:
    """Send the webhooks of a connection again that failed in a range of time, or whose requests match a filter.

    A call does a part of the work. Call again with `next` as the `cursor` until `next` is null. Each webhook counts
    towards `redeliveries_per_minute`.
    """
    many = ManyRequests(
        services().store, services().clock, partial(services().quotas.check_read, call.app_id, call.limits)
    )
    tally = many.redeliver(
        call.app_id,
        connection_id,
        body.failed(),
        partial(services().quotas.check_redelivery, call.app_id, call.limits),
        actor=call.actor,
        which=body.filter.which() if body.filter else ANY_REQUEST,
        include_pending=body.include_pending,
        cursor=body.cursor,
        dry_run=body.dry_run,
    )
    return redelivered_part(tally)
