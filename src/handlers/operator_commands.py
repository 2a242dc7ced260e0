"""The operator's commands, which `operate` runs by name."""

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
    """Create an app and return its first webhook secret."""
    created = services().administration.create_app(name)
    return {"app_id": created.app.id, "name": created.app.name, "webhook_secret": created.webhook_secret}


def create_key(*, app_id: str, scope: str = Scope.FULL.value) -> dict[str, Any]:
    """Create an API key with the scope `full` or `read_only`. The key itself is returned only this once."""
    if scope not in set(Scope):
        raise InvalidRequest.of("scope", "must be full or read_only")
    created = services().administration.create_key(app_id, Scope(scope))
    return _key(created.key) | {"api_key": created.text}


def list_keys(*, app_id: str) -> dict[str, Any]:
    """List an app's keys, each with its hash and its first characters."""
    return {"keys": [_key(key) for key in services().administration.keys(app_id)]}


def revoke_key(*, key_hash: str) -> dict[str, Any]:
    """Revoke a key by its hash. API Gateway may accept it until its cached credentials expire."""
    return _key(services().administration.revoke_key(key_hash))


def rotate_webhook_secret(*, app_id: str) -> dict[str, Any]:
    """Create a new webhook secret. The former one also signs until `retire_old_webhook_secrets`."""
    return {"app_id": app_id, "webhook_secret": services().administration.rotate_webhook_secret(app_id)}


def retire_old_webhook_secrets(*, app_id: str) -> dict[str, Any]:
    """Leave only the newest webhook secret active."""
    services().administration.retire_old_webhook_secrets(app_id)
    return {"app_id": app_id}


def recount_connection(*, connection_id: str, mend: str = "no") -> dict[str, Any]:
    """Compare a connection's counts with its records. With `mend` = `yes`, correct them."""
    if mend not in {"yes", "no"}:
        raise InvalidRequest.of("mend", "must be yes or no")
    recounting = services().recounting
    missing = (recounting.mend if mend == "yes" else recounting.differences)(connection_id)
    differences = [
        {
            "day": key.day,
            "by": key.sort,
            "state": key.state.value,
            "webhook_state": key.webhook_state.value,
            "short_by": number,
        }
        for key, number in sorted(missing.items(), key=lambda one: (one[0].day, one[0].sort, one[0].state))
    ]
    return {"connection_id": connection_id, "differences": differences, "mended": mend == "yes"}


COMMANDS: dict[str, Callable[..., dict[str, Any]]] = {
    command.__name__: command
    for command in (
        create_app,
        create_key,
        list_keys,
        revoke_key,
        rotate_webhook_secret,
        retire_old_webhook_secrets,
        recount_connection,
    )
}


def command_named(name: object, arguments: dict[str, Any]) -> Callable[..., dict[str, Any]]:
    """Return the command. Raises InvalidRequest for an unknown name and for wrong arguments."""
    command = COMMANDS.get(name) if isinstance(name, str) else None
    if command is None:
        raise InvalidRequest.of("operation", f"must be one of {', '.join(COMMANDS)}")
    parameters = signature(command).parameters
    for unknown in arguments.keys() - parameters.keys():
        raise InvalidRequest.of(unknown, f"is not an argument of {name}")
    for argument, parameter in parameters.items():
        if parameter.default is parameter.empty and not arguments.get(argument):
            raise InvalidRequest.of(argument, "is missing")
        if not isinstance(arguments.get(argument, ""), str):
            raise InvalidRequest.of(argument, "must be a string")
    return command


def _key(key: ApiKey) -> dict[str, Any]:
    return {
        "key_hash": key.hash,
        "app_id": key.app_id,
        "scope": key.scope.value,
        "label": key.label,
        "inserted_at": key.inserted_at,
        "revoked_at": key.revoked_at,
    }
