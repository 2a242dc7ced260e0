"""Our own service behind the simulator's line, in the same process: its endpoint over fakes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from domain.records.request import ENDED
from domain.web_connector.protocol import qwc
from domain.web_connector.protocol.soap import MAX_BODY_BYTES
from simulator import Company, Script
from tests.support.web_connector.connector import PASSWORD, Connector
from tests.support.web_connector.interruptions import RandomIds

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from simulator.runs.script_run import ScriptRun


EXECUTION_SECONDS = 5
"""How long QuickBooks may execute a request: shorter than the time between two sessions."""


class Service:
    """A connection with a queue; `post` and `get` are the simulator's transport. A call takes a second.

    `batch_size` is the setting of the connection.
    """

    def __init__(self, batch_size: int = 1) -> None:
        self.qbwc = Connector(new_id=RandomIds(), execution_seconds=EXECUTION_SECONDS)
        self.connection = self.qbwc.connect(name="Acme", batch_size=batch_size)
        self.company = Company.generated(customers=6, sales_orders=0, now=self._unix_seconds)

    def _unix_seconds(self) -> float:
        return self.qbwc.clock.now.timestamp()

    def get(self, _url: str) -> int:
        """Answer the check of the certificate."""
        return 200

    def post(self, _url: str, _headers: Mapping[str, str], body: bytes) -> tuple[int, bytes]:
        """Answer a call."""
        self.qbwc.clock.advance(seconds=1)
        response = self.qbwc.endpoint.reply(body)
        return response.status, response.body.encode()

    def play(self, script: Script, fill: Callable[[Connector], object]) -> ScriptRun:
        """Fill the queue and run all sessions of a script, one minute apart."""
        fill(self.qbwc)
        run = script.start(
            qwc.render(self.connection, base_url="https://queue.example.com"),
            PASSWORD,
            self.company,
            transport=self,
            sleep=lambda seconds: self.qbwc.clock.advance(seconds=seconds),
        )
        for _ in range(script.sessions or 1):
            run.run_once()
            self.qbwc.clock.advance(seconds=60)
        return run

    @property
    def open_requests(self) -> list[str]:
        """The requests that have not ended."""
        return [f"{record.request_name} {record.state}" for record in self.qbwc.records if record.state not in ENDED]


class Gateway(Service):
    """The service behind API Gateway, which refuses bodies over Lambda's limit before any function runs."""

    def post(self, url: str, headers: Mapping[str, str], body: bytes) -> tuple[int, bytes]:
        """Answer a call, or refuse it."""
        if len(body) > MAX_BODY_BYTES:
            return 413, b'{"error": {"code": "request_too_large"}}'
        return super().post(url, headers, body)
