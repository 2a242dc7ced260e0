"""Services for the functions that a test calls."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from domain.people.provider import IdentityClaims
from handlers.common.bootstrap import Services
from handlers.common.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from domain.ports import Clock
    from domain.storage.ports import Database

ENVIRONMENT = {
    "ALLOW_LOOPBACK_WEBHOOKS": "false",
    "ALLOW_HTTP_WEBHOOKS": "false",
    "WEBHOOK_PORTS": "443",
    "BASE_URL": "",
    "OIDC_ISSUER": "",
    "OIDC_CLIENT_ID": "",
    "OIDC_CLIENT_SECRET_ARN": "",
    "WEB_CONNECTOR_BASE_URL": "",
    "EXECUTION_SECONDS": "1800",
    "DORMANT_POLL_SECONDS": "900",
    "MAX_SESSIONS": "0",
    "MAX_WAITING_CALLS": "2",
    "WEB_CONNECTOR_CALLS_PER_SECOND": "1000",
    "CONCURRENCY_ALARM_AT": "800",
}
"""The template's defaults."""


class OneProvider:
    """An identity provider that knows one person: Sam, whom the sample invitation names."""

    subject = "sam"

    def authorization_url(self, redirect_uri: str, *, state: str, nonce: str, challenge: str) -> str:
        """Return a URL with everything in it."""
        return f"https://id.example.com/authorize?{redirect_uri}&{state}&{nonce}&{challenge}"

    def claims(self, redirect_uri: str, *, code: str, verifier: str, nonce: str) -> IdentityClaims:
        """Return the claims of the person."""
        del redirect_uri, code, verifier, nonce
        email = f"{self.subject}@example.com"
        return IdentityClaims(
            "https://id.example.com", self.subject, email, email_verified=True, name=self.subject.title()
        )


SIGN_IN = {"OIDC_ISSUER": "https://id.example.com", "OIDC_CLIENT_ID": "qbxml-queue"}


def services_with(store: Database, clock: Clock, *, sign_in: bool = False) -> Services:
    """Return services over this store and clock, with the template's default settings, or with a sign-in."""
    services = Services(Settings(ENVIRONMENT | (SIGN_IN if sign_in else {})), clock, chance=lambda: 0.0)
    services.store, services.identity_provider = store, OneProvider()
    return services


@contextmanager
def using(services: Services) -> Iterator[Services]:
    """Let every function use these services while the block runs."""
    former, Services.current = Services.current, services
    try:
        yield services
    finally:
        Services.current = former
