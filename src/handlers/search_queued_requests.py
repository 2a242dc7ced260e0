"""GET /search: the requests of all connections of the app that have a whole value."""

from domain.listing.overview import MAX_SECONDS
from domain.listing.value_search import ValueSearches
from handlers.rest import ApiCall, Data, endpoint, services
from handlers.rest.models import SearchParameters
from handlers.views.search import SearchView, search


@endpoint("Queued requests", "GET /search")
def handler(call: ApiCall, parameters: SearchParameters) -> Data[SearchView]:
    """Find the requests of all connections by label, number, customer, vendor or error, newest first.

    A value is compared as a whole, without regard to case. The answer names the connections that it has not searched,
    or not to their beginning. The call counts as a search.
    """
    with services().quotas.searching(call.app_id, call.limits, MAX_SECONDS):
        report = ValueSearches(services().store, services().clock).of_app(
            call.app_id, parameters.value, parameters.limit, parameters.before
        )
    return {"data": search(report)}
