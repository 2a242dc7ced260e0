"""The consumer of events reads every event of a running stack once, whenever it is stopped."""

from __future__ import annotations

import sqlite3
import time
from typing import TYPE_CHECKING

from consumer import Consumer

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.runs import Run

WAIT_SECONDS = 30


def test_the_consumer_gets_the_event_of_each_request(run: Run, tmp_path: Path) -> None:
    database = str(tmp_path / "events.db")
    deadline = time.monotonic() + WAIT_SECONDS

    for _ in range(2):
        request_id = run.queue({"request_json": {"CustomerQueryRq": {"MaxReturned": 1}}})
        results: list[tuple[str, str]] = []
        while not results and time.monotonic() < deadline:
            # A new one for each call, as if the program were stopped in between.
            Consumer(run.credentials["base_url"], run.credentials["api_key"], database).read()
            query = "SELECT type, result FROM results WHERE request_id = ?"
            results = sqlite3.connect(database).execute(query, [request_id]).fetchall()
            time.sleep(0.2)

        ((event_type, result),) = results
        assert event_type == "queued_request.completed"
        assert "CustomerRet" in result
