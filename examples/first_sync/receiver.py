"""A webhook receiver: verify the signature, store the event once, respond. Processing comes later.

Usage:
    python3 receiver.py

It stores events in `events-<connection id>.db`, because another connection can belong to another company. In your
program this is one route of your web application and one table.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
import re
import sqlite3
import sys
import time
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

from qbxml_queue import variable

URL = os.environ.get("RECEIVER_URL", "http://127.0.0.1:8080/")
"""Where the service reaches this receiver."""

SECRET = re.compile(r"whsec_((?:[A-Za-z0-9+/]{4}){8,}(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)")
"""A webhook secret of at least 24 bytes. Anybody can sign with an empty one."""

MAX_AGE_SECONDS = 300
MAX_BODY_BYTES = 2 * 1024 * 1024


def is_valid(secret: str, headers: Mapping[str, str], body: bytes, now: float) -> bool:
    """Check the signature of Standard Webhooks over the raw bytes of the body."""
    webhook_id, timestamp = headers.get("webhook-id") or "", headers.get("webhook-timestamp") or ""
    key = SECRET.fullmatch(secret or "")
    if not key or not webhook_id or not re.fullmatch("[0-9]{1,12}", timestamp):
        return False
    if abs(now - int(timestamp)) > MAX_AGE_SECONDS:
        return False
    content = f"{webhook_id}.{timestamp}.".encode("utf-8", "surrogatepass") + body
    expected = b"v1," + base64.b64encode(hmac.digest(base64.b64decode(key[1]), content, hashlib.sha256))
    signatures = (headers.get("webhook-signature") or "").encode("utf-8", "surrogatepass").split(b" ")
    return any(hmac.compare_digest(expected, signature) for signature in signatures)


class Events:
    """The events that have arrived, in SQLite."""

    def __init__(self, path: str) -> None:
        self._path = path
        with self._connect() as database:
            database.execute(
                "CREATE TABLE IF NOT EXISTS events"
                " (webhook_id TEXT PRIMARY KEY, query_id TEXT, page INTEGER, last_page INTEGER, body TEXT)"
            )

    @classmethod
    def of_connection(cls) -> Events:
        return cls(f"events-{variable('CONNECTION_ID')}.db")

    def _connect(self) -> sqlite3.Connection:
        return sqlite3.connect(self._path, timeout=10)

    def store(self, webhook_id: str, event: dict[str, Any]) -> None:
        """Store an event. An event that arrives twice has the same `webhook-id` and is stored once."""
        row = (webhook_id, event["query_id"], event["page"], event["last_page"], json.dumps(event))
        with self._connect() as database:
            database.execute("INSERT OR IGNORE INTO events VALUES (?, ?, ?, ?, ?)", row)

    def pages_of(self, query_id: str, timeout_seconds: float = 300) -> Iterator[dict[str, Any]]:
        """Yield the events of a query in the order of its pages, also if they arrive in another one."""
        deadline = time.monotonic() + timeout_seconds
        page, last_page = 0, False
        while not last_page:
            with self._connect() as database:
                row = database.execute(
                    "SELECT body, last_page FROM events WHERE query_id = ? AND page = ?", (query_id, page + 1)
                ).fetchone()
            if row:
                page, last_page = page + 1, bool(row[1])
                yield json.loads(row[0])
            elif time.monotonic() > deadline:
                raise TimeoutError(f"page {page + 1} of {query_id} has not arrived")
            else:
                time.sleep(0.2)


class Handler(BaseHTTPRequestHandler):
    """Responds 204 to a valid event, as soon as it is stored."""

    secret: str
    events: Events

    def do_POST(self) -> None:
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or int(length) > MAX_BODY_BYTES:
            self._respond(413)
            return
        body = self.rfile.read(int(length))
        headers = {name.lower(): value for name, value in self.headers.items()}
        if not is_valid(self.secret, headers, body, time.time()):
            self._respond(401)
            return
        event = json.loads(body)
        self.events.store(headers["webhook-id"], event)
        self._respond(204)
        print(f"{event['type']} page {event['page']}", flush=True)

    def _respond(self, status: int) -> None:
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing per request: do_POST prints the event."""


def main() -> None:
    Handler.secret, Handler.events = variable("WEBHOOK_SECRET"), Events.of_connection()
    if not SECRET.fullmatch(Handler.secret):
        sys.exit("WEBHOOK_SECRET is not whsec_ and base64 of at least 24 bytes.")
    port = urlsplit(URL).port or 8080
    try:
        server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    except OSError as error:
        sys.exit(
            f"Port {port} cannot be used: {error.strerror}. Choose another one, here and for customers.py: "
            f"export RECEIVER_URL=http://127.0.0.1:{port + 1}/"
        )
    print(f"Receiving webhooks at {URL}", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        print("Stopped.")


if __name__ == "__main__":
    main()
