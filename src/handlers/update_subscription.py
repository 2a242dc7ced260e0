"""PATCH /connections/{connection_id}/subscriptions/{subscription_id}: change a subscription."""

from domain.records.permissions import Permission
from handlers.rest import ApiCall, endpoint, services
from handlers.rest.models import ChangedSubscription
from handlers.rest.subscriptions import SubscriptionResponse, checked_settings, subscription_response


@endpoint(
    "Subscriptions",
    "PATCH /connections/{connection_id}/subscriptions/{subscription_id}",
    needs=(Permission.ADMINISTER,),
)
def handler(call: ApiCall, connection_id: str, subscription_id: str, body: ChangedSubscription) -> SubscriptionResponse:
    """Change a subscription.

    A setting that is not given stays as it is. If an object is added, all of them begin again at `start`.
    """
    return subscription_response(
        services().subscriptions.update(
            call.app_id, connection_id, subscription_id, actor=call.actor, **checked_settings(body)
        )
    )
