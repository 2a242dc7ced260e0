"""Checks whether the credentials of an earlier run still match the database."""

from __future__ import annotations

import json
import re
import shutil
from typing import TYPE_CHECKING, Any

from local.first_steps import CREDENTIALS_FILE, Credentials

if TYPE_CHECKING:
    from pathlib import Path

COMPANY_FILE = "company.json"
"""The simulated QuickBooks company of a run that keeps its data."""

FOLDER = "kept"
"""The folder in the state directory that holds one folder for each database. A run uses only the folder of its own."""

PREVIOUS = "previous"
"""The folder below it for files that no longer fit."""


class DoNotFit(Exception):
    """The credentials cannot be used; the message says why."""


def folder_of(state: Path, dynamodb_endpoint: str) -> Path:
    """Return the folder of a database in a state directory."""
    return state / FOLDER / re.sub(r"[^A-Za-z0-9.]+", "-", dynamodb_endpoint)


def of_earlier_run(folder: Path, dynamodb: Any) -> Credentials | None:
    """Return the credentials that an earlier run wrote to the folder of a database, or None.

    `dynamodb` is a boto3 client. Raises DoNotFit if the database no longer has their app, key, connection, password or
    webhook secret.
    """
    path = folder / CREDENTIALS_FILE
    try:
        credentials = Credentials(**json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return None
    except (ValueError, TypeError) as error:
        raise DoNotFit(f"{path} is not what this version writes") from error
    _check(credentials, dynamodb)
    return credentials


def put_aside(folder: Path) -> Path:
    """Move the old files to a new folder and return it: the password may still be needed."""
    previous = folder / PREVIOUS
    previous.mkdir(exist_ok=True)
    for name in (CREDENTIALS_FILE, COMPANY_FILE):
        if (folder / name).exists():
            shutil.move(folder / name, previous / name)
    return previous


def _check(credentials: Credentials, dynamodb: Any) -> None:
    # ruff: noqa: PLC0415 - `src` is on the path only after the stack has imported its functions
    from adapters.dynamodb import DynamoDBStore
    from domain.connections import passwords
    from domain.records.app import api_key_hash
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
