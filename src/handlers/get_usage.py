"""GET /usage: requests, writes and failures of all connections of the app, by month."""

from domain.listing.overview import MAX_SECONDS
from domain.listing.usage import UsageReports
from handlers.rest import ApiCall, Data, endpoint, services
from handlers.rest.models import UsageParameters
from handlers.views.usage import UsageView, usage


@endpoint("Statistics", "GET /usage")
def handler(call: ApiCall, parameters: UsageParameters) -> Data[UsageView]:
    """Get how many requests, writes and failures each connection had in each month, and how long its requests took.

    The answer reads every connection, so the call counts as a search.
    """
    first, last = parameters.months(services().clock())
    with services().quotas.searching(call.app_id, call.limits, MAX_SECONDS):
        report = UsageReports(services().store, services().clock).of_app(call.app_id, first, last)
    return {"data": usage(report, first, last)}
