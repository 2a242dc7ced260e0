"""A change that conflicts with another is repeated. After repeated conflicts, the caller gets an error."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from domain.apps.administration import Administration
from domain.connections.service import ConnectionService
from domain.errors import Conflict, TooManyRequests
from domain.maintenance.connection_removal import remove_connection
from domain.storage.changes import Put
from tests.support.builders import (
    AN_ACTOR,
    APP_ID,
    CONNECTION_ID,
    FixedClock,
    SequentialIds,
    a_connection,
    counting_bytes,
)
from tests.support.fake_store import FakeStore

if TYPE_CHECKING:
    from collections.abc import Callable

    from domain.storage.changes import Change


class Rival(FakeStore):
    """A store in which another caller changes the same entity first, `races` times."""

    races = 0

    def commit(self, *changes: Change) -> None:
        """Commit if the rival has not committed first."""
        changing = [change for change in changes if getattr(change, "before", None)]
        if changing and self.races:
            self.races -= 1
            raise Conflict(changing[0])
        super().commit(*changes)


def rival() -> Rival:
    """Return a store with a connection."""
    store = Rival()
    store.commit(Put(None, a_connection()))
    return store


def connection_service(store: FakeStore) -> ConnectionService:
    """Return the use cases of connections."""
    return ConnectionService(store, clock=FixedClock(), new_id=SequentialIds(), secrets=counting_bytes)


def administration(store: FakeStore) -> Administration:
    """Return the operator's use cases."""
    return Administration(store, FixedClock(), SequentialIds(), counting_bytes)


def test_a_password_is_set_although_the_web_connector_changed_the_connection_first() -> None:
    store = rival()
    store.races = 4

    connection_service(store).set_password(APP_ID, CONNECTION_ID, actor=AN_ACTOR)

    connection = store.connection(CONNECTION_ID)
    assert connection
    assert connection.password_hash


def test_two_rotations_at_once_both_return_an_active_secret() -> None:
    store = rival()
    app = administration(store).create_app("Shop")
    store.races = 1

    secret = administration(store).rotate_webhook_secret(app.id)

    app_after = store.app(app.id)
    assert app_after
    assert app_after.webhook_secrets[0] == secret


CASES: list[tuple[str, Callable[[Rival, str, str], Any]]] = [
    (
        "password",
        lambda store, _app, _key: connection_service(store).set_password(APP_ID, CONNECTION_ID, actor=AN_ACTOR),
    ),
    ("delete", lambda store, _app, _key: remove_connection(store, FixedClock(), APP_ID, CONNECTION_ID, actor=AN_ACTOR)),
    ("rotate", lambda store, app, _key: administration(store).rotate_webhook_secret(app)),
    ("revoke", lambda store, _app, key: administration(store).revoke_key(key)),
]


@pytest.mark.parametrize("change", [change for _, change in CASES], ids=[name for name, _ in CASES])
def test_a_change_that_always_conflicts_ends_with_an_error(change: Callable[[Rival, str, str], Any]) -> None:
    store = rival()
    app = administration(store).create_app("Shop")
    key = administration(store).create_key(app.id).key
    store.races = 1000

    with pytest.raises(TooManyRequests):
        change(store, app.id, key.hash)
