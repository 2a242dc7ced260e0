"""The composition root: the one module that chooses the implementation of every port.

It also keeps the use cases that have a cache, and those that several functions call. Imports are inside the properties,
so a Lambda function loads only what it uses (`benchmarks/cold_starts.py`).
"""
# ruff: noqa: PLC0415 - an import at the top would slow down every function's cold start

from __future__ import annotations

import logging
import math
import os
import random
import secrets
import time
import uuid
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from handlers.common import init_phase
from handlers.common.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from domain.apps.administration import Administration
    from domain.apps.api_keys import ApiKeys
    from domain.apps.key_uses import KeyUses
    from domain.apps.quotas import Quotas
    from domain.connections.onboarding import Onboarding
    from domain.connections.service import ConnectionService
    from domain.connections.simulators import Simulators
    from domain.people.members import Members
    from domain.people.provider import IdentityProvider
    from domain.people.sign_ins import SignIns
    from domain.ports import Clock, IdSource, SecretSource
    from domain.queueing.new_request import Queueing
    from domain.queueing.service import RequestService
    from domain.queueing.waiting_calls import WaitingCalls
    from domain.settling.service import SettlingService
    from domain.storage.ports import Database
    from domain.subscriptions.service import SubscriptionService
    from domain.web_connector.endpoint import WebConnector
    from domain.web_connector.session.admission import Budget
    from domain.webhooks.addresses import UrlRules
    from domain.webhooks.delivery import Deliverer
    from domain.webhooks.ports import RetryQueue, WebhookSender
    from domain.webhooks.unrecorded_events import EventDeliverer

CONNECT_SECONDS = 2
READ_SECONDS = 3
INVOKE_SECONDS = 20
"""DynamoDB and SQS respond in milliseconds. A slower call is abandoned and tried again, up to 3 times in all. With the
pauses of botocore, up to 1 and 2 seconds, that takes at most 12 seconds. A call of another function is made once, and
has as long as a call of the REST API can wait for it."""

SECRET_SECONDS = 300
"""How long the secret of this service at the identity provider is kept."""

MAX_CONNECTIONS = 50
"""Webhook attempts and the parts of a search run in parallel, each on its own connection."""


THROTTLING_CODES = frozenset(
    {
        "ThrottlingException",
        "ThrottlingError",
        "ProvisionedThroughputExceededException",
        "ProvisionedThroughputExceeded",
        "RequestLimitExceeded",
    }
)
"""DynamoDB: the codes of errors, of the reasons of a cancelled transaction, and of statements of a batch."""


def aws_client(service: str) -> Any:
    """Return a client of an AWS service. It is botocore's: boto3 would only add import time.

    In Lambda it does not check parameters, which takes a tenth of the processor time of a call. The tests do. botocore
    would build its `User-Agent` twice for each call, which takes a quarter of that time.
    """
    from botocore.config import Config
    from botocore.session import get_session

    # At DEBUG it would log its requests and responses, which contain secrets, password hashes and records.
    for library in ("botocore", "urllib3"):
        logging.getLogger(library).setLevel(logging.INFO)
    seconds, attempts = (INVOKE_SECONDS, 1) if service == "lambda" else (READ_SECONDS, 3)
    session = get_session()
    config = Config(
        user_agent=session.user_agent(),
        connect_timeout=CONNECT_SECONDS,
        read_timeout=seconds,
        retries={"mode": "standard", "total_max_attempts": attempts},
        tcp_keepalive=True,
        max_pool_connections=MAX_CONNECTIONS,
        parameter_validation=not init_phase.IN_LAMBDA,
    )
    client = session.create_client(service, config=config)
    client.meta.events.register("needs-retry.dynamodb", _log_refusals)
    return client


_OVERTAKEN = frozenset({"ConditionalCheckFailed", "TransactionConflict"})
"""The codes of statements that came too late, which is usual."""


def _log_refusals(response: tuple[Any, Mapping[str, Any]] | None, **_: Any) -> None:
    """Log that DynamoDB refused a call because of its rate. botocore repeats the call, but an alarm counts this.

    A refused statement of a batch is not repeated, because the transaction stores its response (`responses.py`).
    """
    parsed = response[1] if response else {}
    error = parsed.get("Error", {})
    results = responses if isinstance(responses := parsed.get("Responses"), list) else []
    statements = {one["Error"].get("Code") for one in results if "Error" in one}
    codes = {error.get("Code"), *statements, *(reason.get("Code") for reason in parsed.get("CancellationReasons", []))}
    if throttling := codes & THROTTLING_CODES:
        from handlers.common.logs import ServiceLogger

        ServiceLogger().always(logging.WARNING, "database.throttled", code=min(throttling), reason=error.get("Message"))
    elif refused := statements - _OVERTAKEN:
        from handlers.common.logs import ServiceLogger

        ServiceLogger().always(logging.WARNING, "database.statement_refused", code=min(refused))


@dataclass
class Services:
    """Everything that handlers call. Each part is built when it is first used and kept.

    A test replaces a part by assigning to it: `services.store = FakeStore()`.
    """

    current: ClassVar[Services]
    """The services of this process."""

    settings: Settings = field(default_factory=lambda: Settings(os.environ))
    clock: Clock = lambda: datetime.now(UTC)
    new_id: IdSource = lambda: str(uuid.uuid4())
    secrets: SecretSource = secrets.token_bytes
    chance: Callable[[], float] = random.random
    pause: Callable[[float], None] = time.sleep
    client: Callable[[str], Any] = aws_client

    _kept_secret: tuple[float, str] = (-math.inf, "")

    # --- Ports

    @cached_property
    def store(self) -> Database:
        """The database."""
        from adapters.dynamodb import DynamoDBStore, TableNames

        tables = TableNames(self.settings.table)
        return DynamoDBStore(self.client("dynamodb"), tables, retention_days=lambda: self.settings.retention_days)

    @cached_property
    def retry_queue(self) -> RetryQueue:
        """The queue of planned webhook attempts."""
        from adapters.sqs import SqsRetryQueue

        return SqsRetryQueue(self.client("sqs"), self.settings.webhook_retry_queue_url, self.clock)

    @cached_property
    def simulators(self) -> Simulators:
        """The simulators of test connections."""
        from adapters.simulators import LambdaSimulators

        settings = self.settings
        return LambdaSimulators(
            self.client, lambda: settings.test_connection_function, lambda: settings.test_connection_queue_url
        )

    @cached_property
    def identity_provider(self) -> IdentityProvider:
        """The OpenID provider. Only the function of the sign-in has the packages that it needs."""
        from adapters.openid import Client, OpenIdProvider

        return OpenIdProvider(Client(self.settings.oidc_issuer, self.settings.oidc_client_id, self._client_secret))

    def _client_secret(self) -> str | None:
        """Return the secret of this service at the identity provider, or None for a public client.

        It is kept for five minutes, because anybody can come back from a login with a wrong code.
        """
        arn = self.settings.oidc_client_secret_arn
        if not arn:
            return None
        kept_until, secret = self._kept_secret
        if time.monotonic() >= kept_until:
            secret = self.client("secretsmanager").get_secret_value(SecretId=arn)["SecretString"]
            self._kept_secret = time.monotonic() + SECRET_SECONDS, secret
        return secret

    def wake_simulator(self, connection_id: str) -> None:
        """Let a test connection run a session. A failure is logged only: the sweep wakes it too."""
        try:
            self.simulators.wake(connection_id)
        except Exception as error:  # noqa: BLE001 - the request is queued, whatever happens to its message
            from handlers.common.logs import ServiceLogger

            facts = {"connection_id": connection_id, "reason": str(error)}
            ServiceLogger().always(logging.WARNING, "simulator.not_woken", **facts)

    def forget_simulator(self, connection_id: str) -> None:
        """Delete the company of a test connection. Without test connections, there is no function to delete it."""
        if self.settings.test_connection_function:
            self.simulators.call(connection_id, "delete")

    @cached_property
    def webhook_sender(self) -> WebhookSender:
        """The HTTP client for webhook receivers."""
        from adapters.webhook_http import WebhookHttp

        return WebhookHttp(self.url_rules)

    @cached_property
    def url_rules(self) -> UrlRules:
        """The webhook URLs that this deployment allows."""
        from domain.webhooks.addresses import UrlRules

        return UrlRules(
            allow_http=self.settings.allow_http_webhooks,
            allow_loopback=self.settings.allow_loopback_webhooks,
            ports=self.settings.webhook_ports,
        )

    # --- Use cases

    @cached_property
    def subscriptions(self) -> SubscriptionService:
        """The use cases of subscriptions."""
        from domain.subscriptions.service import SubscriptionService

        return SubscriptionService(self.store, self.clock, self.new_id)

    @cached_property
    def requests(self) -> RequestService:
        """The use cases of a queued request."""
        from domain.queueing.service import RequestService

        return RequestService(self.store, self.clock)

    @cached_property
    def queueing(self) -> Queueing:
        """The use case that queues a request."""
        from domain.queueing.new_request import Queueing

        return Queueing(
            self.store,
            self.clock,
            self.new_id,
            quotas=self.quotas,
            url_rules=self.url_rules,
            wake=self.wake_simulator,
        )

    @cached_property
    def settling(self) -> SettlingService:
        """The use cases of settling."""
        from domain.settling.service import SettlingService

        return SettlingService(self.store, self.clock, self.wake_simulator)

    @cached_property
    def waiting_calls(self) -> WaitingCalls:
        """The calls that wait until their request has ended."""
        from domain.queueing.waiting_calls import WaitingCalls

        limit = self.settings.max_waiting_calls
        return WaitingCalls(self.store, self.clock, self.new_id, pause=self.pause, chance=self.chance, limit=limit)

    @cached_property
    def quotas(self) -> Quotas:
        """The limits of the apps."""
        from domain.apps.quotas import Quotas

        return Quotas(self.store, self.clock, self.chance)

    @cached_property
    def api_keys(self) -> ApiKeys:
        """What admins do with API keys."""
        from domain.apps.api_keys import ApiKeys

        return ApiKeys(self.store, self.clock, self.administration)

    @cached_property
    def key_uses(self) -> KeyUses:
        """The last uses of the API keys."""
        from domain.apps.key_uses import KeyUses

        return KeyUses(self.store, self.clock)

    @cached_property
    def connections(self) -> ConnectionService:
        """The use cases of a connection."""
        from domain.connections.service import ConnectionService

        return ConnectionService(self.store, clock=self.clock, new_id=self.new_id, secrets=self.secrets)

    @cached_property
    def onboarding(self) -> Onboarding:
        """The use cases of onboarding links."""
        from domain.connections.onboarding import Onboarding

        return Onboarding(self.store, self.connections, self.clock, self.secrets)

    @cached_property
    def sign_ins(self) -> SignIns:
        """The sign-ins of people."""
        from domain.people.sign_ins import SignIns

        return SignIns(self.store, self.clock, self.new_id, self.secrets)

    @cached_property
    def members(self) -> Members:
        """The members of apps."""
        from domain.people.members import Members

        return Members(self.store, self.clock, self.new_id)

    @cached_property
    def administration(self) -> Administration:
        """The operator's use cases."""
        from domain.apps.administration import Administration

        return Administration(self.store, self.clock, self.new_id, self.secrets)

    @cached_property
    def web_connector(self) -> WebConnector:
        """The Web Connector's SOAP endpoint."""
        from domain.web_connector.endpoint import WebConnector

        return WebConnector(
            self.store,
            self.clock,
            self.new_id,
            self.secrets,
            self.settings.execution_seconds,
            dormant_seconds=self.settings.dormant_poll_seconds,
            budget=self.budget_of_sessions,
        )

    @cached_property
    def budget_of_sessions(self) -> Budget:
        """The number of Web Connector sessions that may run at once, and the calls that they may make."""
        from domain.web_connector.session.admission import budget

        settings = self.settings
        return budget(settings.web_connector_calls_per_second, settings.concurrency_alarm_at, settings.max_sessions)

    @cached_property
    def deliverer(self) -> Deliverer:
        """Makes webhook attempts."""
        from domain.webhooks.delivery import Deliverer
        from domain.webhooks.patience import Patience
        from handlers.views.webhook_event import event_body

        return Deliverer(
            self.store,
            event_body,
            self.webhook_sender,
            self.retry_queue,
            self.clock,
            self.chance,
            Patience(self.clock),
        )

    @cached_property
    def event_deliverer(self) -> EventDeliverer:
        """Sends the events whose attempts no record counts."""
        from domain.webhooks.unrecorded_events import EventDeliverer
        from handlers.views.changes_event import changes_event_body
        from handlers.views.connection_event import connection_event_body
        from handlers.views.webhook_event import resolved_event_body

        return EventDeliverer(
            self.store,
            connection_event_body,
            resolved_event_body,
            changes_event_body,
            self.webhook_sender,
            self.retry_queue,
            self.clock,
            self.chance,
            self.deliverer.slots,
        )


Services.current = Services()


def services() -> Services:
    """Return the services of this process."""
    return Services.current


def end_init(part: Callable[[Services], object] = lambda _: None) -> None:
    """End Lambda's init phase: build the part of the services that every call needs. It makes no call to AWS.

    Every module with a handler calls it once, after its imports. Outside Lambda it does nothing, and each part is
    built when it is first used.
    """
    if init_phase.IN_LAMBDA:
        part(services())
    init_phase.end()
