"""The stack under test.

`STACK` names a file with the credentials of a running one, as `make run` and `make deploy-local`
write them; without it one is started here, on a free port, for the tests alone.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from local.receiver import Webhook, receiving
from tests.e2e.support import Service

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[2]
START_SECONDS = 60


@contextmanager
def own_stack(state: Path) -> Iterator[dict[str, Any]]:
    """Run `local.run` without QuickBooks in a process of its own; yields its credentials."""
    environment = {**os.environ, "PORT": "0", "QUICKBOOKS": "off", "STATE_DIR": str(state)}
    process = subprocess.Popen(
        [sys.executable, "-m", "local.run"], cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    try:
        killer = threading.Timer(START_SECONDS, process.kill)
        killer.start()
        while "curl" not in (line := process.stdout.readline()):
            assert line, f"the stack ended with {process.wait()}"
        killer.cancel()
        # Read on, or the pipe fills and the stack stands still.
        reader = threading.Thread(target=process.stdout.read, daemon=True)
        reader.start()
        yield json.loads((state / ".local" / "credentials.json").read_text(encoding="utf-8"))
    finally:
        process.send_signal(signal.SIGINT)
        assert process.wait(START_SECONDS) == 0
        reader.join()
        process.stdout.close()


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """Yield the stack, with an app of its own for the tests."""
    if given := os.environ.get("STACK"):
        with serving(json.loads(Path(given).read_text(encoding="utf-8"))) as found:
            yield found
    else:
        with own_stack(tmp_path_factory.mktemp("stack")) as credentials, serving(credentials) as found:
            yield found


@contextmanager
def serving(credentials: dict[str, Any]) -> Iterator[Service]:
    """Yield the service that credentials lead to, with a receiver that hands on its webhooks."""
    webhooks: queue.Queue[Webhook] = queue.Queue()
    with receiving(credentials["webhook_secret"], webhooks.put) as webhook_url:
        names = ("base_url", "app_id", "api_key", "operate_function", "operate_endpoint")
        yield Service(
            **{name: credentials[name] for name in names},
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
