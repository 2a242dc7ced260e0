"""POST /connections/{connection_id}/queued_requests/queue_again: queue many ended requests again."""

from functools import partial

from domain.queueing.queue_again import QueueAgain
from domain.records.permissions import Permission
from handlers.rest import ApiCall, endpoint, services
from handlers.rest.models import NewQueueAgain
from handlers.views.many import QueuedAgainPart, queued_again_part


@endpoint(
    "Queued requests",
    "POST /connections/{connection_id}/queued_requests/queue_again",
    needs=(Permission.OPERATE,),
    status=201,
)
def handler(call: ApiCall, connection_id: str, body: NewQueueAgain) -> QueuedAgainPart:
    """Queue the requests again that match a filter and that failed or were discarded, each as a new request.

    A call does a part of the work. Call again with `next` as the `cursor` until `next` is null. A request is queued
    again at most once. Writes that QuickBooks may have executed are left out.
    """
    quotas = services().quotas

    def check_quota(size: int) -> None:
        quotas.check_create(call.app_id, call.limits)
        quotas.check_written(call.app_id, call.limits, size)

    use_case = QueueAgain(
        services().store,
        services().clock,
        partial(services().quotas.check_read, call.app_id, call.limits),
        author=call.author,
    )
    tally = use_case.queue_again(
        call.app_id,
        connection_id,
        body.filter.which(),
        check_quota,
        actor=call.actor,
        cursor=body.cursor,
        dry_run=body.dry_run,
    )
    return queued_again_part(tally)
