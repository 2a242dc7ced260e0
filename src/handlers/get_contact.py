"""GET /contact: read the contact of the app."""

from domain.errors import NotFound
from handlers.rest import ApiCall, Data, endpoint, services
from handlers.views.contact import ContactView, contact_view


@endpoint("Contact", "GET /contact", errors=(NotFound,))
def handler(call: ApiCall) -> Data[ContactView]:
    """Get the contact that customers see.

    The onboarding page shows it: name, logo, phone number and email address.
    """
    return {"data": contact_view(services().administration.app(call.app_id).contact)}
