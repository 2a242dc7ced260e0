"""GET /people: the members of the app and its invitations."""

from domain.records.permissions import Permission
from handlers.rest import ApiCall, endpoint, services
from handlers.views.people import PeopleView, people_view


@endpoint("People", "GET /people", needs=(Permission.MANAGE,))
def handler(call: ApiCall) -> PeopleView:
    """List the members of the app by name, and the invitations that can still be redeemed.

    An app has at most 200 of them together.
    """
    return people_view(*services().members.members(call.app_id))
