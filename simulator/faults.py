"""A bad line and impatient users: a transport that loses, repeats, delays and cuts off chosen calls.

A fault is written `METHOD:CALL:ACTION[:SECONDS]`, for example `receiveResponseXML:2:lose-response`. CALL counts the
calls of that method over the life of the transport from 1, or is `*` for every call.

| action | what the service sees | what the Web Connector sees |
|---|---|---|
| lose-request | nothing | the call fails |
| lose-response | the call | the call fails |
| duplicate | the call twice | the second answer |
| delay | the call, SECONDS later | the answer, late |
| hang | the call | the call fails after SECONDS (100) |
| close | nothing, and no further call of the session | it was stopped |
"""

# ruff: noqa: SIM905 - a list of words is read as a line of text, not as a page of literals
from __future__ import annotations

import re
import time
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from simulator.errors import ConnectorClosed, TransportError
from simulator.soap import NAMESPACE
from simulator.transport import CALL_TIMEOUT_SECONDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from simulator.transport import Transport

ACTIONS = ("lose-request", "lose-response", "duplicate", "delay", "hang", "close")
METHODS = (
    "serverVersion clientVersion authenticate sendRequestXML receiveResponseXML connectionError getLastError "
    "closeConnection getInteractiveURL interactiveRejected interactiveDone"
).split()
_DEFAULT_SECONDS = {"delay": 5.0, "hang": float(CALL_TIMEOUT_SECONDS)}


@dataclass(frozen=True, slots=True)
class Fault:
    """What happens to which call. `call` counts from 1; None means every call of `method`."""

    method: str
    call: int | None
    action: str
    seconds: float = 0.0

    @classmethod
    def parse(cls, text: str) -> Fault:
        """Read `METHOD:CALL:ACTION[:SECONDS]`. Raises `ValueError` with what is wrong."""
        parts = text.split(":")
        if len(parts) not in {3, 4}:
            raise ValueError(f"a fault is METHOD:CALL:ACTION[:SECONDS], not {text!r}")
        method, call, action = parts[:3]
        if method not in METHODS:
            raise ValueError(f"no such method: {method!r}; one of {', '.join(METHODS)}")
        if call != "*" and not re.fullmatch(r"[1-9]\d*", call):
            raise ValueError(f"CALL counts from 1, or is *: not {call!r}")
        if action not in ACTIONS:
            raise ValueError(f"no such action: {action!r}; one of {', '.join(ACTIONS)}")
        seconds = _DEFAULT_SECONDS.get(action, 0.0)
        if len(parts) == 4:  # noqa: PLR2004 - with SECONDS
            if action not in _DEFAULT_SECONDS or not re.fullmatch(r"\d+(\.\d+)?", parts[3]):
                raise ValueError(f"SECONDS is a number and goes with delay and hang only: {text!r}")
            seconds = float(parts[3])
        return cls(method, None if call == "*" else int(call), action, seconds)


class FaultyTransport:
    """Wraps a transport; `happened` lists the faults that came true, in order."""

    def __init__(
        self, inner: Transport, faults: Iterable[Fault], *, sleep: Callable[[float], object] = time.sleep
    ) -> None:
        self._inner = inner
        self._faults = tuple(faults)
        self._sleep = sleep
        self._calls: Counter[str] = Counter()
        self.happened: list[Fault] = []

    def get(self, url: str) -> int:
        """Pass on: faults are about SOAP calls."""
        return self._inner.get(url)

    def post(self, url: str, headers: Mapping[str, str], body: bytes) -> tuple[int, bytes]:
        """Pass a call on, or do to it what the first fault that names it says."""
        method = headers.get("SOAPAction", "").strip('"').removeprefix(NAMESPACE)
        self._calls[method] += 1
        fault = self._fault_for(method, self._calls[method])
        if fault is None:
            return self._inner.post(url, headers, body)
        self.happened.append(fault)
        if fault.action == "close":
            raise ConnectorClosed
        if fault.action == "lose-request":
            raise TransportError("the request was lost (injected)")
        if fault.action == "delay":
            self._sleep(fault.seconds)
            return self._inner.post(url, headers, body)
        self._inner.post(url, headers, body)
        if fault.action == "duplicate":
            return self._inner.post(url, headers, body)
        if fault.action == "hang":
            self._sleep(fault.seconds)
            raise TransportError("The operation has timed out (injected)")
        raise TransportError("the response was lost (injected)")

    def _fault_for(self, method: str, call: int) -> Fault | None:
        return next((fault for fault in self._faults if fault.method == method and fault.call in {None, call}), None)
