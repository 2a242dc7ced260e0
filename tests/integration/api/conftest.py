"""An app with a key, and a connection, in a store in memory, behind the functions as deployed."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from domain.apps.administration import Administration
from domain.apps.record import Scope
from domain.storage.changes import AddConnection
from handlers import bootstrap
from handlers.bootstrap import Settings
from tests.support.api_client import ApiClient
from tests.support.builders import CONNECTION_ID, FixedClock, SequentialIds, a_connection
from tests.support.fake_store import FakeStore

if TYPE_CHECKING:
    from collections.abc import Iterator

ENVIRONMENT = {
    "QUEUED_REQUESTS_TABLE": "QueuedRequestsTable",
    "PAYLOADS_TABLE": "PayloadsTable",
    "COUNTS_TABLE": "CountsTable",
    "CONNECTIONS_TABLE": "ConnectionsTable",
    "SESSIONS_TABLE": "SessionsTable",
    "APPS_TABLE": "AppsTable",
    "IDEMPOTENCY_KEYS_TABLE": "IdempotencyKeysTable",
    "QUEUE_TABLE": "QueueTable",
    "WEBHOOK_RETRY_QUEUE_URL": "https://sqs.eu-west-1.amazonaws.com/123456789012/retries",
}


def random_bytes(size: int) -> bytes:
    """Return bytes by chance: keys must differ."""
    return secrets.token_bytes(size)


@dataclass
class World:
    """What a test acts on."""

    store: FakeStore
    clock: FixedClock
    administration: Administration
    app_id: str
    api: ApiClient
    readonly: ApiClient
    stranger: ApiClient

    @property
    def requests_url(self) -> str:
        """Where the connection's requests are."""
        return f"/api/v1/connections/{CONNECTION_ID}/queued_requests"


def make_world(store: FakeStore) -> World:
    """Fill a store and put the functions in front of it."""
    clock, ids = FixedClock(), SequentialIds()
    administration = Administration(store, clock, ids, random_bytes)
    app_id = administration.create_app("Shop").app.id
    other_id = administration.create_app("Somebody else").app.id
    store.commit(AddConnection(a_connection(app_id=app_id)))
    settings = Settings.of(ENVIRONMENT)
    bootstrap.use(store=store, clock=clock, new_id=ids, secrets=random_bytes, settings=settings)
    return World(
        store,
        clock,
        administration,
        app_id,
        api=ApiClient(administration.create_key(app_id).text),
        readonly=ApiClient(administration.create_key(app_id, Scope.READ_ONLY).text),
        stranger=ApiClient(administration.create_key(other_id).text),
    )


@pytest.fixture
def world() -> Iterator[World]:
    """Return a world in memory."""
    yield make_world(FakeStore())
    bootstrap.use()
