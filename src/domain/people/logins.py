"""The first half of a sign-in: the way to the identity provider and back, with the same browser.

Nothing is stored for it. The browser keeps the state, the nonce and the verifier of PKCE in a cookie, and the way back
counts only with this cookie: a code, a state or a nonce of another browser leads nowhere.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from domain.ports import SecretSource

LOGIN_SECONDS = 600
"""How long a person may take at the provider."""

_BYTES = 32
_login = re.compile(r"([0-9a-f]{64})\.([0-9a-f]{64})\.([0-9a-f]{64})\.([A-Za-z0-9_=-]{0,2000})").fullmatch
_is_page = re.compile(r"/app(?:/[A-Za-z0-9_~-]+)*(?:\?[!-~]{0,1000})?").fullmatch
"""A page of the console: no segment of it leads upwards or to another host."""


@dataclass(frozen=True, slots=True)
class BegunLogin:
    """A login that has begun. Each secret is 32 bytes in hexadecimal digits. `to` is the page that the person wants."""

    state: str
    nonce: str
    verifier: str
    to: str

    @classmethod
    def begun(cls, to: str | None, secrets: SecretSource) -> BegunLogin:
        """Begin a login. A page that is not one of the console becomes its first page."""
        state, nonce, verifier = (secrets(_BYTES).hex() for _ in range(3))
        return cls(state, nonce, verifier, to if to and _is_page(to) else "/app")

    @property
    def challenge(self) -> str:
        """The challenge of PKCE with S256 (RFC 7636)."""
        return base64.urlsafe_b64encode(hashlib.sha256(self.verifier.encode()).digest()).decode().rstrip("=")

    @property
    def text(self) -> str:
        """The value of the cookie."""
        page = base64.urlsafe_b64encode(self.to.encode()).decode()
        return f"{self.state}.{self.nonce}.{self.verifier}.{page}"

    @classmethod
    def of(cls, text: str) -> BegunLogin | None:
        """Return the login of a cookie, or None for another text."""
        found = _login(text)
        if not found:
            return None
        state, nonce, verifier, page = found.groups()
        try:
            to = base64.urlsafe_b64decode(page).decode()
        except ValueError:
            return None
        return cls(state, nonce, verifier, to if _is_page(to) else "/app")

    def has_state(self, state: str) -> bool:
        """Whether the provider returned the state of this login."""
        return hmac.compare_digest(self.state.encode(), state.encode())
