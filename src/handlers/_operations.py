"""What the operator may ask for, and what is answered; `operate` is the function in front of it."""

from __future__ import annotations

from inspect import signature
from typing import TYPE_CHECKING, Any

from domain.apps.record import Scope
from domain.errors import InvalidRequest
from handlers.bootstrap import services

if TYPE_CHECKING:
    from collections.abc import Callable

    from domain.apps.record import ApiKey


def create_app(*, name: str) -> dict[str, Any]:
    """Create an app; the answer holds its first webhook secret."""
    made = services().administration.create_app(name)
    return {"app_id": made.app.id, "name": made.app.name, "webhook_secret": made.webhook_secret}


def create_key(*, app_id: str, scope: str = Scope.FULL.value) -> dict[str, Any]:
    """Create an API key, `full` or `read_only`; its text is answered this once."""
    if scope not in set(Scope):
        raise InvalidRequest.of("scope", "must be full or read_only")
    made = services().administration.create_key(app_id, Scope(scope))
    return _key(made.key) | {"api_key": made.text}


def list_keys(*, app_id: str) -> dict[str, Any]:
    """List an app's keys by what is stored of them: a hash and the first characters."""
    return {"keys": [_key(key) for key in services().administration.keys(app_id)]}


def revoke_key(*, key_hash: str) -> dict[str, Any]:
    """Revoke a key by its hash. API Gateway may accept it for as long as it remembers credentials."""
    return _key(services().administration.revoke_key(key_hash))


def rotate_webhook_secret(*, app_id: str) -> dict[str, Any]:
    """Make a new webhook secret; the one before signs beside it until `retire_old_webhook_secrets`."""
    return {"app_id": app_id, "webhook_secret": services().administration.rotate_webhook_secret(app_id)}


def retire_old_webhook_secrets(*, app_id: str) -> dict[str, Any]:
    """Leave only the newest webhook secret active."""
    services().administration.retire_old_webhook_secrets(app_id)
    return {"app_id": app_id}


def recount_connection(*, connection_id: str, mend: str = "no") -> dict[str, Any]:
    """Compare a connection's counts with its records; with `mend` = `yes` make them equal."""
    if mend not in {"yes", "no"}:
        raise InvalidRequest.of("mend", "must be yes or no")
    recounting = services().recounting
    found = (recounting.mend if mend == "yes" else recounting.differences)(connection_id)
    differences = [
        {
            "day": key.day,
            "by": key.sort,
            "state": key.state.value,
            "webhook_state": key.webhook_state.value,
            "short_by": short,
        }
        for key, short in sorted(found.items(), key=lambda one: (one[0].day, one[0].sort, one[0].state))
    ]
    return {"connection_id": connection_id, "differences": differences, "mended": mend == "yes"}


OPERATIONS: dict[str, Callable[..., dict[str, Any]]] = {
    one.__name__: one
    for one in (
        create_app,
        create_key,
        list_keys,
        revoke_key,
        rotate_webhook_secret,
        retire_old_webhook_secrets,
        recount_connection,
    )
}


def operation(name: object, arguments: dict[str, Any]) -> Callable[..., dict[str, Any]]:
    """Return the operation. Raises InvalidRequest when there is none of this name or its arguments are others."""
    found = OPERATIONS.get(name) if isinstance(name, str) else None
    if found is None:
        raise InvalidRequest.of("operation", f"must be one of {', '.join(OPERATIONS)}")
    known = signature(found).parameters
    for one in arguments.keys() - known.keys():
        raise InvalidRequest.of(one, f"is no argument of {name}")
    for one, parameter in known.items():
        if parameter.default is parameter.empty and not arguments.get(one):
            raise InvalidRequest.of(one, "is missing")
        if not isinstance(arguments.get(one, ""), str):
            raise InvalidRequest.of(one, "must be a text")
    return found


def _key(key: ApiKey) -> dict[str, Any]:
    return {
        "key_hash": key.hash,
        "app_id": key.app_id,
        "scope": key.scope.value,
        "label": key.label,
        "inserted_at": key.inserted_at,
        "revoked_at": key.revoked_at,
    }
