"""Measure the memory that a batch of webhooks takes, for generated responses of several kinds and sizes.

Run `python -m benchmarks.webhook_memory [RECORDS]` (default 50, a full batch of `deliver_webhook`). Each case runs in
its own process. The receivers respond after half a second, so all events are held at the same time. The output is the
highest resident memory above that of the same process after one small event. The exit status is 1 if a case takes over
256 MB, or if an event is missing.
"""

from __future__ import annotations

import subprocess
import sys
import time
import zlib
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from typing import TYPE_CHECKING, Any, cast

from domain.records.request import QueuedRequest, State, StoredRequest
from domain.records.webhook import Webhook
from domain.storage.ports import Delivery
from domain.timestamps import timestamp
from domain.webhooks.defaults import MAX_PARALLEL_ATTEMPTS
from domain.webhooks.delivery import Deliverer
from domain.webhooks.patience import Patience
from domain.webhooks.ports import HttpResponse, PlannedAttempt
from handlers.views.webhook_event import event_body

if TYPE_CHECKING:
    from collections.abc import Mapping

LIMIT_MB = 256
SIZES = (10_000, 200_000, 400_000, 700_000, 1_000_000)
KINDS = {
    "text": "x",
    "text beyond ASCII": "\N{EURO SIGN}",
    "empty elements": "<a/>",
    "elements": "<a>1</a>",
    "attributes": '<a b="" c="" d="" e=""/>',
    "customers": "<CustomerRet><ListID>80000001-1</ListID><Name>Ann</Name></CustomerRet>",
}
SECRET = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="  # noqa: S105 - for this run only
REQUEST_XML = '<QBXML><QBXMLMsgsRq onError="stopOnError"><CustomerQueryRq requestID="1"/></QBXMLMsgsRq></QBXML>'
NOW = datetime(2026, 3, 14, 12, tzinfo=UTC)


def response(kind: str, size: int) -> str:
    """Return a response of about this many bytes."""
    piece = KINDS[kind]
    return (
        '<QBXML><QBXMLMsgsRs><CustomerQueryRs requestID="1" statusCode="0" statusSeverity="Info" statusMessage="OK">'
        f"{piece * (size // len(piece.encode()))}</CustomerQueryRs></QBXMLMsgsRs></QBXML>"
    )


class Store:
    """Returns one completed request with its response, which is stored compressed, and records nothing."""

    def __init__(self, response_xml: str) -> None:
        now = timestamp(NOW)
        self.packed = zlib.compress(response_xml.encode())
        self.record = QueuedRequest(
            id="00000000-0000-4000-8000-000000000001",
            connection_id="c0000000-0000-4000-8000-000000000001",
            app_id="a0000000-0000-4000-8000-000000000001",
            request_name="CustomerQueryRq",
            request_label="1",
            qbxml_version="13.0",
            inserted_at=now,
            updated_at=now,
            state=State.RESPONSE_RECEIVED,
            webhook=Webhook.to("https://hooks.example.com/"),
            response_size=len(response_xml.encode()),
        )

    def delivery(self, *_: Any, max_response_bytes: int, **__: Any) -> Delivery:
        """Return the request as the database does."""
        fits = self.record.response_size <= max_response_bytes
        text = zlib.decompress(self.packed).decode() if fits else None
        return Delivery(StoredRequest(self.record, REQUEST_XML, text), (SECRET,))

    def commit(self, *_: Any) -> None:
        """Store nothing."""


class SlowReceiver:
    """Holds each event for half a second."""

    def __init__(self) -> None:
        self.bodies = 0
        self.with_response = 0

    def post(self, _url: str, _headers: Mapping[str, str], body: bytes, _timeout_seconds: float) -> HttpResponse:
        """Respond late."""
        time.sleep(0.5)
        self.bodies += 1
        self.with_response += b'"response_omitted":true' not in body
        return HttpResponse(204, "")


def attempt_all(response_xml: str, records: int) -> SlowReceiver:
    """Make the attempts of a batch."""
    store, receiver = Store(response_xml), SlowReceiver()
    deliverer = Deliverer(
        cast("Any", store), event_body, receiver, cast("Any", None), lambda: NOW, lambda: 0.5, Patience(lambda: NOW)
    )
    planned = PlannedAttempt.of(store.record, 0, NOW)
    with ThreadPoolExecutor(MAX_PARALLEL_ATTEMPTS) as pool:
        list(pool.map(deliverer.attempt, [planned] * records))
    return receiver


def measure(kind: str, size: int, records: int) -> int:
    """Measure one case in this process and print it."""
    attempt_all(response("text", 10), 1)
    idle, processor = getrusage(RUSAGE_SELF).ru_maxrss, time.process_time()
    receiver = attempt_all(response(kind, size), records)
    taken = (getrusage(RUSAGE_SELF).ru_maxrss - idle) / 1024
    processor = time.process_time() - processor
    print(
        f"{kind:18} {size:9,} bytes: {taken:4.0f} MB, {processor:5.1f} s of the processor, "
        f"{receiver.with_response} of {receiver.bodies} events with their response",
        flush=True,
    )
    return 0 if taken <= LIMIT_MB and receiver.bodies == records else 1


def main(records: int = 50) -> int:
    """Measure every case in its own process."""
    program = [sys.executable, "-m", "benchmarks.webhook_memory", str(records)]
    root = Path(__file__).parent.parent
    return max(
        subprocess.run([*program, kind, str(size)], cwd=root, check=False).returncode  # noqa: S603 - this program
        for kind in KINDS
        for size in SIZES
    )


if __name__ == "__main__":
    match sys.argv[1:]:
        case [count, name, number]:
            sys.exit(measure(name, int(number), int(count)))
        case arguments:
            sys.exit(main(*(int(argument) for argument in arguments)))
