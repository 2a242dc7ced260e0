"""GET /connections/{connection_id}/queued_requests: one page of a connection's requests."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial

from domain.listing.lists import Lists
from domain.listing.query import ListQuery
from domain.listing.search import MAX_SEARCH_SECONDS
from domain.queueing import waiting_reason
from handlers.rest import ApiCall, endpoint, services
from handlers.rest.models import ListParameters
from handlers.views.requests import ListedRequestPageView, listed_request


@endpoint("Queued requests", "GET /connections/{connection_id}/queued_requests")
def handler(call: ApiCall, connection_id: str, parameters: ListParameters) -> ListedRequestPageView:
    """List a connection's requests.

    A page past the end is empty.
    """
    query = ListQuery(
        connection_id,
        parameters.which(),
        parameters.page,
        parameters.page_size,
        parameters.sort,
        descending=parameters.sort_direction == "desc",
        search_phrase=parameters.search_phrase,
        queued_by=parameters.queued_by,
        bodies=parameters.bodies,
    )
    searching = partial(services().quotas.searching, call.app_id, call.limits, MAX_SEARCH_SECONDS)
    # Read in parallel with the page. The connection determines why its requests wait.
    with ThreadPoolExecutor(1) as parallel:
        read = parallel.submit(services().store.connection, connection_id)
        page = Lists(services().store, services().clock).page(call.app_id, query, searching)
    now, connection = services().clock(), read.result()
    waits_since = waiting_reason.waiting_since((item.record for item in page.items), now)
    views = [
        listed_request(item, waiting=waiting_reason.of_request(item.record, connection, now, waits_since=waits_since))
        for item in page.items
    ]
    if parameters.include:
        successors = services().requests.successor_ids([item.record for item in page.items])
        for view in views:
            view["replaced_by"] = successors[view["id"]]
    return {
        "data": views,
        "page": page.page,
        "total": page.total,
        "total_pages": page.total_pages,
        "counts": {str(state): number for state, number in page.counts.items()},
        "awaiting_approval": page.awaiting_approval,
    }
