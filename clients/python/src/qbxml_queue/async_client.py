"""The asyncio client: the methods of `Client`, to be awaited."""

from __future__ import annotations

import asyncio
import os
import random
import time
import uuid
from typing import TYPE_CHECKING, Any, Self, TypeVar, Unpack, cast

import httpx

from qbxml_queue.client import http_options, request_options
from qbxml_queue.protocol import WAIT_SECONDS, Call, Pages, Pause, Protocol

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from qbxml_queue.options import QueueOptions
    from qbxml_queue.protocol import Steps
    from qbxml_queue.schema.calls import ExecuteAsync, IterateAsync
    from qbxml_queue.schema.records import QueuedRequest

T = TypeVar("T")


class AsyncClient:
    """One connection of the service. Use it in an `async with` statement, or close it."""

    def __init__(
        self,
        base_url: str,
        api_key: str,
        connection_id: str,
        *,
        transport: httpx.AsyncBaseTransport | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        clock: Callable[[], float] = time.monotonic,
        new_key: Callable[[], str] = lambda: str(uuid.uuid4()),
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._http = httpx.AsyncClient(**http_options(base_url, api_key), transport=transport)
        self._protocol = Protocol(connection_id, clock, new_key, chance)
        self._sleep = sleep

    @classmethod
    def from_environment(cls) -> Self:
        """Return a client for BASE_URL, API_KEY and CONNECTION_ID."""
        return cls(os.environ["BASE_URL"], os.environ["API_KEY"], os.environ["CONNECTION_ID"])

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections to the service."""
        await self._http.aclose()

    if TYPE_CHECKING:
        execute: ExecuteAsync
    else:

        async def execute(self, request: Any, /, **options: Any) -> Any:
            """Queue a request, wait until QuickBooks has executed it, and return its result."""
            return await self._run(self._protocol.execute(request, options))

    if TYPE_CHECKING:
        iterate: IterateAsync
    else:

        async def iterate(self, request: Any, /, **options: Any) -> Any:
            """Yield the result of each page of a query that can iterate."""
            pages = Pages(self._protocol, request, options)
            while (page := await self._run(pages.next())) is not None:
                yield page

    async def queue(self, request: Mapping[str, Any], /, **options: Unpack[QueueOptions]) -> QueuedRequest:
        """Queue a request and return its record without waiting."""
        return await self._run(self._protocol.queue(request, options))

    async def record(self, request_id: str) -> QueuedRequest:
        """Return the record of a request."""
        return await self._run(self._protocol.record(request_id))

    async def wait(self, request_id: str, timeout: float = WAIT_SECONDS) -> QueuedRequest:  # noqa: ASYNC109 - of QuickBooks
        """Return the record of a request that has ended. Raises StillWaiting."""
        return await self._run(self._protocol.wait(request_id, timeout))

    async def call(
        self,
        method: str,
        path: str,
        *,
        parameters: Mapping[str, str] | None = None,
        body: Any = None,
        idempotency_key: str | None = None,
    ) -> Any:
        """Make any call of the API, with the client's retries, and return the JSON of the response, or None."""
        headers = {"Idempotency-Key": idempotency_key} if idempotency_key else {}
        return await self._run(self._protocol.send(Call(method, path, parameters or {}, body, headers)))

    async def _run(self, steps: Steps[T]) -> T:
        try:
            step = next(steps)
            while True:
                if isinstance(step, Pause):
                    await self._sleep(step.seconds)
                    step = steps.send(None)
                    continue
                try:
                    response = await self._http.request(**request_options(step))
                except httpx.TransportError as error:
                    step = steps.throw(error)
                else:
                    step = steps.send(response)
        except StopIteration as end:
            return cast("T", end.value)
