"""POST /connections/{connection_id}/subscriptions: read the changes of objects."""

from domain.errors import InvalidState, NotFound
from domain.records.permissions import Permission
from handlers.rest import ApiCall, endpoint, services
from handlers.rest.models import NewSubscription
from handlers.rest.subscriptions import SubscriptionResponse, checked_settings, subscription_response


@endpoint(
    "Subscriptions",
    "POST /connections/{connection_id}/subscriptions",
    needs=(Permission.ADMINISTER,),
    status=201,
    errors=(NotFound, InvalidState),
)
def handler(call: ApiCall, connection_id: str, body: NewSubscription) -> SubscriptionResponse:
    """Create a subscription: the changes of these objects are read in sessions of the Web Connector.

    The first run is made in the next session. Changes are in `GET /events`, and go to the `webhook_url` if there is
    one. Runs only read, after the waiting requests, inside the sync window, and never while the connection is paused.
    """
    return subscription_response(
        services().subscriptions.create(call.app_id, connection_id, actor=call.actor, **checked_settings(body))
    )
