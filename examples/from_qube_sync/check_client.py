"""Check that QuBe Sync's own Python client, `qubesync`, works with this service.

python3 -m venv .venv-client && . .venv-client/bin/activate
pip install qubesync
QUBE_URL=$BASE_URL/api/v1 QUBE_API_KEY=$API_KEY QUBE_WEBHOOK_SECRET=$WEBHOOK_SECRET python3 check_client.py
"""

from __future__ import annotations

import os
import queue
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from qubesync import QubeSync, RequestBuilder

arrived: queue.Queue[tuple[bytes, str]] = queue.Queue()


class Handler(BaseHTTPRequestHandler):
    """Receives one webhook after the other."""

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        arrived.put((body, self.headers["X-Qube-Signature"]))
        self.send_response(204)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing."""


def customers_request() -> RequestBuilder:
    request = RequestBuilder(version="13.0")
    with (
        request as builder,
        builder.QBXML() as qbxml,
        qbxml.QBXMLMsgsRq(onError="stopOnError") as messages,
        messages.CustomerQueryRq(requestID="first-page", iterator="Start") as query,
    ):
        query.MaxReturned(100)
        query.IncludeRetElement("ListID")
        query.IncludeRetElement("FullName")
    return request


def main() -> None:
    for name in ("QUBE_URL", "QUBE_API_KEY", "QUBE_WEBHOOK_SECRET", "CONNECTION_ID"):
        if not os.environ.get(name):
            sys.exit(f"{name} is not set. In the folder of the project, run: set -a; . .local/env; set +a")
    connection = QubeSync.create_connection({"name": "Moved from QuBe Sync"})
    assert QubeSync.generate_password(connection["id"])
    assert "<QBWCXML>" in QubeSync.get_qwc(connection["id"])
    assert QubeSync.delete_connection(connection["id"])
    print("connections: ok")

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    body = {"request_json": customers_request().as_json(), "webhook_url": f"http://127.0.0.1:{server.server_port}/"}
    record = QubeSync.queue_request(os.environ["CONNECTION_ID"], body)
    assert any(request["id"] == record["id"] for request in QubeSync.get_requests(os.environ["CONNECTION_ID"]))
    event = QubeSync.verify_and_build_webhook(*arrived.get(timeout=60))
    assert event["id"] == record["id"]
    assert event["response_json"][0]["QBXMLMsgsRs"]["CustomerQueryRs"]["@requestID"] == "first-page"
    print("request, webhook, signature: ok")

    assert QubeSync.get_request(record["id"])["state"] == "response_received"
    assert QubeSync.customer_query(os.environ["CONNECTION_ID"], max_returned=2, include=["ListID"])["id"]
    assert QubeSync.delete_request(record["id"])
    print("queries, lists, deletion: ok")


if __name__ == "__main__":
    main()
