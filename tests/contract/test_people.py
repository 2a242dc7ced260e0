"""People: the database does what the fake store does, whatever happens to sign-ins, members and invitations."""

from __future__ import annotations

import random
import uuid
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from domain.errors import Conflict, Forbidden, ServiceError
from domain.people.members import Members
from domain.people.provider import IdentityClaims
from domain.people.sign_ins import NotInvited, SignIns
from domain.records.app import App
from domain.records.audit import Actor, ActorType
from domain.records.permissions import Role
from domain.records.person import Membership, address_of, identity_of
from domain.storage.changes import Put, RemovePersonal
from domain.timestamps import timestamp
from tests.support.builders import APP_ID, NOON, OTHER_APP_ID, FixedClock
from tests.support.fake_store import FakeStore

if TYPE_CHECKING:
    from collections.abc import Callable

    from domain.people.tokens import Cookie
    from tests.contract.stores import AnyStore

ISSUER = "https://id.example.com"
NAMES = ("ada", "ben", "cleo")
PERSON = Actor(ActorType.PERSON, "5a3f9f0e-4d6b-4e0c-8a55-1c7de0b9a1f4")


class Side:
    """One store with the use cases. Two sides with the same seed make the same ids and secrets."""

    def __init__(self, store: Any) -> None:
        """Store two apps."""
        self.store, self.clock, chance = store, FixedClock(), random.Random(3)
        for app_id in (APP_ID, OTHER_APP_ID):
            store.commit(Put(None, App(app_id, f"App {app_id[-1]}", timestamp(NOON))))

        def new_id() -> str:
            return str(uuid.UUID(int=chance.getrandbits(128), version=4))

        self.sign_ins = SignIns(store, self.clock, new_id, chance.randbytes)
        self.members = Members(store, self.clock, new_id)
        self.cookies: list[Cookie] = []

    def step(self, chance: random.Random) -> object:
        """Do one thing, and return its result or the name of its error."""
        self.clock.now += timedelta(minutes=chance.choice((0, 1, 30, 600)))
        app_id, name, role = chance.choice((APP_ID, OTHER_APP_ID)), chance.choice(NAMES), chance.choice(list(Role))
        cookie = chance.choice(self.cookies) if self.cookies else None
        person_id = cookie.person_id if cookie else "nobody"
        actor = Actor(ActorType.PERSON, chance.choice(self.cookies).person_id) if self.cookies else PERSON
        calls: dict[str, Callable[[], object]] = {
            "invite": lambda: self.members.invite(app_id, f"{name}@example.com", role, PERSON),
            "sign_in": lambda: self.sign_in(name),
            "open": lambda: self.sign_ins.open(cookie, chance.choice((None, app_id))),
            "end": lambda: self.sign_ins.end(cookie, everywhere=chance.random() < 0.5),
            "change": lambda: self.members.change_role(app_id, person_id, role, actor),
            "remove": lambda: self.members.remove(app_id, person_id, actor),
            "forget": lambda: self.members.forget(person_id),
        }
        weights = (4, 6, 4, 1, 2, 1, 0.3)
        try:
            return calls[chance.choices(list(calls), weights)[0]]()
        except (ServiceError, NotInvited) as error:
            return type(error).__name__

    def sign_in(self, name: str) -> object:
        """Sign a person in."""
        cookie = self.sign_ins.sign_in(
            IdentityClaims(ISSUER, name, f"{name}@example.com", email_verified=True, name=name)
        )
        self.cookies.append(cookie)
        return cookie

    def seen(self) -> object:
        """Return all that can be read."""
        people = sorted({cookie.person_id for cookie in self.cookies})
        return (
            [self.store.person_of(identity_of(ISSUER, name)) for name in NAMES],
            sorted(map(str, self.store.people(people))),
            sorted(map(str, self.store.apps_by_id([APP_ID, OTHER_APP_ID, "nobody"]))),
            [self.store.person(one) for one in people],
            [self.store.membership(one, APP_ID) for one in people],
            [sorted(map(str, self.store.sign_ins_of(one))) for one in people],
            [sorted(map(str, self.store.memberships_of(one))) for one in people],
            [[sorted(map(str, part)) for part in self.store.members_of(app_id)] for app_id in (APP_ID, OTHER_APP_ID)],
            [sorted(map(str, self.store.invitations_to(address_of(f"{name}@example.com")))) for name in NAMES],
            [self.store.signed_in(one.person_id, one.sign_in_id, APP_ID) for one in self.cookies],
        )


class Overtaken:
    """A store whose first commit comes after another call."""

    def __init__(self, store: Any, other: Callable[[], object]) -> None:
        """Make the other call once."""
        self._store, self._other = store, other

    def commit(self, *changes: Any) -> None:
        """Commit after the other call."""
        other, self._other = self._other, lambda: None
        other()
        self._store.commit(*changes)

    def __getattr__(self, name: str) -> Any:
        """Return a read of the store."""
        return getattr(self._store, name)


def test_any_history_leaves_in_the_database_what_it_leaves_in_the_fake_store(store: AnyStore) -> None:
    ours, fake = Side(store), Side(FakeStore())
    for number in range(120):
        results = [side.step(random.Random(number)) for side in (ours, fake)]

        assert results[0] == results[1]
        assert number % 10 or ours.seen() == fake.seen()
    assert ours.seen() == fake.seen()


def test_a_change_of_what_has_changed_meanwhile_is_a_conflict(store: AnyStore) -> None:
    before = Membership("d0000000-0000-4000-8000-000000000001", APP_ID, Role.VIEWER, timestamp(NOON))
    now = Membership(before.person_id, APP_ID, Role.ADMIN, timestamp(NOON), 2)
    store.commit(Put(None, before))
    store.commit(Put(before, now))

    for change in (Put(None, before), Put(before, before), RemovePersonal(before)):
        with pytest.raises(Conflict) as conflict:
            store.commit(change)
        assert conflict.value.current == now
    store.commit(RemovePersonal(now))
    with pytest.raises(Conflict):
        store.commit(RemovePersonal(now))


def test_two_admins_who_remove_each_other_at_once_leave_one(store: AnyStore) -> None:
    side = Side(store)
    for name in ("ada", "ben"):
        side.members.invite(APP_ID, f"{name}@example.com", Role.ADMIN)
        side.sign_in(name)
    ada, ben = (Actor(ActorType.PERSON, cookie.person_id) for cookie in side.cookies)
    late = Members(Overtaken(store, lambda: side.members.remove(APP_ID, str(ada.id), ben)), side.clock, lambda: "")

    with pytest.raises(Forbidden):
        late.remove(APP_ID, str(ben.id), ada)

    assert [one.person_id for one in store.members_of(APP_ID)[0]] == [ben.id]


def test_members_and_invitations_go_with_their_app(store: AnyStore) -> None:
    side = Side(store)
    side.members.invite(OTHER_APP_ID, "ben@example.com", Role.VIEWER)
    for app_id in (APP_ID, OTHER_APP_ID):
        side.members.invite(app_id, "ada@example.com", Role.ADMIN)
    cookie = side.sign_ins.sign_in(IdentityClaims(ISSUER, "ada", "ada@example.com", email_verified=True))

    store.remove_app(OTHER_APP_ID)

    assert store.members_of(OTHER_APP_ID) == ([], [])
    assert [one.app_id for one in store.memberships_of(cookie.person_id)] == [APP_ID]
