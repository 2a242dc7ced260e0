"""GET /api_key: the scope and the name of the API key of the call."""

from handlers.rest import ApiCall, Data, endpoint
from handlers.views.api_key import ApiKeyView


@endpoint("API keys", "GET /api_key", is_read=False)
def handler(call: ApiCall) -> Data[ApiKeyView]:
    """Get the scope and the name of the API key.

    A client can use it to offer only the actions that the key allows, and to find its own actions in the audit log. The
    key itself is never returned.
    """
    key_id, name = call.actor.id, call.actor.name
    return {"data": {"app_id": call.app_id, "scope": call.scope, "key_id": key_id, "name": name}}
