"""POST /people/invitations: invite an email address to the app."""

from domain.errors import InvalidState
from domain.records.permissions import Permission
from handlers.rest import ApiCall, Data, endpoint, services
from handlers.rest.models import NewInvitation
from handlers.views.people import InvitationView, invitation_view


@endpoint(
    "People",
    "POST /people/invitations",
    needs=(Permission.MANAGE,),
    status=201,
    repeated_status=200,
    errors=(InvalidState,),
)
def handler(call: ApiCall, body: NewInvitation) -> tuple[Data[InvitationView], bool]:
    """Invite an email address to the app. The service sends no email: tell the person to sign in.

    The first person who signs in within 14 days, and whose provider says that the address is verified, becomes a member
    with this role. Another invitation of the same address replaces the role and the time.
    """
    invitation, is_repeated = services().members.invite(call.app_id, body.email, body.role, call.actor)
    return {"data": invitation_view(invitation)}, is_repeated
