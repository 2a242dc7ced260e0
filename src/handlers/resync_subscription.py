"""POST /connections/{connection_id}/subscriptions/{subscription_id}/resync: read all records of its objects again."""

from domain.records.audit import Action
from domain.records.permissions import Permission
from handlers.rest import ApiCall, endpoint, services
from handlers.rest.subscriptions import SubscriptionResponse, subscription_response


@endpoint(
    "Subscriptions",
    "POST /connections/{connection_id}/subscriptions/{subscription_id}/resync",
    needs=(Permission.ADMINISTER,),
)
def handler(call: ApiCall, connection_id: str, subscription_id: str) -> SubscriptionResponse:
    """Read all records of the objects again, as a snapshot with a new generation.

    Call it after `subscription.resync_required`, or if your copy is lost.
    """
    return subscription_response(
        services().subscriptions.act(
            call.app_id, connection_id, subscription_id, Action.SUBSCRIPTION_RESYNCED, actor=call.actor
        )
    )
