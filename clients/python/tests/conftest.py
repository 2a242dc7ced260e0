"""A synchronous and an asyncio client of a service in memory. Every test of their behaviour runs with both."""

from __future__ import annotations

import asyncio
import inspect
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from qbxml_queue import AsyncBatch, AsyncClient, Client
from service import API_KEY, BASE_URL, CONNECTION, Service

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator


@dataclass
class Time:
    """A clock that only pauses move."""

    now: float = 0.0
    pauses: list[float] = field(default_factory=list)

    def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.now += seconds

    async def sleep_async(self, seconds: float) -> None:
        self.sleep(seconds)

    def clock(self) -> float:
        return self.now


class Blocking:
    """An AsyncClient with the methods of a Client, and its batches."""

    def __init__(self, client: AsyncClient | AsyncBatch, runner: asyncio.Runner) -> None:
        self._client = client
        self._runner = runner

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method = getattr(self._client, name)

        def call(*arguments: Any, **options: Any) -> Any:
            result = method(*arguments, **options)
            if isinstance(result, AsyncBatch):
                return Blocking(result, self._runner)
            if inspect.isasyncgen(result):
                return self._items(result)
            return self._runner.run(result) if inspect.iscoroutine(result) else result

        return call

    def _items(self, items: AsyncIterator[Any]) -> Iterator[Any]:
        while True:
            try:
                yield self._runner.run(_next(items))
            except StopAsyncIteration:
                return


async def _next(items: AsyncIterator[Any]) -> Any:
    return await anext(items)


@pytest.fixture
def service() -> Service:
    return Service()


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture(params=["Client", "AsyncClient"])
def client(request: pytest.FixtureRequest, service: Service, time: Time) -> Iterator[Any]:
    """Yield a client whose first key is key-1."""
    numbers = iter(range(1, 1000))
    chance: dict[str, Any] = {"new_key": lambda: f"key-{next(numbers)}", "chance": lambda: 0.5, "clock": time.clock}
    transport = httpx.MockTransport(service)
    if request.param == "Client":
        with Client(BASE_URL, API_KEY, CONNECTION, transport=transport, sleep=time.sleep, **chance) as client:
            yield client
    else:
        with asyncio.Runner() as runner:
            asynchronous = AsyncClient(
                BASE_URL, API_KEY, CONNECTION, transport=transport, sleep=time.sleep_async, **chance
            )
            yield Blocking(asynchronous, runner)
            runner.run(asynchronous.close())
