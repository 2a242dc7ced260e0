"""An app with a key, and a connection, in a store in memory, behind the functions as deployed."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from domain.apps.administration import Administration
from domain.apps.record import Scope
from domain.storage.changes import AddConnection
from tests.support.api_client import ApiClient
from tests.support.builders import CONNECTION_ID, FixedClock, SequentialIds, a_connection
from tests.support.fake_store import FakeStore
from tests.support.services import services_with, using

if TYPE_CHECKING:
    from collections.abc import Iterator

    from handlers.bootstrap import Services


def random_bytes(size: int) -> bytes:
    """Return bytes by chance: keys must differ."""
    return secrets.token_bytes(size)


@dataclass
class Deployment:
    """What a test acts on."""

    services: Services
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


def make_deployment(store: FakeStore) -> Deployment:
    """Fill a store and put the functions in front of it."""
    clock, ids = FixedClock(), SequentialIds()
    administration = Administration(store, clock, ids, random_bytes)
    app_id = administration.create_app("Shop").app.id
    other_id = administration.create_app("Somebody else").app.id
    store.commit(AddConnection(a_connection(app_id=app_id)))
    services = services_with(store, clock)
    services.new_id, services.secrets = ids, random_bytes
    return Deployment(
        services,
        store,
        clock,
        administration,
        app_id,
        api=ApiClient(administration.create_key(app_id).text),
        readonly=ApiClient(administration.create_key(app_id, Scope.READ_ONLY).text),
        stranger=ApiClient(administration.create_key(other_id).text),
    )


@pytest.fixture
def deployment() -> Iterator[Deployment]:
    """Return a deployment in memory."""
    deployment = make_deployment(FakeStore())
    with using(deployment.services):
        yield deployment
