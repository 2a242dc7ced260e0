"""Passwords of Web Connector users: generated, stored as scrypt hashes, compared in constant time."""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections import OrderedDict
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from domain.ports import SecretSource

# Each check takes 16 MiB and about 45 ms. OWASP's advice starts at 2^14 with r=8. More memory would need a larger
# Lambda function and gain nothing, because generated passwords have 140 random bits.
_COST = 2**14
_BLOCK_SIZE = 8
_PARALLEL = 1
_HASH_BYTES = 32

SALT_BYTES = 16
"""The number of random bytes that `hash_password` needs for the salt."""

_MAX_REMEMBERED = 1_000
"""The number of correct passwords that a process remembers. Each takes about 250 bytes."""

_ALPHABET = "abcdefghijkmnpqrstuvwxyz23456789"
"""32 characters of five bits each. People type passwords, so no two of these characters look alike."""

_LENGTH = 28


def generate(random: SecretSource) -> str:
    """Return a new password of 28 letters and digits, which hold 140 random bits."""
    return "".join(_ALPHABET[byte % len(_ALPHABET)] for byte in random(_LENGTH))


_COMMON = (
    "password", "passwort", "passw0rd", "quickbooks", "webconnector", "connector", "intuit", "qwerty", "letmein",
    "welcome", "administrator", "admin", "changeme", "iloveyou", "monkey", "dragon", "football", "sunshine", "princess",
    "accounting", "company", "secret", "test",
)  # fmt: skip
_ROWS = ("abcdefghijklmnopqrstuvwxyz", "01234567890", "qwertyuiop", "asdfghjkl", "zxcvbnm")
_NEIGHBOURS = frozenset(pair for row in _ROWS for way in (row, row[::-1]) for pair in pairwise(way))

MIN_DISTINCT_CHARACTERS = 6
MIN_OTHER_CHARACTERS = 6
"""The number of characters that a password needs in addition to common words and sequences."""


def weakness(password: str) -> str | None:
    """Return the reason why a password is easy to guess, or None if it is not."""
    text = password.lower()
    if len(set(text)) < MIN_DISTINCT_CHARACTERS or text in (text + text)[1:-1]:
        return "repeats a few characters"
    for word in _COMMON:
        text = text.replace(word, "")
    if len(text) < MIN_OTHER_CHARACTERS:
        return "is a common password"
    unpredictable = 1 + sum(pair not in _NEIGHBOURS and pair[0] != pair[1] for pair in pairwise(text))
    if unpredictable < MIN_OTHER_CHARACTERS:
        return "is a sequence of neighbouring characters"
    return None


def hash_password(password: str, salt: bytes) -> str:
    """Return the stored form: `scrypt$<n>$<r>$<p>$<salt>$<hash>`, with salt and hash in base64."""
    digest = _scrypt(password, salt, _COST, _BLOCK_SIZE, _PARALLEL)
    return f"scrypt${_COST}${_BLOCK_SIZE}${_PARALLEL}${_base64(salt)}${_base64(digest)}"


def matches(password: str, stored: str | None) -> bool:
    """Return whether `stored` is the hash of this password.

    `stored` is None if the user does not exist or has no password. The check then takes the same time, so its
    duration does not reveal which users exist.
    """
    _, cost, block_size, parallel, salt, digest = (stored or _NO_USER).split("$")
    computed = _scrypt(password, base64.b64decode(salt), int(cost), int(block_size), int(parallel))
    return hmac.compare_digest(computed, base64.b64decode(digest)) and stored is not None


class Checks:
    """Checks passwords and remembers the correct ones in memory.

    A Web Connector logs in every few minutes with the same password. Each process computes scrypt for it once.
    After that it compares an HMAC under a random key of the process. A wrong password always costs a full scrypt.
    """

    def __init__(self, random: SecretSource) -> None:
        self._key = random(_HASH_BYTES)
        self._correct: OrderedDict[str, bytes] = OrderedDict()

    def matches(self, password: str, stored: str | None) -> bool:
        """Return whether `stored` is the hash of this password, as the function `matches` does."""
        proof = hmac.digest(self._key, _bytes(password), "sha256")
        if stored is not None and hmac.compare_digest(self._correct.get(stored, b""), proof):
            return True
        correct = matches(password, stored)
        if correct and stored is not None:
            self._correct[stored] = proof
            if len(self._correct) > _MAX_REMEMBERED:
                self._correct.popitem(last=False)
        return correct


def _scrypt(password: str, salt: bytes, cost: int, block_size: int, parallel: int) -> bytes:
    return hashlib.scrypt(_bytes(password), salt=salt, n=cost, r=block_size, p=parallel, dklen=_HASH_BYTES)


def _bytes(password: str) -> bytes:
    return password.encode("utf-8", "surrogatepass")  # a JSON string can hold a lone surrogate


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


_NO_USER = f"scrypt${_COST}${_BLOCK_SIZE}${_PARALLEL}${_base64(bytes(SALT_BYTES))}${_base64(bytes(_HASH_BYTES))}"
