"""POST /api_keys: create an API key of the app."""

from domain.errors import NotFound, TooManyKeys
from domain.records.permissions import Permission
from handlers.rest import ApiCall, Data, endpoint, services
from handlers.rest.models import NewApiKey
from handlers.views.api_keys import NewKeyView, new_key_view


@endpoint("API keys", "POST /api_keys", needs=(Permission.MANAGE,), status=201, errors=(TooManyKeys, NotFound))
def handler(call: ApiCall, body: NewApiKey) -> Data[NewKeyView]:
    """Create an API key.

    Only this response has the key itself.
    """
    new = services().api_keys.create(call.app_id, body.name, body.scope, body.expires_at, call.actor)
    return {"data": new_key_view(new)}
