"""Services for the functions that a test calls."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

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
    "WEB_CONNECTOR_BASE_URL": "",
    "EXECUTION_SECONDS": "1800",
    "DORMANT_POLL_SECONDS": "900",
    "MAX_SESSIONS": "0",
    "MAX_WAITING_CALLS": "2",
    "WEB_CONNECTOR_CALLS_PER_SECOND": "1000",
    "CONCURRENCY_ALARM_AT": "800",
}
"""The template's defaults."""


def services_with(store: Database, clock: Clock) -> Services:
    """Return services over this store and clock, with the template's default settings."""
    services = Services(Settings(ENVIRONMENT), clock, chance=lambda: 0.0)
    services.store = store
    return services


@contextmanager
def using(services: Services) -> Iterator[Services]:
    """Let every function use these services while the block runs."""
    former, Services.current = Services.current, services
    try:
        yield services
    finally:
        Services.current = former
