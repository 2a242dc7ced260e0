"""POST /connections/{connection_id}/subscriptions/{subscription_id}/run: read its objects in the next session."""

from domain.records.audit import Action
from domain.records.permissions import Permission
from handlers.rest import ApiCall, endpoint, services
from handlers.rest.subscriptions import SubscriptionResponse, subscription_response


@endpoint(
    "Subscriptions",
    "POST /connections/{connection_id}/subscriptions/{subscription_id}/run",
    needs=(Permission.OPERATE,),
)
def handler(call: ApiCall, connection_id: str, subscription_id: str) -> SubscriptionResponse:
    """Read the objects in the next session, even if they are not due."""
    return subscription_response(
        services().subscriptions.act(
            call.app_id, connection_id, subscription_id, Action.SUBSCRIPTION_RUN, actor=call.actor
        )
    )
