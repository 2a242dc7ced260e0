"""The view of an API key."""

from typing_extensions import TypedDict

from domain.records.app import Scope
from handlers.views.schema import Uuid


class ApiKeyView(TypedDict):
    """The app and the scope of the API key of the call."""

    app_id: Uuid
    scope: Scope
