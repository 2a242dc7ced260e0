"""GET /connections: one page of the app's connections."""

from domain.listing.connection_counts import counts_of
from handlers.rest import ApiCall, Page, endpoint, services
from handlers.rest.models import ConnectionListParameters
from handlers.views.connections import ConnectionView, connection


@endpoint("Connections", "GET /connections")
def handler(call: ApiCall, parameters: ConnectionListParameters) -> Page[ConnectionView]:
    """List the connections.

    Sorted by age, oldest first. A page past the end is empty.
    """
    items, total_pages = services().connections.page(call.app_id, parameters.page, parameters.page_size)
    now = services().clock()
    views = [connection(item, now) for item in items]
    if parameters.counts:
        counts = counts_of(services().store, [item.id for item in items])
        for view in views:
            own = counts.get(view["id"])
            view["counts"] = {str(state): number for state, number in own.by_state.items()} if own else {}
            view["awaiting_approval"] = own.awaiting_approval if own else 0
    return {"data": views, "page": parameters.page, "total_pages": total_pages}
