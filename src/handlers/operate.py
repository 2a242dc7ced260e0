"""The operator's function: apps, API keys, webhook secrets and recounts. It has no HTTP route.

Invoke it with a command and its arguments: `{"operation": "create_app", "name": "Shop"}`. Errors have the shape of the
REST API.
"""

from __future__ import annotations

import re
from dataclasses import asdict
from datetime import timedelta
from inspect import signature
from typing import TYPE_CHECKING, Any

from domain.errors import InvalidRequest, ServiceError
from domain.maintenance import overdue_webhooks as overdue
from domain.maintenance.recount import count_differences, mend_counts
from domain.records.app import AppLimits, Environment, Scope
from domain.records.permissions import Role
from handlers.common.bootstrap import end_init, services
from handlers.common.logs import ServiceLogger
from handlers.views.audit_log import audit_entry_view
from handlers.views.people import invitation_view, people_view

if TYPE_CHECKING:
    from collections.abc import Callable

    from domain.records.app import ApiKey, App

logger = ServiceLogger()
end_init(lambda services: services.administration)

MAX_LIMIT = 10_000_000_000

MAX_LISTED_WEBHOOKS = 1_000

MAX_LOOKING = timedelta(seconds=200)
"""Two thirds of the function's time. The rest is for planning attempts."""

MAX_LISTED_CONNECTIONS = 10_000
"""They take 2 to 4 MB of the 6 MB that a function can return. `total` tells whether there are more."""


MAX_LISTED_ENTRIES = 1_000
"""They take about 500 KB."""


def create_app(*, name: str) -> dict[str, Any]:
    """Create an app and return its first webhook secret."""
    app = services().administration.create_app(name)
    return {"app_id": app.id, "name": app.name, "webhook_secret": app.webhook_secrets[0]}


def list_apps() -> dict[str, Any]:
    """List all apps, oldest first, with their limits."""
    return {"apps": [_app(app) for app in services().store.apps_by_age()]}


def show_app(*, app_id: str) -> dict[str, Any]:
    """Show an app: its limits, its API keys and the number of its active webhook secrets and connections."""
    app = services().administration.app(app_id)
    return {
        **_app(app),
        "active_webhook_secrets": len(app.webhook_secrets),
        "connections": len(services().store.connection_ids_of(app_id)),
        **list_keys(app_id=app_id),
    }


def delete_app(*, app_id: str) -> dict[str, Any]:
    """Delete an app that has no connections, with its API keys and webhook secrets."""
    services().administration.delete_app(app_id)
    return {"app_id": app_id, "deleted": True}


def list_connections(*, app_id: str) -> dict[str, Any]:
    """List the connections of an app, oldest first."""
    services().administration.app(app_id)
    connections, total = services().store.connections_of(app_id, 0, MAX_LISTED_CONNECTIONS)
    return {
        "total": total,
        "connections": [
            {
                "connection_id": connection.id,
                "name": connection.name,
                "status": connection.status,
                "last_connected_at": connection.last_connected_at,
                "inserted_at": connection.inserted_at,
            }
            for connection in connections
        ],
    }


def set_limits(
    *,
    app_id: str,
    creates_per_second: str | None = None,
    waiting: str | None = None,
    redeliveries_per_minute: str | None = None,
    written_bytes_per_minute: str | None = None,
    reads_per_second: str | None = None,
    searches_per_minute: str | None = None,
    search_seconds_per_minute: str | None = None,
    connections: str | None = None,
) -> dict[str, Any]:
    """Change limits of an app. API Gateway uses the former ones until its cached credentials expire."""
    texts = {
        "creates_per_second": creates_per_second,
        "waiting": waiting,
        "redeliveries_per_minute": redeliveries_per_minute,
        "written_bytes_per_minute": written_bytes_per_minute,
        "reads_per_second": reads_per_second,
        "searches_per_minute": searches_per_minute,
        "search_seconds_per_minute": search_seconds_per_minute,
        "connections": connections,
    }
    limits = {name: _limit(name, text) for name, text in texts.items() if text is not None}
    return _app(services().administration.set_limits(app_id, **limits))


def set_contact(
    *,
    app_id: str,
    name: str | None = None,
    logo_url: str | None = None,
    phone: str | None = None,
    email: str | None = None,
) -> dict[str, Any]:
    """Change the contact of an app on the onboarding page. An empty text removes a field."""
    texts = {"name": name, "logo_url": logo_url, "phone": phone, "email": email}
    changes = {field: text for field, text in texts.items() if text is not None}
    return _app(services().administration.set_contact(app_id, changes))


def set_environment(*, app_id: str, environment: str) -> dict[str, Any]:
    """Say whether an app works on `production` or `test` data. The console shows it in another colour."""
    if environment not in set(Environment):
        raise InvalidRequest.of("environment", f"must be one of {', '.join(Environment)}")
    return _app(services().administration.set_environment(app_id, Environment(environment)))


def invite(*, email: str, role: str, app: str) -> dict[str, Any]:
    """Invite an email address to an app, which is named by its id or its name. The first admin is invited so."""
    app_id = _app_named(app).id
    if role not in set(Role):
        raise InvalidRequest.of("role", f"must be one of {', '.join(Role)}")
    return {"app_id": app_id, **invitation_view(services().members.invite(app_id, email, Role(role))[0])}


def list_people(*, app: str) -> dict[str, Any]:
    """List the members of an app and its invitations."""
    members, invitations = services().members.members(_app_named(app).id)
    return {**people_view(members, invitations)}


def remove_person(*, person_id: str, app: str) -> dict[str, Any]:
    """Remove a person from an app, also its only admin."""
    app_id = _app_named(app).id
    services().members.remove(app_id, person_id)
    return {"app_id": app_id, "person_id": person_id, "removed": True}


def forget_person(*, person_id: str) -> dict[str, Any]:
    """Delete all that is stored of a person: name, email address, memberships, sign-ins and invitations."""
    services().members.forget(person_id)
    return {"person_id": person_id, "forgotten": True}


def create_key(
    *,
    app_id: str,
    scope: str = Scope.FULL.value,
    rotates: str | None = None,
    name: str | None = None,
    expires_at: str | None = None,
) -> dict[str, Any]:
    """Create an API key with a scope. The key itself is returned only this once.

    `rotates` is the hash of a key of the app that it takes the place of. Neither can approve what the other queues.
    `name` says what uses the key. By default, it is that of the key that it rotates. `expires_at` is when it ends.
    """
    if scope not in set(Scope):
        raise InvalidRequest.of("scope", f"must be one of {', '.join(Scope)}")
    new = services().administration.create_key(app_id, Scope(scope), rotates=rotates, name=name, expires_at=expires_at)
    return _key(new.key, None) | {"api_key": new.text}


def list_keys(*, app_id: str) -> dict[str, Any]:
    """List an app's keys, each with its name, its hash, its first characters and the hour of its last use."""
    keys = services().administration.keys(app_id)
    last_uses = services().store.last_uses(app_id)
    return {"keys": [_key(key, last_uses.get(key.id)) for key in keys]}


def rename_key(*, key_hash: str, name: str) -> dict[str, Any]:
    """Give a key another name. Entries of the audit log and requests that have the former one keep it."""
    return _changed_key(services().administration.rename_key(key_hash, name))


def revoke_key(*, key_hash: str) -> dict[str, Any]:
    """Revoke a key by its hash. API Gateway may accept it until its cached credentials expire."""
    return _changed_key(services().administration.revoke_key(key_hash))


def audit_log(*, app_id: str, before: str | None = None) -> dict[str, Any]:
    """List the newest 1,000 entries of the audit log of an app, also of a deleted one, or those `before` an entry."""
    entries, following = services().store.audit_entries(app_id, None, before, MAX_LISTED_ENTRIES)
    return {"entries": [audit_entry_view(entry) for entry in entries], "complete": following is None}


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
    if mend == "yes":
        missing = mend_counts(services().store, services().clock, services().new_id, connection_id)
    else:
        missing = count_differences(services().store, connection_id)
    differences = [
        {
            "day": key.day,
            "by": key.sort,
            "state": key.state.value,
            "webhook_state": key.webhook_state.value,
            "short_by": number,
        }
        for key, number in sorted(missing.items(), key=lambda item: (item[0].day, item[0].sort, item[0].state))
    ]
    return {"connection_id": connection_id, "differences": differences, "mended": mend == "yes"}


def overdue_webhooks(*, send: str = "no") -> dict[str, Any]:
    """List webhooks whose attempt is an hour late. With `send` = `yes`, plan an attempt for each."""
    if send not in {"yes", "no"}:
        raise InvalidRequest.of("send", "must be yes or no")
    store, clock = services().store, services().clock
    found, is_complete = overdue.overdue_webhooks(store, clock, clock() + MAX_LOOKING, MAX_LISTED_WEBHOOKS)
    return {
        "webhooks": [
            {
                "request_id": record.id,
                "connection_id": record.connection_id,
                "app_id": record.app_id,
                "attempts": len(record.webhook.attempts),
                "updated_at": record.updated_at,
                "planned": send == "yes" and overdue.plan_attempt(store, services().retry_queue, record, clock()),
            }
            for record in found
        ],
        "complete": is_complete,
    }


COMMANDS: dict[str, Callable[..., dict[str, Any]]] = {
    command.__name__: command
    for command in (
        create_app,
        list_apps,
        show_app,
        delete_app,
        list_connections,
        set_limits,
        set_contact,
        set_environment,
        invite,
        list_people,
        remove_person,
        forget_person,
        create_key,
        list_keys,
        rename_key,
        revoke_key,
        audit_log,
        rotate_webhook_secret,
        retire_old_webhook_secrets,
        recount_connection,
        overdue_webhooks,
    )
}


# A list of what is logged, not of what is not: a new argument may be a secret.
LOGGED_ARGUMENTS = {
    *("app_id", "connection_id", "key_hash", "person_id", "role", "rotates", "scope", "mend", "send"),
    *AppLimits.__dataclass_fields__,
}
"""The arguments that are logged if they have the form of an id, a hash, a number or an option. No argument is a secret,
but an operator can pass an API key by mistake."""

_is_loggable = re.compile(rf"[0-9a-f-]{{1,64}}|{'|'.join((*Scope, *Role))}|yes|no").fullmatch


def handler(event: dict[str, Any], _context: object) -> dict[str, Any]:
    """Run the command that the event names."""
    arguments = {name: value for name, value in event.items() if name != "operation"}
    command, result = event.get("operation"), "done"
    try:
        return command_named(command, arguments)(**arguments)
    except ServiceError as error:
        result = error.code
        return {"error": {"code": error.code, "message": error.message, "details": error.details}}
    except Exception:
        result = "failed"
        raise
    finally:
        logged = {name: arguments[name] for name in LOGGED_ARGUMENTS & arguments.keys()}
        logged = {name: value for name, value in logged.items() if _is_loggable(str(value))}
        logger.info("operator.command", extra={"command": command, "result": result, **logged})


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


def _app_named(text: str) -> App:
    """Return the app with this id or, if only one has it, this name."""
    apps = services().store.apps_by_age()
    found = [app for app in apps if app.id == text] or [app for app in apps if app.name == text]
    if len(found) > 1:
        raise InvalidRequest.of("app", f"{len(found)} apps have this name. Give the id of one of them (list-apps)")
    if not found:
        raise InvalidRequest.of("app", "is neither the id nor the name of an app (list-apps)")
    return found[0]


def _limit(name: str, text: str) -> int:
    if not (len(text) <= len(str(MAX_LIMIT)) and text.isascii() and text.isdigit() and int(text) <= MAX_LIMIT):
        raise InvalidRequest.of(name, f"must be a whole number from 0 to {MAX_LIMIT:,}")
    return int(text)


def _app(app: App) -> dict[str, Any]:
    return {
        "app_id": app.id,
        "name": app.name,
        "environment": app.environment.value,
        "inserted_at": app.inserted_at,
        "limits": asdict(app.limits),
        "contact": asdict(app.contact),
    }


def _changed_key(key: ApiKey) -> dict[str, Any]:
    return _key(key, services().store.last_use(key.app_id, key.id))


def _key(key: ApiKey, last_used_at: str | None) -> dict[str, Any]:
    return {
        "key_hash": key.hash,
        "key_id": key.id,
        "name": key.name,
        "first_key_id": key.first_key_id,
        "app_id": key.app_id,
        "scope": key.scope.value,
        "label": key.label,
        "inserted_at": key.inserted_at,
        "expires_at": key.expires_at,
        "revoked_at": key.revoked_at,
        "last_used_at": last_used_at,
    }
