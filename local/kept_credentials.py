"""Whether the credentials that an earlier run wrote still open what the database holds."""

from __future__ import annotations

import json
import shutil
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from local.first_steps import CREDENTIALS_FILE, QWC_FILE, Credentials

if TYPE_CHECKING:
    from pathlib import Path

COMPANY_FILE = "company.json"
"""The simulated QuickBooks company of a run that keeps its data."""

PREVIOUS = "previous"
"""Where in the state directory the files go that fit no longer."""


class DoNotFit(Exception):
    """The credentials cannot be used; its text says why."""


def of_earlier_run(folder: Path, dynamodb_endpoint: str | None, dynamodb: Any) -> Credentials | None:
    """Return the credentials that an earlier run wrote to `folder`, None when none did with a database that keeps.

    `dynamodb` is a boto3 client. Raises DoNotFit when they are of another database, or of an app, key,
    connection, password or webhook secret that this one has no longer.
    """
    try:
        written = json.loads((folder / CREDENTIALS_FILE).read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return None
    endpoint = written.get("dynamodb_endpoint") if isinstance(written, dict) else None
    if dynamodb_endpoint is None or endpoint is None:
        return None
    if endpoint != dynamodb_endpoint:
        raise DoNotFit(f"they are those of the database at {endpoint}")
    try:
        found = Credentials(**{field.name: written[field.name] for field in fields(Credentials)})
    except KeyError as missing:
        raise DoNotFit(f"{folder / CREDENTIALS_FILE} has no {missing}") from missing
    _check(found, dynamodb)
    return found


def put_aside(folder: Path) -> None:
    """Move what belongs to credentials that fit no longer out of the way: somebody may want the password."""
    (folder / PREVIOUS).mkdir(exist_ok=True)
    for name in (CREDENTIALS_FILE, QWC_FILE, COMPANY_FILE):
        if (folder / name).exists():
            shutil.move(folder / name, folder / PREVIOUS / name)


def _check(credentials: Credentials, dynamodb: Any) -> None:
    # ruff: noqa: PLC0415 - `src` is on the path once the stack has imported its functions, not before
    from adapters.dynamodb import DynamoDBStore
    from domain import passwords
    from domain.apps import api_key_hash
    from local.tables import table_names

    store = DynamoDBStore(dynamodb, table_names())
    app = store.app(credentials.app_id)
    if app is None:
        raise DoNotFit("their app is not in the database")
    if credentials.webhook_secret not in app.webhook_secrets:
        raise DoNotFit("their webhook secret is no longer active")
    key = store.api_key(api_key_hash(credentials.api_key))
    if key is None or key.app_id != app.id:
        raise DoNotFit("their API key is not in the database")
    if key.revoked_at:
        raise DoNotFit("their API key was revoked")
    connection = store.connection(credentials.connection_id)
    if connection is None or connection.deleted_at or connection.app_id != app.id:
        raise DoNotFit("their connection was deleted")
    if not passwords.matches(credentials.qbwc_password, connection.password_hash):
        raise DoNotFit("their connection has another password now")
