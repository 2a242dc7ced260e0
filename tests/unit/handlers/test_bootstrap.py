"""Settings are read from the environment, once, when they are first asked for."""

from __future__ import annotations

import pytest

from handlers import bootstrap
from handlers.bootstrap import Settings

TABLES = {
    "QUEUED_REQUESTS_TABLE": "requests",
    "PAYLOADS_TABLE": "payloads",
    "COUNTS_TABLE": "counts",
    "CONNECTIONS_TABLE": "connections",
    "SESSIONS_TABLE": "sessions",
    "APPS_TABLE": "apps",
    "IDEMPOTENCY_KEYS_TABLE": "keys",
    "QUEUE_TABLE": "queue",
    "WEBHOOK_RETRY_QUEUE_URL": "https://sqs.example/queue",
}


def test_what_is_not_said_is_refused_or_safe() -> None:
    settings = Settings.of(TABLES | {"BASE_URL": ""})

    assert settings.queued_requests_table == "requests"
    assert settings.allow_loopback_webhooks is False
    assert settings.allow_http_webhooks is False
    assert settings.webhook_ports == {443}
    assert settings.base_url is None


def test_what_is_said_is_taken() -> None:
    settings = Settings.of(
        TABLES
        | {
            "ALLOW_LOOPBACK_WEBHOOKS": "true",
            "ALLOW_HTTP_WEBHOOKS": "1",
            "WEBHOOK_PORTS": "443,8443",
            "BASE_URL": "https://queue.example.com/",
        }
    )

    assert settings.allow_loopback_webhooks
    assert settings.allow_http_webhooks
    assert settings.webhook_ports == {443, 8443}
    assert settings.base_url == "https://queue.example.com"


@pytest.mark.parametrize("name", TABLES)
def test_a_name_that_is_missing_is_named(name: str) -> None:
    with pytest.raises(KeyError, match=name):
        Settings.of({one: value for one, value in TABLES.items() if one != name})


def test_a_switch_is_true_or_false() -> None:
    with pytest.raises(ValueError, match="ALLOW_LOOPBACK_WEBHOOKS must be true or false"):
        Settings.of(TABLES | {"ALLOW_LOOPBACK_WEBHOOKS": "perhaps"})


def test_each_part_is_built_once() -> None:
    bootstrap.use(settings=Settings.of(TABLES))

    assert bootstrap.url_rules() is bootstrap.url_rules()
    bootstrap.use()
