"""The composition root: the one place that knows the environment and every concrete class.

Each part is built when it is first asked for and kept for the life of the process. Imports stand
inside the functions, so that a Lambda function loads only what it uses (`benchmarks/import_times.py`).
"""
# ruff: noqa: PLC0415 - see above: an import at the top would be paid by every function's cold start

from __future__ import annotations

import os
import secrets as system_secrets
import uuid
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from domain.apps.administration import Administration
    from domain.connections.removal import ConnectionRemoval
    from domain.connections.service import ConnectionService
    from domain.maintenance.recount import Recounting
    from domain.maintenance.retention import Retention
    from domain.maintenance.search_packing import Packer
    from domain.maintenance.sweep import Sweeper
    from domain.ports import Clock, IdSource, SecretSource
    from domain.requests.listing import Lists
    from domain.requests.service import RequestService
    from domain.storage.ports import Database
    from domain.web_connector.endpoint import WebConnector
    from domain.webhooks.addresses import UrlRules
    from domain.webhooks.delivery import Deliverer
    from domain.webhooks.ports import RetryQueue, WebhookSender

T = TypeVar("T")

CONNECT_SECONDS = 2
READ_SECONDS = 5
"""DynamoDB and SQS answer in milliseconds: after this long a call is lost and made again (3 times in all)."""

CONNECTIONS = 20
"""Webhook attempts and parts of a search run side by side, each with a connection of its own."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What the template tells a function by its environment. A missing table name is a KeyError that names it."""

    queued_requests_table: str
    payloads_table: str
    counts_table: str
    connections_table: str
    sessions_table: str
    apps_table: str
    idempotency_keys_table: str
    queue_table: str
    webhook_retry_queue_url: str
    allow_loopback_webhooks: bool = False
    allow_http_webhooks: bool = False
    webhook_ports: frozenset[int] = frozenset({443})
    base_url: str | None = None
    retention_days: int = 0

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> Settings:
        """Return the settings that environment variables hold. Raises KeyError and ValueError."""
        return cls(
            queued_requests_table=environment["QUEUED_REQUESTS_TABLE"],
            payloads_table=environment["PAYLOADS_TABLE"],
            counts_table=environment["COUNTS_TABLE"],
            connections_table=environment["CONNECTIONS_TABLE"],
            sessions_table=environment["SESSIONS_TABLE"],
            apps_table=environment["APPS_TABLE"],
            idempotency_keys_table=environment["IDEMPOTENCY_KEYS_TABLE"],
            queue_table=environment["QUEUE_TABLE"],
            webhook_retry_queue_url=environment["WEBHOOK_RETRY_QUEUE_URL"],
            allow_loopback_webhooks=_switch(environment, "ALLOW_LOOPBACK_WEBHOOKS"),
            allow_http_webhooks=_switch(environment, "ALLOW_HTTP_WEBHOOKS"),
            webhook_ports=frozenset(int(port) for port in environment.get("WEBHOOK_PORTS", "443").split(",")),
            base_url=environment.get("BASE_URL", "").rstrip("/") or None,
            retention_days=int(environment.get("RETENTION_DAYS", "0")),
        )


def _switch(environment: Mapping[str, str], name: str) -> bool:
    value = environment.get(name, "").lower()
    if value not in {"", "0", "1", "false", "true"}:
        raise ValueError(f"{name} must be true or false, not {value!r}")
    return value in {"1", "true"}


_parts: dict[str, Any] = {}


def use(**parts: Any) -> None:
    """Forget every part and begin with `parts`, by the names of this module's functions: for tests and local runs."""
    _parts.clear()
    _parts.update(parts)


def _part(build: Callable[[], T]) -> Callable[[], T]:
    """Keep what `build` returns for the life of the process."""
    name = build.__name__

    @wraps(build)
    def part() -> T:
        if name not in _parts:
            _parts[name] = build()
        value: T = _parts[name]
        return value

    return part


# --- The world outside ---------------------------------------------------------------------------


@_part
def settings() -> Settings:
    """Return this process's settings."""
    return Settings.of(os.environ)


@_part
def clock() -> Clock:
    """Return the system's clock."""
    return lambda: datetime.now(UTC)


@_part
def new_id() -> IdSource:
    """Return the source of identifiers."""
    return lambda: str(uuid.uuid4())


@_part
def secrets() -> SecretSource:
    """Return the system's source of secret bytes."""
    return lambda size: system_secrets.token_bytes(size)  # noqa: PLW0108 - the port takes a size, never None


def aws_client(service: str) -> Any:
    """Return a client of an AWS service. botocore alone: boto3 on top of it would only cost import time."""
    from botocore.config import Config
    from botocore.session import get_session

    config = Config(
        connect_timeout=CONNECT_SECONDS,
        read_timeout=READ_SECONDS,
        retries={"mode": "standard", "total_max_attempts": 3},
        tcp_keepalive=True,
        max_pool_connections=CONNECTIONS,
    )
    return get_session().create_client(service, config=config)


@_part
def store() -> Database:
    """Return the database."""
    from adapters.dynamodb import DynamoDBStore, TableNames
    from adapters.dynamodb.transactions import Transactions

    names = settings()
    tables = TableNames(
        queued_requests=names.queued_requests_table,
        payloads=names.payloads_table,
        counts=names.counts_table,
        connections=names.connections_table,
        sessions=names.sessions_table,
        apps=names.apps_table,
        idempotency_keys=names.idempotency_keys_table,
        queue=names.queue_table,
    )
    client = aws_client("dynamodb")
    return DynamoDBStore(client, tables, Transactions(client, tables, retention_days=names.retention_days))


@_part
def retry_queue() -> RetryQueue:
    """Return the queue of planned webhook attempts."""
    from adapters.sqs import SqsRetryQueue

    return SqsRetryQueue(aws_client("sqs"), settings().webhook_retry_queue_url, clock())


@_part
def webhook_sender() -> WebhookSender:
    """Return what dials webhook receivers."""
    from adapters.webhook_http import WebhookHttp

    return WebhookHttp(allow_loopback=settings().allow_loopback_webhooks)


@_part
def url_rules() -> UrlRules:
    """Return what this deployment allows as a webhook's address."""
    from domain.webhooks.addresses import UrlRules

    known = settings()
    return UrlRules(
        allow_http=known.allow_http_webhooks,
        allow_loopback=known.allow_loopback_webhooks,
        ports=known.webhook_ports,
    )


# --- Use cases -----------------------------------------------------------------------------------


@_part
def queueing() -> RequestService:
    """Return the use cases of a queued request."""
    from domain.requests.service import RequestService

    return RequestService(store(), clock(), new_id())


@_part
def lists() -> Lists:
    """Return the lists of queued requests."""
    from domain.requests.listing import Lists

    return Lists(store(), clock())


@_part
def connections() -> ConnectionService:
    """Return the use cases of a connection."""
    from domain.connections.service import ConnectionService

    return ConnectionService(store(), clock=clock(), new_id=new_id(), secrets=secrets())


@_part
def connection_removal() -> ConnectionRemoval:
    """Return what deletes a connection."""
    from domain.connections.removal import ConnectionRemoval

    return ConnectionRemoval(store(), clock())


@_part
def administration() -> Administration:
    """Return what the operator does."""
    from domain.apps.administration import Administration

    return Administration(store(), clock(), new_id(), secrets())


@_part
def recounting() -> Recounting:
    """Return what compares counts with records."""
    from domain.maintenance.recount import Recounting

    return Recounting(store())


@_part
def web_connector() -> WebConnector:
    """Return the Web Connector endpoint."""
    from domain.web_connector.endpoint import WebConnector

    return WebConnector(store(), clock(), new_id(), secrets())


@_part
def sweeper() -> Sweeper:
    """Return what releases silent sessions and removes what deleted connections left."""
    from domain.maintenance.sweep import Sweeper

    return Sweeper(store(), clock())


@_part
def retention() -> Retention:
    """Return what takes away what expired records leave behind."""
    from domain.maintenance.retention import Retention

    return Retention(store(), clock())


@_part
def packer() -> Packer:
    """Return what packs search texts."""
    from domain.maintenance.search_packing import Packer

    return Packer(store(), clock())


@_part
def webhook_deliveries() -> Deliverer:
    """Return what makes webhook attempts."""
    import random

    from domain.webhooks.delivery import Deliverer

    return Deliverer(store(), webhook_sender(), retry_queue(), clock(), random.random)
