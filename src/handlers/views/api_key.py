"""The view of an API key."""

from typing import Annotated

from typing_extensions import TypedDict

from domain.records.app import Scope
from handlers.views.schema import Schema, Uuid


class ApiKeyView(TypedDict):
    """The app, the scope, the id and the name of the API key of the call."""

    app_id: Uuid
    scope: Scope
    key_id: Annotated[str | None, Schema("The id of the key in the audit log", examples=["key_3b1f0c9d5e7a2468"])]
    name: Annotated[str | None, Schema("The operator's name for the key. Null without one", examples=["Nightly sync"])]
