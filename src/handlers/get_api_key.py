"""GET /api_key: the scope of the API key of the call."""

from handlers.rest import Data, Endpoint
from handlers.views.api_key import ApiKeyView

handler = Endpoint("API keys")


@handler.route("GET", "/api/v1/api_key")
def get_api_key() -> Data[ApiKeyView]:
    """Get the scope of the API key.

    For clients that offer only what the key allows. The key itself is never returned.
    """
    return {"data": {"app_id": handler.app_id, "scope": handler.caller.scope}}
