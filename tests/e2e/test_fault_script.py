"""A script of faults in `make run`, as in the test of an integration."""

from __future__ import annotations

import json
import os
import queue
from typing import TYPE_CHECKING

import pytest

from local.receiver import Webhook, receiving
from tests.e2e.runs import running
from tests.e2e.support import PATIENCE_SECONDS, eventually

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif("STACK" in os.environ, reason="it needs a stack with a script of its own")

ADD_CUSTOMER = {
    "request": {
        "name": "CustomerAddRq",
        "children": [{"name": "CustomerAdd", "children": [{"name": "Name", "text": "Fault Script"}]}],
    }
}
LOST_ANSWER = {
    "steps": [{"name": "the answer is lost", "on": "receiveResponseXML", "do": "lose-request"}],
    "expect": {"executed": {"CustomerAddRq": 1}, "repeated_writes": 0, "faults_happened": "all"},
}


def test_a_write_with_a_lost_response_is_executed_once_and_its_webhook_arrives(tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    script.write_text(json.dumps(LOST_ANSWER), encoding="utf-8")

    with running(tmp_path, QUICKBOOKS_SCRIPT=str(script)) as run:
        webhooks: queue.Queue[Webhook] = queue.Queue()
        with receiving(run.credentials["webhook_secret"], webhooks.put) as url:
            request_id = run.queue({"request_json": ADD_CUSTOMER, "webhook_url": url})
            webhook = webhooks.get(timeout=PATIENCE_SECONDS)
            record = eventually(lambda: run.record(request_id), lambda record: record["webhook_state"] == "succeeded")

    assert (webhook.id, webhook.body["state"]) == (request_id, "completed")
    assert record["state"] == "response_received"
    # Delivery is at least once: on a busy machine the first attempt can be cut off, and is then repeated.
    assert {repeated.id for repeated in webhooks.queue} <= {request_id}
    assert "Fault       the answer is lost" in run.output
    assert "The script expected something else" not in run.output


def test_unmet_expectations_are_printed_at_the_end(tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    script.write_text(json.dumps(LOST_ANSWER), encoding="utf-8")

    with running(tmp_path, QUICKBOOKS_SCRIPT=str(script)) as run:
        pass

    assert "The script expected something else: CustomerAddRq was to be executed once, and was never" in run.output
