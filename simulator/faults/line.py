"""A bad line and impatient users: a transport that loses, repeats, delays and cuts off calls.

A fault is written `METHOD:CALL:ACTION[:VALUE][:KEY=VALUE…]`, for example `receiveResponseXML:2:lose-response`. CALL
counts the calls of that method over the life of the transport from 1, or is `*` for every call.
`simulator.faults.forms` lists all actions. `simulator.faults.company` handles those at `process` and `session`.
"""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING

from simulator.basics.errors import ConnectorClosed, TransportError
from simulator.faults.forms import ACTIONS, METHODS, Event, Fault
from simulator.faults.plan import FaultPlan
from simulator.web_connector.machines import Machine
from simulator.web_connector.soap import NAMESPACE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from simulator.web_connector.transport import Transport

__all__ = ["ACTIONS", "METHODS", "Fault", "FaultPlan", "FaultyTransport"]

_TICKET = re.compile(rb"<(ticket|wcTicket)>([^<]*)</\1>")


class FaultyTransport:
    """Wraps a transport: the line between one machine's Web Connector and the service.

    `faults` is a plan that several transports share, or a list of faults for a plan of this transport alone.
    """

    def __init__(
        self,
        inner: Transport,
        faults: FaultPlan | Iterable[Fault],
        *,
        sleep: Callable[[float], object] = time.sleep,
        machine: Machine | None = None,
    ) -> None:
        self.plan = faults if isinstance(faults, FaultPlan) else FaultPlan(faults, sleep=sleep)
        self._inner = inner
        self._machine = machine or Machine()
        self._tickets: list[bytes] = []
        self._stopping = False

    @property
    def happened(self) -> list[Fault]:
        """The faults of the plan that happened, in order."""
        return self.plan.happened

    def get(self, url: str) -> int:
        """Pass a GET on unchanged, because faults happen only to SOAP calls.

        A session begins with this check of the certificate.
        """
        self._stopping = False
        return self._inner.get(url)

    def post(self, url: str, headers: Mapping[str, str], body: bytes) -> tuple[int, bytes]:
        """Pass a call on, or apply the first fault that is due for it."""
        method = headers.get("SOAPAction", "").strip('"').removeprefix(NAMESPACE)
        if self._stopping and method != "receiveResponseXML":
            raise ConnectorClosed
        self._machine.begin_call()
        if not self.plan.faults:
            self._machine.note(method)
            return self._inner.post(url, headers, body)
        self._learn_ticket(body)
        number = self._machine.number
        fault = self.plan.due(method, machine=number)
        self._machine.note(method if fault is None else f"{method}: {fault.action}")
        try:
            if fault is None:
                return self._inner.post(url, headers, body)
            return self._broken(fault, url, headers, body)
        finally:
            self.plan.passed(method, machine=number)

    def _broken(self, fault: Fault, url: str, headers: Mapping[str, str], body: bytes) -> tuple[int, bytes]:
        if fault.action == "stale-ticket":
            return self._inner.post(url, headers, self._with_stale_ticket(fault, body))
        self.plan.came_true(fault)
        if fault.action == "close":
            raise ConnectorClosed
        if fault.action == "lose-request":
            raise TransportError("the request was lost (injected)")
        if fault.action == "sleep":
            self._machine.nap(lambda: self.plan.is_over(fault))
        if fault.action in {"delay", "sleep"}:
            self.plan.sleep(fault.seconds)
        response = self._inner.post(url, headers, body)
        if fault.action == "duplicate":
            return self._inner.post(url, headers, body)
        if fault.action == "late-duplicate":
            self.plan.later(fault, Event("authenticate"), lambda: self._inner.post(url, headers, body))
        self._stopping = fault.action == "stop"
        if fault.action == "hang":
            self.plan.sleep(fault.seconds)
            raise TransportError("The operation has timed out (injected)")
        if fault.action == "lose-response":
            raise TransportError("the response was lost (injected)")
        return response

    def _with_stale_ticket(self, fault: Fault, body: bytes) -> bytes:
        """Replace the ticket in a call by that of the previous session. The first session keeps its own."""
        if len(self._tickets) < 2:  # noqa: PLR2004 - this session's and the one before
            return body
        self.plan.came_true(fault)
        return _TICKET.sub(lambda match: match[0].replace(self._tickets[-1], self._tickets[-2]), body)

    def _learn_ticket(self, body: bytes) -> None:
        """Remember the tickets of this session and of the previous one."""
        shown = _TICKET.search(body)
        if shown and shown[2] not in self._tickets[-1:]:
            self._tickets = [*self._tickets[-1:], shown[2]]
