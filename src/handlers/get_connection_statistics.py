"""GET /connections/{connection_id}/statistics: activity, durations and webhooks of a connection."""

from domain.listing.overview import Overviews
from handlers.rest import ApiCall, Data, endpoint, services
from handlers.rest.models import StatisticsParameters
from handlers.views.statistics import StatisticsView, statistics


@endpoint("Statistics", "GET /connections/{connection_id}/statistics")
def handler(call: ApiCall, connection_id: str, parameters: StatisticsParameters) -> Data[StatisticsView]:
    """Get the statistics of a connection."""
    overview = Overviews(services().store, services().clock).of_connection(call.app_id, connection_id, parameters.days)
    return {"data": statistics(overview)}
