"""POST /connections/{connection_id}/subscriptions/{subscription_id}/resume: read its objects again."""

from domain.records.audit import Action
from domain.records.permissions import Permission
from handlers.rest import ApiCall, endpoint, services
from handlers.rest.subscriptions import SubscriptionResponse, subscription_response


@endpoint(
    "Subscriptions",
    "POST /connections/{connection_id}/subscriptions/{subscription_id}/resume",
    needs=(Permission.OPERATE,),
)
def handler(call: ApiCall, connection_id: str, subscription_id: str) -> SubscriptionResponse:
    """Resume a subscription. The reading goes on where it had stopped. Resuming again does nothing."""
    return subscription_response(
        services().subscriptions.act(
            call.app_id, connection_id, subscription_id, Action.SUBSCRIPTION_RESUMED, actor=call.actor
        )
    )
