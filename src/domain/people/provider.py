"""The port of the identity provider."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class IdentityClaims:
    """What the identity provider says about a person, after its token was verified.

    `email_verified` is true only if the provider says so.
    """

    issuer: str
    subject: str
    email: str | None = None
    email_verified: bool = False
    name: str | None = None


class ProviderFailed(Exception):
    """The provider cannot be reached, or its answer is not what OpenID Connect says. The message tells which."""


class TokenRefused(Exception):
    """The provider's token is not for this sign-in. The message tells why, without the token."""


class IdentityProvider(Protocol):
    """An OpenID provider with discovery. All methods raise ProviderFailed."""

    def authorization_url(self, redirect_uri: str, *, state: str, nonce: str, challenge: str) -> str:
        """Return the URL to which a browser goes to sign in. `challenge` is that of PKCE, with S256."""

    def claims(self, redirect_uri: str, *, code: str, verifier: str, nonce: str) -> IdentityClaims:
        """Redeem a code and return the verified claims of the person. Raises TokenRefused."""
