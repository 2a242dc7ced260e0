"""The views of the API keys of an app."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from typing_extensions import TypedDict

from domain.records.app import Scope
from handlers.views.schema import Moment, Schema

if TYPE_CHECKING:
    from domain.apps.administration import NewKey
    from domain.records.app import ApiKey


class KeyView(TypedDict):
    """An API key of the app, without its text."""

    id: Annotated[str, Schema("The id in the audit log and in `queued_by`", examples=["key_3b1f0c9d5e7a2468"])]
    name: str | None
    scope: Scope
    label: Annotated[str, Schema("The first characters of the key", examples=["sk_Zm9vYmFy"])]
    inserted_at: Moment
    expires_at: Moment | None
    revoked_at: Moment | None
    last_used_at: Annotated[Moment | None, Schema("The hour of the last use")]
    first_key_id: Annotated[str | None, Schema("The id of the first key, if this one was rotated from it")]


class KeyListView(TypedDict):
    """The API keys of the app, oldest first."""

    data: list[KeyView]


class NewKeyView(KeyView):
    """A new API key."""

    key: Annotated[str, Schema("The key itself. No other call returns it")]


def key_view(key: ApiKey, last_used_at: str | None) -> KeyView:
    """Return the view of a key."""
    return {
        "id": key.id,
        "name": key.name,
        "scope": key.scope,
        "label": key.label,
        "inserted_at": key.inserted_at,
        "expires_at": key.expires_at,
        "revoked_at": key.revoked_at,
        "last_used_at": last_used_at,
        "first_key_id": key.first_key_id,
    }


def new_key_view(new: NewKey) -> NewKeyView:
    """Return the view of a new key, with its text."""
    return {**key_view(new.key, None), "key": new.text}
