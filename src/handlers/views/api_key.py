"""The view of an API key or of a session token."""

from typing import Annotated

from typing_extensions import TypedDict

from domain.records.app import Environment, Scope
from domain.records.permissions import Permission, Role
from handlers.views.schema import Schema, Uuid


class ApiKeyView(TypedDict):
    """The caller: the API key or the person, the app, and what the caller may do in it."""

    app_id: Uuid
    scope: Annotated[Scope | None, Schema("The scope of the API key. Null for a person")]
    key_id: Annotated[str | None, Schema("The id of the key in the audit log", examples=["key_3b1f0c9d5e7a2468"])]
    name: Annotated[
        str | None,
        Schema(
            "The name of the API key, or null without one. For a person, the person's name", examples=["Nightly sync"]
        ),
    ]
    person_id: Annotated[Uuid | None, Schema("The id of the person in the audit log. Null for an API key")]
    role: Annotated[Role | None, Schema("The role of the person in the app. Null for an API key")]
    permissions: Annotated[list[Permission], Schema("What the caller may do")]
    environment: Environment
