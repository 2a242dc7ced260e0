"""GET /api_key: the scope of the API key of the call."""

from handlers.rest import Call, Data, endpoint
from handlers.views.api_key import ApiKeyView


@endpoint("API keys", "GET /api_key")
def handler(call: Call) -> Data[ApiKeyView]:
    """Get the scope of the API key.

    For clients that offer only what the key allows. The key itself is never returned.
    """
    return {"data": {"app_id": call.app_id, "scope": call.scope}}
