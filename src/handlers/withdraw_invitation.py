"""DELETE /people/invitations/{invitation_id}: withdraw an invitation."""

from domain.records.permissions import Permission
from handlers.rest import ApiCall, endpoint, services


@endpoint("People", "DELETE /people/invitations/{invitation_id}", needs=(Permission.MANAGE,), status=204)
def handler(call: ApiCall, invitation_id: str) -> None:
    """Withdraw an invitation. A person who has redeemed it stays a member."""
    services().members.withdraw(call.app_id, invitation_id, call.actor)
