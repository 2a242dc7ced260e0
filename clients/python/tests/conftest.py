"""A synchronous and an asyncio client of a service in memory. Every test of their behaviour runs with both."""

from __future__ import annotations

import asyncio
import inspect
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from books import Books, Clock
from qbxml_queue import AsyncBatch, AsyncClient, Client
from qbxml_queue.api import Routes
from qbxml_queue.reports import Reports
from qbxml_queue.resources import Resource, StepsOfResource
from service import API_KEY, BASE_URL, CONNECTION, Service

from simulator import Company

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator


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
    """An AsyncClient with the methods of a Client, its resources and its batches."""

    def __init__(self, client: AsyncClient | AsyncBatch | Resource | Routes | Reports, runner: asyncio.Runner) -> None:
        self._client = client
        self._runner = runner

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *error: object) -> None:
        self._runner.run(self._client.__aexit__(*error))

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._client, name)
        if isinstance(method, StepsOfResource):
            return method
        if isinstance(method, Resource | Routes | Reports):
            return Blocking(method, self._runner)

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


@pytest.fixture
def books() -> Books:
    """Return the books of a company with few customers."""
    return Books(Company.generated(customers=5, now=Clock()))


@pytest.fixture(params=["Client", "AsyncClient"])
def client(request: pytest.FixtureRequest, service: Service, time: Time) -> Iterator[Any]:
    """Yield a client whose first key is key-1."""
    yield from clients(request.param, httpx.MockTransport(service), time)


@pytest.fixture(params=["Client", "AsyncClient"])
def shop(request: pytest.FixtureRequest, books: Books, time: Time) -> Iterator[Any]:
    """Yield a client of the books."""
    yield from clients(request.param, httpx.MockTransport(books), time)


def clients(kind: str, transport: httpx.MockTransport, time: Time) -> Iterator[Any]:
    """Yield a client of a kind, whose methods can be called without await."""
    numbers = iter(range(1, 100_000))
    chance: dict[str, Any] = {"new_key": lambda: f"key-{next(numbers)}", "chance": lambda: 0.5, "clock": time.clock}
    if kind == "Client":
        with Client(BASE_URL, API_KEY, CONNECTION, transport=transport, sleep=time.sleep, **chance) as client:
            yield client
    else:
        with asyncio.Runner() as runner:
            asynchronous = AsyncClient(
                BASE_URL, API_KEY, CONNECTION, transport=transport, sleep=time.sleep_async, **chance
            )
            yield Blocking(asynchronous, runner)
            runner.run(asynchronous.close())
