"""DELETE /people/{person_id}: remove a member from the app."""

from domain.errors import InvalidState
from domain.records.permissions import Permission
from handlers.rest import ApiCall, endpoint, services


@endpoint("People", "DELETE /people/{person_id}", needs=(Permission.MANAGE,), status=204, errors=(InvalidState,))
def handler(call: ApiCall, person_id: str) -> None:
    """Remove a member from the app. The only admin cannot be removed.

    API Gateway may accept calls of the person until its cached credentials expire. The person stays a member of other
    apps.
    """
    services().members.remove(call.app_id, person_id, call.actor)
