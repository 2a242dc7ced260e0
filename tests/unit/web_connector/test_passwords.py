"""Passwords of Web Connector users."""

from __future__ import annotations

import secrets
import time

import pytest

from domain.connections import passwords
from tests.support.builders import counting_bytes

SALT = counting_bytes(passwords.SALT_BYTES)


@pytest.mark.parametrize("password", ["correct horse", "", "pässwörd €", "\ud800", "x" * 128])
def test_a_password_matches_its_stored_form(password: str) -> None:
    assert passwords.matches(password, passwords.hash_password(password, SALT))


def test_another_password_does_not_match() -> None:
    stored_form = passwords.hash_password("right", SALT)

    assert not passwords.matches("wrong", stored_form)
    assert not passwords.matches("Right", stored_form)
    assert not passwords.matches("right ", stored_form)


def test_the_stored_form_names_its_parameters_and_does_not_contain_the_password() -> None:
    stored_form = passwords.hash_password("secret", SALT)

    assert stored_form.startswith("scrypt$16384$8$1$")
    assert "secret" not in stored_form


def test_a_stored_form_with_other_parameters_is_still_checked() -> None:
    """Stronger parameters can be chosen later without a migration."""
    cheaper = "scrypt$1024$8$1$AAECAwQFBgcICQoLDA0ODw==$HxrcnnyStMUHPXrTd+w0/OwXG07hZiyzJ6iv48mfrPQ="

    assert passwords.matches("right", cheaper)
    assert not passwords.matches("wrong", cheaper)


def test_the_salt_makes_equal_passwords_different() -> None:
    assert passwords.hash_password("same", SALT) != passwords.hash_password("same", bytes(16))


def test_a_connection_without_password_matches_no_password() -> None:
    assert not passwords.matches("", None)
    assert not passwords.matches("anything", None)


def test_an_unknown_user_costs_the_same_work_as_a_wrong_password() -> None:
    stored_form = passwords.hash_password("right", SALT)

    seconds_for_wrong_password = min(_processor_seconds(stored_form) for _ in range(3))
    seconds_for_unknown_user = min(_processor_seconds(None) for _ in range(3))

    assert seconds_for_unknown_user > seconds_for_wrong_password / 2
    assert seconds_for_wrong_password > 0.005  # it is scrypt that runs, not a shortcut


def _processor_seconds(stored_form: str | None) -> float:
    """Return the CPU time of this thread. The wall time depends on other programs."""
    start = time.thread_time()
    passwords.matches("wrong", stored_form)
    return time.thread_time() - start


def random_bytes(size: int) -> bytes:
    """Return random bytes."""
    return secrets.token_bytes(size)


def test_a_generated_password_is_long_and_readable() -> None:
    password = passwords.generate(random_bytes)

    assert len(password) == 28
    assert not set(password) & set("lo01")
    assert password != passwords.generate(random_bytes)


class TestChecks:
    """Right passwords are remembered, wrong ones never are."""

    def test_a_remembered_check_returns_the_same_result(self) -> None:
        checks = passwords.Checks(counting_bytes)
        stored_form = passwords.hash_password("right", SALT)

        for _ in range(2):
            assert checks.matches("right", stored_form)
            assert not checks.matches("wrong", stored_form)
            assert not checks.matches("right", None)

    def test_a_new_password_replaces_the_old_one(self) -> None:
        checks = passwords.Checks(counting_bytes)
        old, new = passwords.hash_password("old", SALT), passwords.hash_password("new", SALT)
        assert checks.matches("old", old)

        assert not checks.matches("old", new)
        assert checks.matches("new", new)

    def test_the_costly_work_is_done_once(self) -> None:
        """A stored form that is too costly to check is accepted because the password was right before."""
        checks = passwords.Checks(counting_bytes)
        stored_form = passwords.hash_password("right", SALT)
        checks.matches("right", stored_form)
        unpayable = stored_form.replace("$16384$", f"${2**40}$")
        checks._correct[unpayable] = checks._correct.pop(stored_form)  # noqa: SLF001 - stands for a check that was made

        assert checks.matches("right", unpayable)
        with pytest.raises(ValueError, match="memory"):
            checks.matches("wrong", unpayable)
