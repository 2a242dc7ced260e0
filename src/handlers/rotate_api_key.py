"""POST /api_keys/{key_id}/rotate: create the API key that takes the place of another one."""

from domain.errors import TooManyKeys
from domain.records.permissions import Permission
from handlers.rest import ApiCall, Data, endpoint, services
from handlers.rest.models import NewRotation
from handlers.views.api_keys import NewKeyView, new_key_view


@endpoint("API keys", "POST /api_keys/{key_id}/rotate", needs=(Permission.MANAGE,), status=201, errors=(TooManyKeys,))
def handler(call: ApiCall, key_id: str, body: NewRotation | None = None) -> Data[NewKeyView]:
    """Create the API key that takes the place of another one, with its name and scope.

    Both work until you revoke the former one. Neither can approve what the other has queued. Only this response has the
    key itself.
    """
    expires_at = body.expires_at if body else None
    return {"data": new_key_view(services().api_keys.rotate(call.app_id, key_id, expires_at, call.actor))}
