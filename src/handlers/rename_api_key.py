"""PATCH /api_keys/{key_id}: give an API key another name."""

from domain.records.permissions import Permission
from handlers.rest import ApiCall, Data, endpoint, services
from handlers.rest.models import ChangedApiKey
from handlers.views.api_keys import KeyView, key_view


@endpoint("API keys", "PATCH /api_keys/{key_id}", needs=(Permission.MANAGE,))
def handler(call: ApiCall, key_id: str, body: ChangedApiKey) -> Data[KeyView]:
    """Give an API key another name.

    What was done before keeps the former one.
    """
    key = services().api_keys.rename(call.app_id, key_id, body.name, call.actor)
    return {"data": key_view(key, services().store.last_use(call.app_id, key_id))}
