"""Onboarding links: their users, their expiry, and the actions of a customer."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

import pytest

from domain.connections.onboarding import LIFETIME, MAX_PASSWORDS, Onboarding, check_redirect_url, is_connected
from domain.connections.service import ConnectionService
from domain.errors import Gone, InvalidRequest, InvalidState, NotFound
from domain.storage.changes import Put
from domain.timestamps import timestamp
from tests.support.builders import AN_ACTOR, APP_ID, CONNECTION_ID, NOON, FixedClock, SequentialIds, a_connection
from tests.support.fake_store import FakeStore

REDIRECT_URL = "https://shop.example/connected?customer=7"


def different_bytes() -> object:
    """Return a source of bytes that never repeats itself."""
    values = iter(range(1, 200))
    return lambda size: bytes([next(values)]) * size


@dataclass
class World:
    """A connection, a clock, and the use cases."""

    store: FakeStore = field(default_factory=FakeStore)
    clock: FixedClock = field(default_factory=lambda: FixedClock(NOON))

    def __post_init__(self) -> None:
        self.store.commit(Put(None, a_connection()))
        secrets = different_bytes()
        connections = ConnectionService(self.store, clock=self.clock, new_id=SequentialIds(), secrets=secrets)  # type: ignore[arg-type]
        self.onboarding = Onboarding(self.store, connections, self.clock, secrets)  # type: ignore[arg-type]

    def token(self) -> str:
        return self.onboarding.create_link(APP_ID, CONNECTION_ID, REDIRECT_URL, actor=AN_ACTOR)[1]

    def change(self, **fields: Any) -> None:
        before = self.store.connection(CONNECTION_ID)
        assert before
        self.store.commit(Put(before, replace(before, **fields).changed(timestamp(self.clock()))))


@pytest.fixture
def world() -> World:
    return World()


def test_a_link_leads_to_its_connection_until_it_expires(world: World) -> None:
    token = world.token()

    world.clock.now = NOON + LIFETIME - timedelta(seconds=1)
    assert world.onboarding.connection_for(token).id == CONNECTION_ID
    world.clock.now = NOON + LIFETIME
    with pytest.raises(Gone) as caught:
        world.onboarding.connection_for(token)

    assert caught.value.details == {"redirect_url": REDIRECT_URL}


def test_a_new_link_revokes_the_former(world: World) -> None:
    former, new = world.token(), world.token()

    with pytest.raises(NotFound):
        world.onboarding.connection_for(former)
    assert world.onboarding.connection_for(new)


@pytest.mark.parametrize(
    "token", ["", "x", CONNECTION_ID, f"{CONNECTION_ID}.{'A' * 43}", f"{CONNECTION_ID}.{'A' * 42}\n"]
)
def test_a_wrong_token_finds_nothing(world: World, token: str) -> None:
    world.token()

    with pytest.raises(NotFound):
        world.onboarding.connection_for(token)


def test_without_a_link_no_token_is_right(world: World) -> None:
    with pytest.raises(NotFound):
        world.onboarding.connection_for(f"{CONNECTION_ID}.{'A' * 43}")


def test_the_link_of_a_deleted_connection_finds_nothing(world: World) -> None:
    token = world.token()
    connection = world.onboarding.connection_for(token)
    world.store.commit(Put(connection, connection.removed(timestamp(NOON))))

    with pytest.raises(NotFound):
        world.onboarding.connection_for(token)


def test_the_token_is_stored_as_a_hash_only(world: World) -> None:
    secret = world.token().partition(".")[2]

    assert secret not in repr(world.store.connection(CONNECTION_ID))


def test_another_app_cannot_create_a_link(world: World) -> None:
    with pytest.raises(NotFound):
        world.onboarding.create_link("a0000000-0000-4000-8000-00000000000f", CONNECTION_ID, None, actor=AN_ACTOR)


def test_each_password_replaces_the_one_before(world: World) -> None:
    token = world.token()

    first = world.onboarding.new_password(token)
    before = world.onboarding.connection_for(token).password_hash
    assert world.onboarding.new_password(token) != first
    assert world.onboarding.connection_for(token).password_hash != before


def test_a_link_sets_a_limited_number_of_passwords(world: World) -> None:
    token = world.token()
    for _ in range(MAX_PASSWORDS):
        world.clock.advance(minutes=1)
        world.onboarding.new_password(token)
    before = world.onboarding.connection_for(token)

    world.clock.advance(minutes=1)
    with pytest.raises(InvalidState, match="Ask whoever sent you the link for a new one"):
        world.onboarding.new_password(token)

    assert world.onboarding.connection_for(token) == before
    assert world.onboarding.new_password(world.token())


def test_the_connection_shows_when_its_password_was_set(world: World) -> None:
    token = world.token()
    assert world.onboarding.connection_for(token).password_changed_at is None

    world.onboarding.new_password(token)

    assert world.onboarding.connection_for(token).password_changed_at == timestamp(NOON)


def test_a_link_that_is_replaced_while_a_password_is_made_sets_none(world: World) -> None:
    token = world.token()
    stored = world.store.connection(CONNECTION_ID)
    world.token()
    new = world.store.connection(CONNECTION_ID)
    reads = iter([stored])
    read = world.store.connection
    world.store.connection = lambda connection_id: next(reads, read(connection_id))  # type: ignore[method-assign]

    with pytest.raises(NotFound):
        world.onboarding.new_password(token)

    assert read(CONNECTION_ID) == new


def test_a_connected_web_connector_keeps_its_password(world: World) -> None:
    token = world.token()
    world.change(quickbooks_answered_at=timestamp(NOON + timedelta(minutes=1)))

    assert is_connected(world.onboarding.connection_for(token))
    with pytest.raises(InvalidState):
        world.onboarding.new_password(token)


def test_a_login_alone_is_not_connected(world: World) -> None:
    token = world.token()
    world.change(last_connected_at=timestamp(NOON + timedelta(minutes=1)))

    assert not is_connected(world.onboarding.connection_for(token))
    assert world.onboarding.new_password(token)


def test_an_answer_from_before_the_link_does_not_count(world: World) -> None:
    world.change(quickbooks_answered_at=timestamp(NOON - timedelta(minutes=1)))
    token = world.token()

    assert not is_connected(world.onboarding.connection_for(token))
    assert world.onboarding.new_password(token)


def test_an_answer_before_a_problem_is_not_connected(world: World) -> None:
    token = world.token()
    world.change(
        quickbooks_answered_at=timestamp(NOON + timedelta(minutes=1)), last_error={"code": "x", "message": "y"}
    )

    assert not is_connected(world.onboarding.connection_for(token))


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "//shop.example",
        "shop.example",
        "https://a b",
        "https://u:p@shop.example",
        "http://shop.example",
    ],
)
def test_a_redirect_needs_an_absolute_https_url(url: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        check_redirect_url(url, allow_http=False)

    assert [problem.field for problem in caught.value.problems] == ["redirect_url"]


def test_a_redirect_may_lead_anywhere_and_over_http_where_the_deployment_allows_it() -> None:
    check_redirect_url("https://intranet.local:8443/done?x=1", allow_http=False)
    check_redirect_url("http://127.0.0.1:3000/", allow_http=True)
