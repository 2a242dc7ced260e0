"""An idempotency key makes one connection, whichever calls with it are lost, repeated or made at the same time."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from domain.connections.service import SETTINGS, ConnectionService
from domain.errors import Gone, IdempotencyKeyReused
from domain.records.app import App, Contact
from domain.records.connection import QWC_NAME
from domain.storage.changes import Put
from domain.timestamps import timestamp
from domain.web_connector.protocol.qwc import app_name
from handlers.rest.models import NewConnection
from tests.support.builders import AN_ACTOR, APP_ID, NOON, OTHER_APP_ID, FixedClock, SequentialIds
from tests.support.fake_store import FakeStore

if TYPE_CHECKING:
    from domain.records.connection import Connection
    from domain.storage.changes import Change

RUNS = 200


class AnswerLost(Exception):
    """The answer of the database did not arrive."""


class LosingStore(FakeStore):
    """A store whose next call has a fault: no commit, a lost answer, or a read before the commit of another call."""

    fault: str | None = None

    def commit(self, *changes: Change) -> None:
        fault, self.fault = self.fault, None
        if fault == "before":
            raise AnswerLost
        super().commit(*changes)
        if fault == "after":
            raise AnswerLost

    def connection(self, connection_id: str) -> Connection | None:
        if self.fault == "race":
            self.fault = None
            return None
        return super().connection(connection_id)


def creating(store: FakeStore) -> ConnectionService:
    return ConnectionService(store, clock=FixedClock(NOON), new_id=SequentialIds(), secrets=random.randbytes)


def create(service: ConnectionService, app_id: str, key: str | None, name: str) -> Connection:
    """Create a connection as the handler does."""
    made = service.created_with(app_id, key, {"name": name}) if key else None
    return made or service.create(app_id, actor=AN_ACTOR, key=key, name=name)


def test_a_key_of_an_app_makes_one_connection_whatever_is_lost() -> None:
    for seed in range(RUNS):
        chance, store = random.Random(seed), LosingStore()
        service = creating(store)
        made: dict[tuple[str, str], str] = {}
        for _ in range(chance.randrange(1, 12)):
            app_id, key = chance.choice([APP_ID, OTHER_APP_ID]), chance.choice(["1", "2", "customer-7"])
            store.fault = chance.choice([None, "before", "after", "race"])
            try:
                connection = create(service, app_id, key, f"Books {key}")
            except AnswerLost:
                continue
            assert connection.app_id == app_id
            assert made.setdefault((app_id, key), connection.id) == connection.id

        stored = [(one.app_id, one.name) for one in store.connections.values()]
        assert len(stored) == len(set(stored)), seed
        assert len(store.audit_log) == len(stored)


def test_calls_without_a_key_make_a_connection_each() -> None:
    service = creating(FakeStore())

    assert create(service, APP_ID, None, "Books").id != create(service, APP_ID, None, "Books").id


def test_a_call_that_leaves_a_setting_out_has_other_settings() -> None:
    """Such a call is for another connection, or its caller gets one that it did not ask for."""
    service = creating(FakeStore())
    settings: dict[str, Any] = {"name": "Books", "batch_size": 5, "approval": "required", "settles_on_call_only": True}
    made = service.create(APP_ID, actor=AN_ACTOR, key="1", **settings)

    for left_out in settings:
        with pytest.raises(IdempotencyKeyReused):
            service.created_with(APP_ID, "1", {name: settings[name] for name in settings if name != left_out})
    assert service.created_with(APP_ID, "1", settings | {"webhook_url": None}) == made


def test_the_settings_are_those_of_the_body_of_a_call() -> None:
    body = {name: None for name in NewConnection.model_fields if name not in {"simulated", "sync_window"}}

    assert {*NewConnection.model_validate(body).settings(), "sync_window"} == set(SETTINGS)


def test_a_key_is_refused_for_other_settings_and_after_the_connection_was_deleted() -> None:
    store = FakeStore()
    service = creating(store)
    made = create(service, APP_ID, "1", "Books")

    with pytest.raises(IdempotencyKeyReused, match=made.id) as reused:
        create(service, APP_ID, "1", "Other books")
    store.commit(Put(made, made.removed("2026-03-14T12:00:01.000000Z")))
    with pytest.raises(Gone, match=made.id):
        create(service, APP_ID, "1", "Books")

    assert reused.value.details == {"connection_id": made.id}


@pytest.mark.parametrize(
    ("contact", "name"),
    [
        ("Northwind Books", "Northwind Books"),
        ("Grünwald & Söhne", "Grünwald & Söhne"),
        (None, QWC_NAME),
        ("株式会社", QWC_NAME),  # characters that QuickBooks does not have
    ],
)
def test_the_app_name_is_that_of_the_contact_at_the_creation_whatever_changes_later(
    contact: str | None, name: str
) -> None:
    store = FakeStore()
    app = App(APP_ID, "Operator's name", timestamp(NOON), contact=Contact(name=contact))
    store.commit(Put(None, app))
    service = creating(store)
    made = create(service, APP_ID, None, "Books")
    store.commit(Put(app, replace(app, contact=Contact(name="Another name"), revision=2)))

    renamed = service.update(APP_ID, made.id, actor=AN_ACTOR, name="Other books")

    assert app_name(made) == app_name(renamed) == f"{name} ({made.id[:13]})"
    assert app_name(create(service, APP_ID, None, "Later books")).startswith("Another name (")
