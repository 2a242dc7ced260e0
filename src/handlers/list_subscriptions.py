"""GET /connections/{connection_id}/subscriptions: the subscriptions of a connection."""

from handlers.rest import ApiCall, endpoint, services
from handlers.views.subscriptions import SubscriptionListView, subscription_view


@endpoint("Subscriptions", "GET /connections/{connection_id}/subscriptions")
def handler(call: ApiCall, connection_id: str) -> SubscriptionListView:
    """List the subscriptions of a connection, oldest first. There are at most 20."""
    progress, found = services().subscriptions.all_of(call.app_id, connection_id)
    return {"data": [subscription_view(progress, one) for one in found]}
