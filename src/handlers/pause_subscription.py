"""POST /connections/{connection_id}/subscriptions/{subscription_id}/pause: read its objects no more."""

from domain.records.audit import Action
from domain.records.permissions import Permission
from handlers.rest import ApiCall, endpoint, services
from handlers.rest.subscriptions import SubscriptionResponse, subscription_response


@endpoint(
    "Subscriptions",
    "POST /connections/{connection_id}/subscriptions/{subscription_id}/pause",
    needs=(Permission.OPERATE,),
)
def handler(call: ApiCall, connection_id: str, subscription_id: str) -> SubscriptionResponse:
    """Pause a subscription.

    Its objects are read no more, unless another subscription has them. Pausing again does nothing.
    """
    return subscription_response(
        services().subscriptions.act(
            call.app_id, connection_id, subscription_id, Action.SUBSCRIPTION_PAUSED, actor=call.actor
        )
    )
