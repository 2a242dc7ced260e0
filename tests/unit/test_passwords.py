"""Passwords that are easy to guess are refused."""

from __future__ import annotations

import random

import pytest

from domain.connections import passwords


@pytest.mark.parametrize(
    "password",
    [
        "password1234",
        "Password2024!",
        "quickbooks2024",
        "QuickBooksAdmin1",
        "letmeinletmein",
        "aaaaaaaaaaaa",
        "abcabcabcabc",
        "Shop1Shop1Shop1",
        "123456789012",
        "abcdefghijklm",
        "qwertyuiopas",
        "98765432109876",
        "1111222233334444",
    ],
)
def test_common_repetitive_and_sequential_passwords_are_weak(password: str) -> None:
    assert passwords.weakness(password)


@pytest.mark.parametrize(
    "password",
    ["correct horse battery staple", "k7#mQ2!vLp9x", "nine green bottles", "Tr0ub4dor&3-zebra", "ünïcödé-pässwörd"],
)
def test_other_passwords_are_accepted(password: str) -> None:
    assert passwords.weakness(password) is None


def test_generated_passwords_are_strong() -> None:
    for number in range(200):
        password = passwords.generate(random.Random(number).randbytes)
        assert passwords.weakness(password) is None
