"""GET /api_keys: list the API keys of the app."""

from domain.records.permissions import Permission
from handlers.rest import ApiCall, endpoint, services
from handlers.views.api_keys import KeyListView, key_view


@endpoint("API keys", "GET /api_keys", needs=(Permission.MANAGE,))
def handler(call: ApiCall) -> KeyListView:
    """List the API keys of the app, oldest first.

    The list has all active keys, and of those that were revoked or have expired the newest 300.
    """
    last_uses = services().store.last_uses(call.app_id)
    return {"data": [key_view(key, last_uses.get(key.id)) for key in services().api_keys.listed(call.app_id)]}
