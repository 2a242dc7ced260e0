"""The stack under test.

`STACK` names a file with the credentials of a running one, as `make run` and `make deploy-local`
write them; without it one is started here, on a free port, for the tests alone.
"""

from __future__ import annotations

import json
import os
import queue
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from local.command import operator_of
from local.receiver import Webhook, receiving
from tests.e2e.runs import running
from tests.e2e.support import Service

if TYPE_CHECKING:
    from collections.abc import Iterator


# Not for the session: its receiver of webhooks would accept calls while a unit test bans sockets.
@pytest.fixture(scope="package")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """Yield the stack with a separate app for the tests."""
    if path := os.environ.get("STACK"):
        with serving(json.loads(Path(path).read_text(encoding="utf-8"))) as service:
            yield service
    else:
        with (
            running(tmp_path_factory.mktemp("stack"), QUICKBOOKS="off") as run,
            serving(run.credentials) as service,
        ):
            yield service


@contextmanager
def serving(credentials: dict[str, Any]) -> Iterator[Service]:
    """Yield the service that credentials lead to, with a receiver that hands on its webhooks."""
    webhooks: queue.Queue[Webhook] = queue.Queue()
    with receiving(credentials["webhook_secret"], webhooks.put) as webhook_url:
        yield Service(
            **{name: credentials[name] for name in ("base_url", "app_id", "api_key")},
            operator=operator_of(credentials),
            webhook_url=webhook_url,
            webhooks=webhooks,
            applies_gateway_responses=credentials.get("applies_gateway_responses", True),
        )


@pytest.fixture
def gateway(service: Service) -> Service:
    """Return the stack if its gateway applies the template's gateway responses; emulators may not."""
    if not service.applies_gateway_responses:
        pytest.skip("this emulator does not apply gateway responses")
    return service


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test of this folder."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.stack)
