"""PATCH /contact: change the contact of the app."""

from domain.errors import NotFound
from domain.records.permissions import Permission
from handlers.rest import ApiCall, Data, endpoint, services
from handlers.rest.models import ChangedContact
from handlers.views.contact import ContactView, contact_view


@endpoint("Contact", "PATCH /contact", needs=(Permission.ADMINISTER,), errors=(NotFound,))
def handler(call: ApiCall, body: ChangedContact) -> Data[ContactView]:
    """Change the contact that customers see.

    A field that is not given stays as it is; null clears it. Onboarding pages that are open show the change with their
    next poll.
    """
    app = services().administration.set_contact(call.app_id, body.texts(), actor=call.actor)
    return {"data": contact_view(app.contact)}
