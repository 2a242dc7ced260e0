"""The view of an app's contact."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from typing_extensions import TypedDict

from handlers.views.schema import Schema

if TYPE_CHECKING:
    from domain.records.app import Contact


class ContactView(TypedDict):
    """The contact on the onboarding page. A field that is null is not shown."""

    name: Annotated[str | None, Schema("The name that customers know the app by", examples=["Bluewater Books"])]
    logo_url: str | None
    phone: str | None
    email: str | None


def contact_view(contact: Contact) -> ContactView:
    """Return the view of a contact."""
    return {"name": contact.name, "logo_url": contact.logo_url, "phone": contact.phone, "email": contact.email}
