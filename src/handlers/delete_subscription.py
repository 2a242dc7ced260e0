"""DELETE /connections/{connection_id}/subscriptions/{subscription_id}: read its objects no more."""

from domain.records.permissions import Permission
from handlers.rest import ApiCall, endpoint, services


@endpoint(
    "Subscriptions",
    "DELETE /connections/{connection_id}/subscriptions/{subscription_id}",
    needs=(Permission.ADMINISTER,),
    status=204,
)
def handler(call: ApiCall, connection_id: str, subscription_id: str) -> None:
    """Delete a subscription. What was read is forgotten, unless another subscription has the object."""
    services().subscriptions.delete(call.app_id, connection_id, subscription_id, actor=call.actor)
