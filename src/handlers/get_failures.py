"""GET /failures: what failed in all connections of the app, by cause and by receiver."""

from domain.listing.causes import FailureReports
from domain.listing.overview import MAX_SECONDS
from handlers.rest import ApiCall, Data, endpoint, services
from handlers.rest.models import FailureParameters
from handlers.views.failures import FailuresView, failures


@endpoint("Statistics", "GET /failures")
def handler(call: ApiCall, parameters: FailureParameters) -> Data[FailuresView]:
    """Get what failed in all connections, by cause and by the receiver of webhooks.

    The answer reads every connection, so the call counts as a search.
    """
    now = services().clock()
    within = parameters.within(now)
    with services().quotas.searching(call.app_id, call.limits, MAX_SECONDS):
        report = FailureReports(services().store, services().clock).of_app(call.app_id, within)
    return {"data": failures(report, within, now)}
