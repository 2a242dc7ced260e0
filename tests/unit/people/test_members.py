"""Members of an app: invitations, roles, removal, and the deletion of a person."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from domain.errors import Forbidden, InvalidRequest, InvalidState, NotFound, Unauthorized
from domain.people.members import MAX_MEMBERS
from domain.people.sign_ins import NotInvited
from domain.records.audit import Actor, ActorType
from domain.records.permissions import Role
from domain.storage.changes import RemovePersonal
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
    outcomes = set()
    for _ in range(600):
        person_id, actor_id = (chance.choice(cookies).person_id for _ in range(2))
        actor = Actor(ActorType.PERSON, actor_id)
        try:
            if chance.random() < 0.03:
                desk.members.remove(APP_ID, person_id, actor)
            else:
                desk.members.change_role(APP_ID, person_id, chance.choice(list(Role)), actor)
            outcomes.add("done")
        except (InvalidState, NotFound, Forbidden) as error:
            outcomes.add(type(error).__name__)
        assert Role.ADMIN in {member.membership.role for member in desk.members.members(APP_ID)[0]}
    assert outcomes == {"done", "InvalidState", "NotFound", "Forbidden"}


def test_a_person_who_is_not_an_admin_any_more_changes_nobody(desk: Desk) -> None:
    """API Gateway can pass on the former role for a minute."""
    admin, boss, other = (desk.joined(f"{name}@example.com") for name in ("ada", "boss", "sam"))
    actor = Actor(ActorType.PERSON, admin.person_id)
    desk.members.remove(APP_ID, admin.person_id, Actor(ActorType.PERSON, boss.person_id))

    for call in (
        lambda: desk.members.require_admin(APP_ID, actor),
        lambda: desk.members.change_role(APP_ID, other.person_id, Role.VIEWER, actor),
        lambda: desk.members.remove(APP_ID, other.person_id, actor),
    ):
        with pytest.raises(Forbidden):
            call()
    assert len(desk.members.members(APP_ID)[0]) == 2


@pytest.mark.parametrize("role", set(Role) - {Role.ADMIN})
def test_a_member_who_is_not_an_admin_does_not_change_the_own_role(desk: Desk, role: Role) -> None:
    """The endpoint has read the role before. Another admin may have changed it since."""
    desk.joined("boss@example.com")
    cookie = desk.joined("sam@example.com", role)
    actor = Actor(ActorType.PERSON, cookie.person_id)

    with pytest.raises(Forbidden):
        desk.members.change_role(APP_ID, cookie.person_id, Role.ADMIN, actor)
    with pytest.raises(Forbidden):
        desk.members.remove(APP_ID, cookie.person_id, actor)

    assert desk.store.memberships_of(cookie.person_id)[0].role is role


def test_a_removal_withdraws_the_invitations_of_the_address(desk: Desk) -> None:
    cookie = desk.joined()
    desk.invite(role=Role.ADMIN)
    desk.invite(role=Role.VIEWER, app_id=OTHER_APP_ID)

    desk.members.remove(APP_ID, cookie.person_id)

    opened = desk.sign_ins.open(desk.sign_ins.sign_in(claims()))
    assert [app.id for _, app in opened.memberships] == [OTHER_APP_ID]


def test_an_interrupted_deletion_of_a_person_is_finished_by_the_next_one(desk: Desk) -> None:
    cookie = desk.joined()
    person = desk.store.person(cookie.person_id)
    assert person
    desk.store.commit(RemovePersonal(person))

    desk.members.forget(cookie.person_id)

    assert desk.store.sign_ins_of(cookie.person_id) == []
    assert desk.store.memberships_of(cookie.person_id) == []


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
