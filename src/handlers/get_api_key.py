"""GET /api_key: the scope of the API key of the call."""

from handlers.rest import Data, Endpoint
from handlers.rest.request_checks import caller
from handlers.views.api_key import ApiKeyView

handler = Endpoint("API keys")


@handler.route("GET", "/api/v1/api_key")
def get_api_key() -> Data[ApiKeyView]:
    """Get the scope of the API key.

    For clients that offer only what the key allows. The key itself is never returned.
    """
    key = caller(handler.event)
    return {"data": {"app_id": key.app_id, "scope": key.scope}}
