"""GET /connections/{connection_id}/subscriptions/{subscription_id}: one subscription."""

from handlers.rest import ApiCall, endpoint, services
from handlers.rest.subscriptions import SubscriptionResponse, subscription_response


@endpoint("Subscriptions", "GET /connections/{connection_id}/subscriptions/{subscription_id}")
def handler(call: ApiCall, connection_id: str, subscription_id: str) -> SubscriptionResponse:
    """Get a subscription, with how far each of its objects has been read."""
    return subscription_response(services().subscriptions.get(call.app_id, connection_id, subscription_id))
