"""DELETE /api_keys/{key_id}: revoke an API key."""

from domain.records.permissions import Permission
from handlers.rest import ApiCall, Data, endpoint, services
from handlers.views.api_keys import KeyView, key_view


@endpoint("API keys", "DELETE /api_keys/{key_id}", needs=(Permission.MANAGE,))
def handler(call: ApiCall, key_id: str) -> Data[KeyView]:
    """Revoke an API key.

    API Gateway can accept it for another minute. Revoking it again changes nothing.
    """
    key = services().api_keys.revoke(call.app_id, key_id, call.actor)
    return {"data": key_view(key, services().store.last_use(call.app_id, key_id))}
