"""Sign-ins and members over a store in memory."""

from __future__ import annotations

import random
import uuid
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from domain.people.members import Members
from domain.people.provider import IdentityClaims
from domain.people.sign_ins import SignIns
from domain.records.app import App
from domain.records.permissions import Role
from domain.storage.changes import Put
from domain.timestamps import timestamp
from tests.support.builders import APP_ID, NOON, OTHER_APP_ID, FixedClock
from tests.support.fake_store import FakeStore

if TYPE_CHECKING:
    from domain.people.tokens import Cookie

ISSUER = "https://id.example.com"


@dataclass
class Desk:
    """The use cases of people, two apps, and a clock that tests move."""

    store: FakeStore = field(default_factory=FakeStore)
    clock: FixedClock = field(default_factory=FixedClock)
    chance: random.Random = field(default_factory=lambda: random.Random(1))

    def __post_init__(self) -> None:
        """Store the apps."""
        for app_id, name in ((APP_ID, "Shop"), (OTHER_APP_ID, "Archive")):
            self.store.commit(Put(None, App(app_id, name, timestamp(NOON))))
        self.sign_ins = SignIns(self.store, self.clock, self.new_id, self.chance.randbytes)
        self.members = Members(self.store, self.clock, self.new_id)

    def new_id(self) -> str:
        """Return a new UUID."""
        return str(uuid.UUID(int=self.chance.getrandbits(128), version=4))

    def invite(self, email: str = "maria@example.com", role: Role = Role.ADMIN, app_id: str = APP_ID) -> None:
        """Invite as the operator."""
        self.members.invite(app_id, email, role)

    def joined(self, email: str = "maria@example.com", role: Role = Role.ADMIN, app_id: str = APP_ID) -> Cookie:
        """Return the cookie of a person who has redeemed an invitation."""
        self.invite(email, role, app_id)
        return self.sign_ins.sign_in(claims(email))


def claims(email: str = "maria@example.com", *, subject: str | None = None, verified: bool = True) -> IdentityClaims:
    """Return the claims of a person, whose subject is the name in the email address."""
    return IdentityClaims(ISSUER, subject or email.partition("@")[0], email, verified, email.partition("@")[0].title())


@pytest.fixture
def desk() -> Desk:
    """Return a desk."""
    return Desk()
