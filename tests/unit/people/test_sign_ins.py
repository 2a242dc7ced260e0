"""Sign-ins: who gets one, what its tokens open, and when it ends."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.errors import Forbidden, InvalidRequest, Unauthorized
from domain.people.sign_ins import MAX_SIGN_INS, NotInvited
from domain.people.tokens import TOKEN_SECONDS, Cookie, SessionToken
from domain.records.audit import Action, Actor, ActorType
from domain.records.permissions import Role
from domain.records.person import IDLE, INVITED, LASTS, Person
from tests.support.builders import APP_ID, OTHER_APP_ID
from tests.unit.people.conftest import Desk, claims


def token_of(desk: Desk, cookie: Cookie, app_id: str | None = None) -> SessionToken:
    """Return the token that a browser gets."""
    token = SessionToken.of(desk.sign_ins.open(cookie, app_id).token or "")
    assert token
    return token


# --- Invitations


def test_an_invitation_makes_the_person_a_member_and_is_gone(desk: Desk) -> None:
    cookie = desk.joined(role=Role.SUPPORT)

    opened = desk.sign_ins.open(cookie)

    assert [(app.id, membership.role) for membership, app in opened.memberships] == [(APP_ID, Role.SUPPORT)]
    assert desk.members.members(APP_ID)[1] == []
    assert [entry.action for entry in desk.store.audit_log.values()] == [Action.MEMBER_INVITED, Action.MEMBER_JOINED]


def test_an_invitation_is_redeemed_once(desk: Desk) -> None:
    desk.joined()

    with pytest.raises(NotInvited):
        desk.sign_ins.sign_in(claims(subject="another"))


@pytest.mark.parametrize("spelling", ["Maria@Example.com", "MARIA@EXAMPLE.COM"])
def test_the_case_of_an_email_address_does_not_matter(desk: Desk, spelling: str) -> None:
    desk.invite()

    assert desk.sign_ins.sign_in(claims(spelling))


def test_an_address_that_is_not_verified_redeems_nothing(desk: Desk) -> None:
    desk.invite()

    with pytest.raises(NotInvited) as refusal:
        desk.sign_ins.sign_in(claims(verified=False))

    assert refusal.value.is_unverified
    assert len(desk.members.members(APP_ID)[1]) == 1
    assert not any(isinstance(one, Person) for one in desk.store.personal.values())


def test_nobody_signs_in_without_an_invitation(desk: Desk) -> None:
    with pytest.raises(NotInvited) as refusal:
        desk.sign_ins.sign_in(claims())

    assert not refusal.value.is_unverified
    assert desk.store.personal == {}


def test_an_invitation_ends(desk: Desk) -> None:
    desk.invite()
    desk.clock.now += INVITED

    with pytest.raises(NotInvited):
        desk.sign_ins.sign_in(claims())


def test_a_member_is_found_by_the_subject_whatever_the_address_is_now(desk: Desk) -> None:
    desk.joined()

    cookie = desk.sign_ins.sign_in(claims("maria.weber@example.org", subject="maria", verified=False))

    person = desk.sign_ins.open(cookie).person
    assert (person.email, len(desk.store.sign_ins_of(person.id))) == ("maria.weber@example.org", 2)


def test_another_subject_with_the_address_of_a_member_is_not_this_member(desk: Desk) -> None:
    desk.joined()

    with pytest.raises(NotInvited):
        desk.sign_ins.sign_in(claims("maria@example.com", subject="the next maria"))


def test_the_same_subject_of_another_issuer_is_not_this_member(desk: Desk) -> None:
    desk.joined()

    with pytest.raises(NotInvited):
        desk.sign_ins.sign_in(replace(claims(), issuer="https://other.example.com"))


def test_one_sign_in_redeems_the_invitations_of_several_apps(desk: Desk) -> None:
    desk.invite(role=Role.VIEWER)
    cookie = desk.joined(role=Role.EDITOR, app_id=OTHER_APP_ID)

    opened = desk.sign_ins.open(cookie)

    assert [(app.name, membership.role) for membership, app in opened.memberships] == [
        ("Shop", Role.VIEWER),
        ("Archive", Role.EDITOR),
    ]


def test_an_invitation_raises_a_role_and_takes_none_from_an_admin(desk: Desk) -> None:
    cookie = desk.joined(role=Role.VIEWER)
    for role, expected in ((Role.EDITOR, Role.EDITOR), (Role.ADMIN, Role.ADMIN), (Role.VIEWER, Role.ADMIN)):
        desk.joined(role=role)

        assert desk.store.memberships_of(cookie.person_id)[0].role is expected
        assert desk.members.members(APP_ID)[1] == []


def test_an_invitation_of_somebody_else_does_not_change_where_a_person_lands(desk: Desk) -> None:
    desk.joined()
    desk.clock.advance(seconds=1)

    later = desk.joined(app_id=OTHER_APP_ID)

    assert token_of(desk, later).app_id == APP_ID


@pytest.mark.parametrize("email", ["\u212aate@example.com", "mar\u0131a@example.com"])
def test_an_address_with_letters_that_fold_to_ascii_redeems_nothing(desk: Desk, email: str) -> None:
    desk.invite("kate@example.com")
    desk.invite("maria@example.com")

    with pytest.raises(NotInvited):
        desk.sign_ins.sign_in(claims(email, subject="x"))
    with pytest.raises(InvalidRequest):
        desk.invite(email)


# --- Tokens


def test_a_token_opens_its_app_with_the_role_of_now(desk: Desk) -> None:
    cookie = desk.joined()
    actor = Actor(ActorType.PERSON, desk.joined("sam@example.com").person_id)
    token = token_of(desk, cookie)
    person_id = token.person_id

    found = desk.sign_ins.signed_in(token)
    assert found
    assert found.membership
    assert (found.app and found.app.id, found.membership.role) == (APP_ID, Role.ADMIN)
    desk.members.change_role(APP_ID, person_id, Role.VIEWER, actor)
    found = desk.sign_ins.signed_in(token)
    assert found
    assert found.membership
    assert found.membership.role is Role.VIEWER
    desk.members.remove(APP_ID, person_id)
    assert desk.sign_ins.signed_in(token) is None


def test_a_token_ends_after_ten_minutes(desk: Desk) -> None:
    token = token_of(desk, desk.joined())

    desk.clock.now += timedelta(seconds=TOKEN_SECONDS - 1)
    assert desk.sign_ins.signed_in(token)
    desk.clock.now += timedelta(seconds=1)
    assert desk.sign_ins.signed_in(token) is None


@given(data=st.data())
def test_a_token_that_is_changed_anywhere_opens_nothing(data: st.DataObject) -> None:
    desk = Desk()
    token = token_of(desk, desk.joined())
    other = token_of(desk, desk.joined("sam@example.com", app_id=OTHER_APP_ID))
    place = data.draw(st.integers(0, len(token.text) - 1))
    character = data.draw(st.sampled_from("0123456789abcdef.-_st"))
    changed = token.text[:place] + character + token.text[place + 1 :]
    parts = ("person_id", "sign_in_id", "app_id", "mac")
    swapped = data.draw(st.sets(st.sampled_from(parts), min_size=1, max_size=len(parts) - 1))
    mixed = replace(token, **{name: getattr(other, name) for name in swapped})
    later = replace(token, expires=token.expires + data.draw(st.integers(1, 10**6)))

    for forged in (SessionToken.of(changed), mixed, later):
        assert forged is None or forged == token or desk.sign_ins.signed_in(forged) is None
    assert desk.sign_ins.signed_in(token)


@given(text=st.text(max_size=300))
def test_a_text_that_is_not_a_credential_is_none(text: str) -> None:
    assert SessionToken.of(text) is None
    assert SessionToken.of(f"st_{text}") is None
    assert Cookie.of(text) is None


# --- Sessions


def test_a_cookie_with_another_secret_opens_nothing(desk: Desk) -> None:
    cookie, other = desk.joined(), desk.joined("sam@example.com")

    for forged in (replace(cookie, secret="0" * 64), replace(cookie, secret=other.secret), None):
        with pytest.raises(Unauthorized):
            desk.sign_ins.open(forged)


def test_a_person_gets_tokens_only_for_own_apps_and_stays_in_the_one_used_last(desk: Desk) -> None:
    desk.invite()
    cookie = desk.joined(app_id=OTHER_APP_ID)

    assert token_of(desk, cookie).app_id == APP_ID
    assert token_of(desk, cookie, OTHER_APP_ID).app_id == OTHER_APP_ID
    assert token_of(desk, cookie).app_id == OTHER_APP_ID
    assert token_of(desk, desk.sign_ins.sign_in(claims())).app_id == OTHER_APP_ID
    with pytest.raises(Forbidden):
        desk.sign_ins.open(cookie, "5a3f9f0e-4d6b-4e0c-8a55-1c7de0b9a1f4")


def test_a_person_without_an_app_gets_no_token(desk: Desk) -> None:
    cookie = desk.joined()
    desk.members.remove(APP_ID, cookie.person_id)

    opened = desk.sign_ins.open(cookie)

    assert (opened.token, opened.chosen, opened.memberships) == (None, None, [])


def test_a_sign_in_ends_after_a_time_without_use(desk: Desk) -> None:
    cookie = desk.joined()
    for _ in range(5):
        desk.clock.now += IDLE
        assert desk.sign_ins.open(cookie).token
    desk.clock.now += IDLE + timedelta(minutes=15)

    with pytest.raises(Unauthorized):
        desk.sign_ins.open(cookie)


def test_a_sign_in_ends_after_a_week_also_if_it_is_used(desk: Desk) -> None:
    cookie = desk.joined()
    steps = LASTS // timedelta(hours=6)
    for _ in range(steps - 1):
        desk.clock.now += timedelta(hours=6)
        token = token_of(desk, cookie)
    assert token.expires <= desk.clock().timestamp() + LASTS.total_seconds()
    desk.clock.now += timedelta(hours=6)

    with pytest.raises(Unauthorized):
        desk.sign_ins.open(cookie)
    assert desk.sign_ins.signed_in(replace(token, expires=token.expires + 10**7)) is None


def test_the_use_is_noted_once_in_a_quarter_of_an_hour(desk: Desk) -> None:
    cookie = desk.joined()
    desk.sign_ins.open(cookie)
    [before] = desk.store.sign_ins_of(cookie.person_id)
    for _ in range(14):
        desk.clock.now += timedelta(minutes=1)
        desk.sign_ins.open(cookie)

    assert desk.store.sign_ins_of(cookie.person_id) == [before]
    desk.clock.now += timedelta(minutes=1)
    desk.sign_ins.open(cookie)
    assert desk.store.sign_ins_of(cookie.person_id)[0].revision == before.revision + 1


@pytest.mark.parametrize("everywhere", [False, True])
def test_signing_out_ends_the_tokens_of_this_browser_or_of_all(desk: Desk, *, everywhere: bool) -> None:
    here = desk.joined()
    there = desk.sign_ins.sign_in(claims())
    tokens = [token_of(desk, here), token_of(desk, there)]

    desk.sign_ins.end(here, everywhere=everywhere)

    assert desk.sign_ins.signed_in(tokens[0]) is None
    assert (desk.sign_ins.signed_in(tokens[1]) is None) == everywhere
    with pytest.raises(Unauthorized):
        desk.sign_ins.open(here)


def test_another_browser_than_the_twentieth_ends_the_oldest_sign_in(desk: Desk) -> None:
    oldest = desk.joined()
    for _ in range(MAX_SIGN_INS):
        desk.clock.now += timedelta(seconds=1)
        newest = desk.sign_ins.sign_in(claims())

    assert len(desk.store.sign_ins_of(oldest.person_id)) == MAX_SIGN_INS
    assert desk.sign_ins.open(newest)
    with pytest.raises(Unauthorized):
        desk.sign_ins.open(oldest)
