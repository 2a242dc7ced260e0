"""The consumer of events reads every event of a running stack once, whenever it is stopped."""

from __future__ import annotations

import sqlite3
import time
from typing import TYPE_CHECKING
from uuid import uuid4

from consumer import Consumer

from tests.examples.test_first_sync import api_of

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.runs import Run

WAIT_SECONDS = 30


def test_the_consumer_gets_the_event_of_each_request(run: Run, tmp_path: Path) -> None:
    api, database = api_of(run), str(tmp_path / "events.db")
    deadline = time.monotonic() + WAIT_SECONDS
    results: list[tuple[str]] = []

    for number in range(2):
        api.execute({"CustomerQueryRq": {"MaxReturned": 1}}, str(uuid4()))
        while len(results) <= number and time.monotonic() < deadline:
            # A new one for each call, as if the program were stopped in between.
            Consumer(run.credentials["base_url"], run.credentials["api_key"], database).read()
            query = "SELECT result FROM results WHERE type = 'queued_request.completed'"
            results = sqlite3.connect(database).execute(query).fetchall()
            time.sleep(0.2)

    assert len(results) >= 2
    assert all("CustomerRet" in result for (result,) in results)
