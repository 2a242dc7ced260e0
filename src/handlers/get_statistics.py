"""GET /statistics: activity, durations and health of all connections of the app."""

from domain.listing.overview import MAX_SECONDS, Overviews
from handlers.rest import ApiCall, Data, endpoint, services
from handlers.rest.models import StatisticsParameters
from handlers.views.statistics import AppStatisticsView, app_statistics


@endpoint("Statistics", "GET /statistics")
def handler(call: ApiCall, parameters: StatisticsParameters) -> Data[AppStatisticsView]:
    """Get the statistics of all connections.

    The answer reads every connection, so the call counts as a search.
    """
    overviews = Overviews(services().store, services().clock)
    with services().quotas.searching(call.app_id, call.limits, MAX_SECONDS):
        overview = overviews.of_app(call.app_id, parameters.days)
    return {"data": app_statistics(overview, services().clock())}
