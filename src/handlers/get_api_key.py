"""GET /api_key: who calls, and what the caller may do."""

from domain.records.app import Scope
from domain.records.audit import ActorType
from domain.records.permissions import Role
from handlers.rest import ApiCall, Data, endpoint
from handlers.views.api_key import ApiKeyView


@endpoint("API keys", "GET /api_key", is_read=False)
def handler(call: ApiCall) -> Data[ApiKeyView]:
    """Get the scope, the name and the permissions of the API key.

    A client can use it to offer only the actions that the key allows, and to find its own actions in the audit log. The
    key itself is never returned. The console calls it with the token of a person who has signed in.
    """
    access, is_person = call.access, call.actor.type is ActorType.PERSON
    return {
        "data": {
            "app_id": call.app_id,
            "scope": access if isinstance(access, Scope) else None,
            "key_id": None if is_person else call.actor.id,
            "name": call.name,
            "person_id": call.actor.id if is_person else None,
            "role": access if isinstance(access, Role) else None,
            "permissions": sorted(call.permissions),
            "environment": call.environment,
        }
    }
