"""Passwords of Web Connector users: made, stored as scrypt, checked in constant time."""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections import OrderedDict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from domain.ports import SecretSource

# 16 MiB and about 45 ms a check (OWASP's scrypt advice from 2^14 on with r=8; more memory would mean a
# larger Lambda function for nothing: generated passwords have 140 random bits).
_COST = 2**14
_BLOCK_SIZE = 8
_PARALLEL = 1
_HASH_BYTES = 32

SALT_BYTES = 16
"""How many random bytes `hash_password` wants."""

_REMEMBERED = 1_000
"""How many right passwords a process remembers, about 250 bytes each."""

_ALPHABET = "abcdefghijkmnpqrstuvwxyz23456789"
"""32 characters, five bits each, none that looks like another: people do type passwords."""

_LENGTH = 28


def generate(random: SecretSource) -> str:
    """Return a new password: 28 letters and digits, 140 random bits."""
    return "".join(_ALPHABET[byte % len(_ALPHABET)] for byte in random(_LENGTH))


def hash_password(password: str, salt: bytes) -> str:
    """Return the stored form: `scrypt$<n>$<r>$<p>$<salt>$<hash>`, the last two in base64."""
    digest = _scrypt(password, salt, _COST, _BLOCK_SIZE, _PARALLEL)
    return f"scrypt${_COST}${_BLOCK_SIZE}${_PARALLEL}${_base64(salt)}${_base64(digest)}"


def matches(password: str, stored: str | None) -> bool:
    """Whether `stored` was made from this password.

    With None (no such user, or no password set) the same work is done in vain, so that the time
    an answer takes does not tell which users exist.
    """
    _, cost, block_size, parallel, salt, digest = (stored or _NOBODY).split("$")
    found = _scrypt(password, base64.b64decode(salt), int(cost), int(block_size), int(parallel))
    return hmac.compare_digest(found, base64.b64decode(digest)) and stored is not None


class Checks:
    """Checks passwords, and remembers in memory which were right.

    A Web Connector logs in every few minutes with the same password. The costly work is done once a
    process; then an HMAC under a key that this process made and never shows is compared. A wrong
    password always costs the whole work.
    """

    def __init__(self, random: SecretSource) -> None:
        self._key = random(_HASH_BYTES)
        self._right: OrderedDict[str, bytes] = OrderedDict()

    def matches(self, password: str, stored: str | None) -> bool:
        """Whether `stored` was made from this password, as `matches` says it."""
        proof = hmac.digest(self._key, password.encode("utf-8", "surrogatepass"), "sha256")
        if stored is not None and hmac.compare_digest(self._right.get(stored, b""), proof):
            return True
        right = matches(password, stored)
        if right and stored is not None:
            self._right[stored] = proof
            if len(self._right) > _REMEMBERED:
                self._right.popitem(last=False)
        return right


def _scrypt(password: str, salt: bytes, cost: int, block_size: int, parallel: int) -> bytes:
    # A lone surrogate can stand in a JSON string; it is a password like any other.
    data = password.encode("utf-8", "surrogatepass")
    return hashlib.scrypt(data, salt=salt, n=cost, r=block_size, p=parallel, dklen=_HASH_BYTES)


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


_NOBODY = f"scrypt${_COST}${_BLOCK_SIZE}${_PARALLEL}${_base64(bytes(SALT_BYTES))}${_base64(bytes(_HASH_BYTES))}"
