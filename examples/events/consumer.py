"""Read the events of an app and store their results, with the cursor in the same transaction.

Usage:
    python3 consumer.py [--once]

It can be stopped at any point. An event that is listed again is stored once.
"""

from __future__ import annotations

import base64
import json
import os
import sqlite3
import sys
import time
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlencode
from urllib.request import Request, urlopen

IDLE_SECONDS = 5
"""How long to wait when there are no more events."""


ENDS = tuple(f"queued_request.{end}" for end in ("completed", "failed", "discarded", "deleted", "unreadable"))


class Consumer:
    """The results of requests, and the cursor behind them."""

    def __init__(self, base_url: str, api_key: str, path: str) -> None:
        self._url = f"{base_url}/api/v1/events"
        self._headers = {"Authorization": "Basic " + base64.b64encode(f"{api_key}:".encode()).decode()}
        self._database = sqlite3.connect(path)
        self._database.execute("CREATE TABLE IF NOT EXISTS cursor (id INTEGER PRIMARY KEY CHECK (id = 1), next TEXT)")
        self._database.execute(
            "CREATE TABLE IF NOT EXISTS results (request_id TEXT PRIMARY KEY, type TEXT, label TEXT, result TEXT)"
        )

    def read(self) -> bool:
        """Process the next events. Return whether there are more."""
        row = self._database.execute("SELECT next FROM cursor").fetchone()
        answer = self._answer(after=row[0]) if row else self._answer()
        with self._database:  # one transaction: either both are stored, or the same events are read again
            for event in answer["data"]:
                self.process(event)
            self._database.execute("INSERT OR REPLACE INTO cursor VALUES (1, ?)", (answer["next"],))
        more: bool = answer["has_more"]
        return more

    def _answer(self, **parameters: str) -> dict[str, Any]:
        """Return the answer of a call."""
        request = Request(f"{self._url}?{urlencode(parameters)}", headers=self._headers)
        try:
            with urlopen(request, timeout=30) as response:
                answer: dict[str, Any] = json.load(response)
        except HTTPError as error:
            if error.code != 410:
                raise
            # The cursor is older than seven days. Read here from the list of requests what you missed.
            oldest = json.load(error)["error"]["details"]["oldest"]
            return {"data": [], "next": oldest, "has_more": True}
        return answer

    def process(self, event: dict[str, Any]) -> None:
        """Store how a request has ended. Other types are ignored, also those that later versions of the service add."""
        if event["type"] in ENDS:
            result = json.dumps(event.get("result"))
            row = (event["page_request_id"], event["type"], event.get("label"), result)
            self._database.execute("INSERT OR REPLACE INTO results VALUES (?, ?, ?, ?)", row)
            print(event["type"], event["page_request_id"], flush=True)


def variable(name: str) -> str:
    """Return an environment variable. Without it, the program ends."""
    if not (value := os.environ.get(name)):
        sys.exit(f"{name} is not set. In the folder of the project, run: set -a; . .local/env; set +a")
    return value


def main() -> None:
    """Read events until the program is stopped, or with --once until there are no more."""
    # One database for each connection of this program: another one can belong to another app, with other cursors.
    consumer = Consumer(variable("BASE_URL"), variable("API_KEY"), f"results-{variable('CONNECTION_ID')}.db")
    while True:
        if not consumer.read():
            if "--once" in sys.argv:
                return
            time.sleep(IDLE_SECONDS)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        print("Stopped. The next run continues here.")
    except HTTPError as error:
        sys.exit(f"{error.code} {json.load(error)['error']['message']}")
    except URLError as error:
        sys.exit(f"{os.environ.get('BASE_URL')} cannot be reached: {error.reason}. Is make run still running?")
