"""PATCH /people/{person_id}: change the role of a member."""

from domain.errors import InvalidState
from domain.records.permissions import Permission
from handlers.rest import ApiCall, Data, endpoint, services
from handlers.rest.models import ChangedMember
from handlers.views.people import MemberView, member_view


@endpoint("People", "PATCH /people/{person_id}", needs=(Permission.MANAGE,), errors=(InvalidState,))
def handler(call: ApiCall, person_id: str, body: ChangedMember) -> Data[MemberView]:
    """Change the role of a member. The only admin of an app cannot lose this role.

    API Gateway uses the former role until its cached credentials expire.
    """
    return {"data": member_view(services().members.change_role(call.app_id, person_id, body.role, call.actor))}
