"""A test of a webhook receiver: one signed event, and what the receiver answered.

It is sent like every event: to a checked address, signed with the secrets of the app, with the same time limit. Nothing
is stored, and nothing is tried again.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from domain.errors import InvalidRequest, InvalidState
from domain.records.ownership import owned_connection
from domain.timestamps import timestamp
from domain.webhooks.addresses import FIELD, check_url
from domain.webhooks.defaults import ATTEMPT_TIMEOUT_SECONDS
from domain.webhooks.delivery import failure_of, is_success, response_to
from domain.webhooks.ports import DeliveryFailed

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from domain.ports import Clock, IdSource
    from domain.storage.ports import WebhookStore
    from domain.webhooks.addresses import UrlRules
    from domain.webhooks.ports import WebhookSender

TRIAL_TYPE = "webhook.test"

TRIAL_REDELIVERIES = 10
"""How many redeliveries a test costs, because a function waits for the receiver, up to ten seconds."""


@dataclass(frozen=True, slots=True)
class TrialReceiver:
    """A receiver to test: its URL, and the secrets that sign the event."""

    url: str
    secrets: Sequence[str]
    connection_id: str


@dataclass(frozen=True, slots=True)
class Trial:
    """The result of a test. `error` is None if the receiver accepted the event."""

    duration_ms: int
    status_code: int | None = None
    response: str | None = None
    error: str | None = None


class Trials:
    """Tests webhook receivers."""

    def __init__(
        self, store: WebhookStore, sender: WebhookSender, clock: Clock, new_id: IdSource, url_rules: UrlRules
    ) -> None:
        self._store = store
        self._sender = sender
        self._clock = clock
        self._new_id = new_id
        self._url_rules = url_rules

    def receiver(self, app_id: str, connection_id: str, url: str | None) -> TrialReceiver:
        """Return the receiver at a URL, or at that of the connection.

        Raises NotFound for another app's connection, InvalidRequest for a URL that is not allowed, and InvalidState if
        the app has no secret to sign with.
        """
        connection = owned_connection(self._store.connection(connection_id), app_id)
        url = url or connection.webhook_url
        if not url:
            raise InvalidRequest.of(FIELD, "is missing, and the connection has none")
        check_url(url, self._url_rules)
        app = self._store.app(app_id)
        if app is None or not app.webhook_secrets:
            raise InvalidState("The app has no webhook secret to sign with. The operator can create one.")
        return TrialReceiver(url, app.webhook_secrets, connection_id)

    def send(self, receiver: TrialReceiver) -> Trial:
        """Send a test event, and return what the receiver answered."""
        start = self._clock()
        event_id = self._new_id()
        event = {
            "type": TRIAL_TYPE,
            "timestamp": timestamp(start),
            "id": event_id,
            "connection_id": receiver.connection_id,
        }
        body = json.dumps(event, separators=(",", ":")).encode()
        response = response_to(
            self._sender, receiver.url, receiver.secrets, event_id, body, start, ATTEMPT_TIMEOUT_SECONDS
        )
        if isinstance(response, DeliveryFailed):
            return Trial(self._milliseconds_since(start), error=failure_of(response))
        error = None if is_success(response) else failure_of(response)
        return Trial(self._milliseconds_since(start), response.status, response.body, error)

    def _milliseconds_since(self, start: datetime) -> int:
        return round((self._clock() - start).total_seconds() * 1000)
