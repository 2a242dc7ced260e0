"""Members of an app: invitations, roles, removal, and the deletion of a person."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from domain.errors import InvalidRequest, InvalidState, NotFound, Unauthorized
from domain.people.members import MAX_MEMBERS
from domain.people.sign_ins import NotInvited
from domain.records.audit import Actor, ActorType
from domain.records.permissions import Role
from tests.support.builders import APP_ID, OTHER_APP_ID
from tests.unit.people.conftest import Desk, claims

if TYPE_CHECKING:
    from domain.people.tokens import Cookie

ADMIN = Actor(ActorType.PERSON, "5a3f9f0e-4d6b-4e0c-8a55-1c7de0b9a1f4")
NOBODY = "00000000-0000-4000-8000-00000000000f"


@pytest.mark.parametrize("email", ["", "maria", "maria@", "@example.com", "a b@example.com", "maria@example.com\n"])
def test_what_is_not_an_email_address_is_refused(desk: Desk, email: str) -> None:
    with pytest.raises(InvalidRequest, match="email"):
        desk.invite(email)


def test_another_invitation_of_an_address_replaces_the_role(desk: Desk) -> None:
    first, was_repeated = desk.members.invite(APP_ID, "maria@example.com", Role.ADMIN, ADMIN)
    second, is_repeated = desk.members.invite(APP_ID, "Maria@Example.com", Role.VIEWER, ADMIN)

    assert (was_repeated, is_repeated, first.id == second.id) == (False, True, True)
    [shown] = desk.members.members(APP_ID)[1]
    assert (shown.role, shown.invited_by) == (Role.VIEWER, ADMIN.id)


def test_an_invitation_that_was_withdrawn_opens_nothing(desk: Desk) -> None:
    invitation, _ = desk.members.invite(APP_ID, "maria@example.com", Role.ADMIN)
    desk.members.withdraw(APP_ID, invitation.id, ADMIN)

    with pytest.raises(NotInvited):
        desk.sign_ins.sign_in(claims())
    with pytest.raises(NotFound):
        desk.members.withdraw(APP_ID, invitation.id, ADMIN)


def test_an_admin_reaches_the_own_app_only(desk: Desk) -> None:
    cookie = desk.joined(app_id=OTHER_APP_ID)
    invitation, _ = desk.members.invite(OTHER_APP_ID, "sam@example.com", Role.ADMIN)

    with pytest.raises(NotFound):
        desk.members.withdraw(APP_ID, invitation.id, ADMIN)
    with pytest.raises(NotFound):
        desk.members.change_role(APP_ID, cookie.person_id, Role.VIEWER, ADMIN)
    with pytest.raises(NotFound):
        desk.members.remove(APP_ID, cookie.person_id, ADMIN)
    assert len(desk.members.members(OTHER_APP_ID)[0]) == 1


def test_the_members_and_invitations_of_an_app_are_bounded(desk: Desk) -> None:
    for number in range(MAX_MEMBERS):
        desk.invite(f"p{number}@example.com", Role.VIEWER)

    with pytest.raises(InvalidState, match="200"):
        desk.invite()
    desk.invite("p0@example.com", Role.ADMIN)


def test_an_app_with_members_always_keeps_an_admin_whatever_admins_do(desk: Desk) -> None:
    chance = random.Random(7)
    cookies = [desk.joined(f"p{number}@example.com", chance.choice(list(Role))) for number in range(5)]
    cookies.append(desk.joined("boss@example.com", Role.ADMIN))
    refused = 0
    for _ in range(300):
        person_id = chance.choice(cookies).person_id
        try:
            if chance.random() < 0.05:
                desk.members.remove(APP_ID, person_id, ADMIN)
            else:
                desk.members.change_role(APP_ID, person_id, chance.choice(list(Role)), ADMIN)
        except InvalidState:
            refused += 1
        except NotFound:
            continue
        assert Role.ADMIN in {member.membership.role for member in desk.members.members(APP_ID)[0]}
    assert refused


def test_the_operator_removes_also_the_only_admin(desk: Desk) -> None:
    cookie = desk.joined()

    desk.members.remove(APP_ID, cookie.person_id)

    assert desk.members.members(APP_ID) == ([], [])


def test_nothing_of_a_person_is_left_after_forgetting(desk: Desk) -> None:
    cookie: Cookie = desk.joined()
    desk.joined(app_id=OTHER_APP_ID)
    desk.invite(role=Role.VIEWER)
    other = desk.joined("sam@example.com")

    desk.members.forget(cookie.person_id)

    assert {key[0] for key in desk.store.personal} == {other.person_id} | {
        key[0] for key, one in desk.store.personal.items() if getattr(one, "person_id", None) == other.person_id
    }
    assert "maria" not in str(desk.store.personal).lower()
    assert "maria" not in str(desk.store.audit_log).lower()
    assert desk.store.people([cookie.person_id]) == []
    with pytest.raises(Unauthorized):
        desk.sign_ins.open(cookie)
    with pytest.raises(NotFound):
        desk.members.forget(cookie.person_id)


@pytest.mark.parametrize("call", ["change_role", "remove", "withdraw", "forget"])
def test_what_does_not_exist_is_not_found(desk: Desk, call: str) -> None:
    arguments = {
        "change_role": (APP_ID, NOBODY, Role.VIEWER, ADMIN),
        "remove": (APP_ID, NOBODY, ADMIN),
        "withdraw": (APP_ID, NOBODY, ADMIN),
        "forget": (NOBODY,),
    }
    with pytest.raises(NotFound):
        getattr(desk.members, call)(*arguments[call])
