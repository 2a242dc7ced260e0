"""The credentials of a person: the cookie of a browser, and the session tokens that it gets.

A cookie is `person.sign-in.secret`. A session token is `st_person.sign-in.app.expiry.MAC`. The ids are UUIDs, and the
expiry is in Unix seconds. The MAC is made with a key of the sign-in, so a token needs no row of its own, and ends with
its sign-in. Neither has a character that a cookie or a user name of Basic cannot have.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from domain.records.person import SignIn

TOKEN_PREFIX = "st_"  # noqa: S105 - a prefix
TOKEN_SECONDS = 600
"""How long a session token works. API Gateway may accept it for AuthorizerCacheSeconds longer."""

SECRET_BYTES = 32

_UUID = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_cookie = re.compile(rf"({_UUID})\.({_UUID})\.([0-9a-f]{{64}})").fullmatch
_token = re.compile(rf"st_({_UUID})\.({_UUID})\.({_UUID})\.([0-9]{{1,12}})\.([0-9a-f]{{64}})").fullmatch


@dataclass(frozen=True, slots=True)
class Cookie:
    """The cookie of a browser. The secret is 32 bytes in hexadecimal digits."""

    person_id: str
    sign_in_id: str
    secret: str

    @property
    def text(self) -> str:
        """The value of the cookie."""
        return f"{self.person_id}.{self.sign_in_id}.{self.secret}"

    @classmethod
    def of(cls, text: str) -> Cookie | None:
        """Return a cookie, or None for another text."""
        found = _cookie(text)
        return cls(*found.groups()) if found else None

    def is_of(self, sign_in: SignIn) -> bool:
        """Whether this is the cookie of a sign-in."""
        return hmac.compare_digest(secret_hash(self.secret), sign_in.secret_hash)


@dataclass(frozen=True, slots=True)
class SessionToken:
    """A session token. `expires` is in Unix seconds."""

    person_id: str
    sign_in_id: str
    app_id: str
    expires: int
    mac: str

    @property
    def text(self) -> str:
        """The token as it is sent."""
        return f"{TOKEN_PREFIX}{self._signed}.{self.mac}"

    @property
    def _signed(self) -> str:
        return f"{self.person_id}.{self.sign_in_id}.{self.app_id}.{self.expires}"

    @classmethod
    def of(cls, text: str) -> SessionToken | None:
        """Return a token, or None for another text."""
        found = _token(text)
        if not found:
            return None
        person_id, sign_in_id, app_id, expires, mac = found.groups()
        return cls(person_id, sign_in_id, app_id, int(expires), mac)

    @classmethod
    def made(cls, sign_in: SignIn, app_id: str, expires: int) -> SessionToken:
        """Return a token of a sign-in for an app."""
        unsigned = cls(sign_in.person_id, sign_in.id, app_id, expires, "")
        return cls(sign_in.person_id, sign_in.id, app_id, expires, unsigned.mac_of(sign_in))

    def is_of(self, sign_in: SignIn) -> bool:
        """Whether this sign-in made the token."""
        return hmac.compare_digest(self.mac, self.mac_of(sign_in))

    def mac_of(self, sign_in: SignIn) -> str:
        """Return the MAC that the token must have."""
        return hmac.new(bytes.fromhex(sign_in.token_key), self._signed.encode(), hashlib.sha256).hexdigest()


def secret_hash(secret: str) -> str:
    """Return the stored form of the secret of a cookie. It has 256 random bits, so a plain SHA-256 is enough."""
    return hashlib.sha256(secret.encode()).hexdigest()
