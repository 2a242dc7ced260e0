"""Onboarding links: a public page that leads a customer through setting up the Web Connector, without an account.

The link carries a token, `<connection id>.<secret>`; only its SHA-256 is stored. A connection has at most one link.
A new link revokes the old one.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from domain.connections.calls import has_wrong_password
from domain.errors import Gone, InvalidRequest, InvalidState, NotFound
from domain.records.app import Contact
from domain.records.audit import Actor, ActorType
from domain.records.connection import OnboardingLink, link_id
from domain.timestamps import timestamp
from domain.webhooks.addresses import parse_url

if TYPE_CHECKING:
    from datetime import datetime

    from domain.connections.service import ConnectionService
    from domain.ports import Clock, SecretSource
    from domain.records.connection import Connection
    from domain.storage.ports import ConnectionStore

LIFETIME = timedelta(hours=48)

MAX_PASSWORDS = 10
"""How many passwords can be set through one link. A setup needs one, or two if the first is lost. Without a limit,
whoever holds the link could replace a working password again and again."""

SECRET_BYTES = 32

_TOKEN = re.compile(r"([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.[A-Za-z0-9_-]{43}")


def check_redirect_url(url: str, *, allow_http: bool) -> None:
    """Raise InvalidRequest unless `url` is an absolute https URL, or an http URL if `allow_http` is set.

    The customer's browser follows it, so any host is allowed.
    """
    try:
        scheme = parse_url(url).scheme
    except InvalidRequest as error:
        raise InvalidRequest(replace(problem, field="redirect_url") for problem in error.problems) from None
    if scheme == "http" and not allow_http:
        raise InvalidRequest.of("redirect_url", "must begin with https://, not http://")


def is_connected(connection: Connection) -> bool:
    """Return whether QuickBooks has answered since the link was created, and no later session found a problem."""
    return connection.onboarding is not None and connection.is_onboarded and connection.last_error is None


def has_called(connection: Connection) -> bool:
    """Return whether the Web Connector has logged in since the link was created."""
    link, last = connection.onboarding, connection.last_connected_at
    return link is not None and last is not None and last > link.created_at


def setup_state(connection: Connection, now: datetime) -> str:
    """Return what the onboarding page shows.

    `waiting` for a call, `wrong_password`, `paused`, `problem` (the connection's `last_error`), `testing` until
    QuickBooks answers, `connected`.
    """
    if is_connected(connection):
        return "connected"
    has_only_failed = connection.login_failed_at and connection.password_hash and not has_called(connection)
    # After a good login, the failed one can be that of another machine.
    if has_only_failed or has_wrong_password(connection, now):
        return "wrong_password"
    if not has_called(connection):
        return "waiting"
    if connection.paused_at:
        return "paused"
    return "problem" if connection.last_error else "testing"


class Onboarding:
    """The use cases: the app creates a link, and the customer uses it to set up the Web Connector."""

    def __init__(
        self, store: ConnectionStore, connections: ConnectionService, clock: Clock, secrets: SecretSource
    ) -> None:
        self._store = store
        self._connections = connections
        self._clock = clock
        self._secrets = secrets

    def create_link(
        self, app_id: str, connection_id: str, redirect_url: str | None, *, actor: Actor
    ) -> tuple[Connection, str]:
        """Replace the connection's link. Return the connection and the new token. Raises NotFound."""
        secret = base64.urlsafe_b64encode(self._secrets(SECRET_BYTES)).decode().rstrip("=")
        token = f"{connection_id}.{secret}"
        now = self._clock()
        link = OnboardingLink(_hash(token), timestamp(now), timestamp(now + LIFETIME), redirect_url)
        return self._connections.set_onboarding_link(app_id, connection_id, link, actor=actor), token

    def connection_for(self, token: str) -> Connection:
        """Return the connection of a live link.

        Raises NotFound if the token is wrong or was revoked, and Gone (with `redirect_url`) if it has expired.
        """
        match = _TOKEN.fullmatch(token)
        connection = self._store.connection(match[1]) if match else None
        link = connection.onboarding if connection and not connection.deleted_at else None
        if connection is None or link is None or not hmac.compare_digest(link.token_hash, _hash(token)):
            raise NotFound("This link is not valid. A newer link may have replaced it.")
        if link.expires_at <= timestamp(self._clock()):
            raise Gone("This link has expired.", {"redirect_url": link.redirect_url})
        return connection

    def contact(self, connection: Connection) -> Contact:
        """Return what the customer sees of the app that asks for access."""
        app = self._store.app(connection.app_id)
        return app.contact if app else Contact()

    def new_password(self, token: str) -> str:
        """Set a new password for the Web Connector and return it.

        Raises the same errors as `connection_for`. Raises InvalidState if QuickBooks has answered since the link was
        created, because a new password would break a working connection, and if the link has set MAX_PASSWORDS
        passwords.
        """
        connection = self.connection_for(token)
        token_hash = _hash(token)

        def counted(before: Connection) -> Connection:
            link = before.onboarding
            if link is None or link.token_hash != token_hash:
                raise NotFound("This link is not valid. A newer link has replaced it.")
            if is_connected(before):
                raise InvalidState("QuickBooks is already connected, so the password was not changed.")
            if link.passwords_set >= MAX_PASSWORDS:
                raise InvalidState(
                    f"This link has already set {MAX_PASSWORDS} passwords, which is the limit, so the password was not"
                    " changed. Ask whoever sent you the link for a new one."
                )
            return replace(before, onboarding=replace(link, passwords_set=link.passwords_set + 1))

        counted(connection)  # before the slow hashing of a password
        actor = Actor(ActorType.ONBOARDING_LINK, link_id(token_hash))
        return self._connections.set_password(connection.app_id, connection.id, actor=actor, change=counted)


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
