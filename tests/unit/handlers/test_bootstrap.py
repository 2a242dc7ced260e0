"""Settings are read when they are needed; each service is built once."""

from __future__ import annotations

import pytest

from handlers.common.bootstrap import Services
from handlers.common.settings import Settings
from tests.support.services import ENVIRONMENT

VARIABLES = {
    "WEBHOOK_RETRY_QUEUE_URL": lambda settings: settings.webhook_retry_queue_url,
    "ALLOW_LOOPBACK_WEBHOOKS": lambda settings: settings.allow_loopback_webhooks,
    "ALLOW_HTTP_WEBHOOKS": lambda settings: settings.allow_http_webhooks,
    "WEBHOOK_PORTS": lambda settings: settings.webhook_ports,
    "BASE_URL": lambda settings: settings.base_url,
    "RETENTION_DAYS": lambda settings: settings.retention_days,
    "EXECUTION_SECONDS": lambda settings: settings.execution_seconds,
    "DORMANT_POLL_SECONDS": lambda settings: settings.dormant_poll_seconds,
    "MAX_SESSIONS": lambda settings: settings.max_sessions,
    "WEB_CONNECTOR_CALLS_PER_SECOND": lambda settings: settings.web_connector_calls_per_second,
    "CONCURRENCY_ALARM_AT": lambda settings: settings.concurrency_alarm_at,
    "QUEUED_REQUESTS_TABLE": lambda settings: settings.table("queued_requests"),
}


def test_the_templates_defaults_allow_https_to_port_443_only() -> None:
    settings = Settings(ENVIRONMENT)

    assert settings.allow_loopback_webhooks is False
    assert settings.allow_http_webhooks is False
    assert settings.webhook_ports == {443}
    assert settings.base_url is None


def test_values_are_read_from_the_environment() -> None:
    settings = Settings(
        {
            "ALLOW_LOOPBACK_WEBHOOKS": "true",
            "ALLOW_HTTP_WEBHOOKS": "1",
            "WEBHOOK_PORTS": "443,8443",
            "BASE_URL": "https://queue.example.com/",
            "QUEUED_REQUESTS_TABLE": "requests",
        }
    )

    assert settings.allow_loopback_webhooks
    assert settings.allow_http_webhooks
    assert settings.webhook_ports == {443, 8443}
    assert settings.base_url == "https://queue.example.com"
    assert settings.table("queued_requests") == "requests"


@pytest.mark.parametrize("name", VARIABLES)
def test_a_missing_variable_is_named_when_it_is_needed(name: str) -> None:
    with pytest.raises(KeyError, match=name):
        VARIABLES[name](Settings({}))


def test_a_switch_is_true_or_false() -> None:
    with pytest.raises(ValueError, match="ALLOW_LOOPBACK_WEBHOOKS must be true or false"):
        _ = Settings({"ALLOW_LOOPBACK_WEBHOOKS": "perhaps"}).allow_loopback_webhooks


def test_each_service_is_built_once() -> None:
    services = Services(Settings(ENVIRONMENT))

    assert services.url_rules is services.url_rules
