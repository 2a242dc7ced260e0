"""The asyncio client: the methods of `Client`, to be awaited."""

from __future__ import annotations

import random
import time
import uuid
from typing import TYPE_CHECKING, Any, Self, TypeVar, Unpack, cast

from qbxml_queue.api import Routes
from qbxml_queue.batches import BatchBase
from qbxml_queue.client import environment_variables, http_options, request_options
from qbxml_queue.options import ContinueOptions, ExecuteOptions, Priority, QueueOptions, Required, check_options
from qbxml_queue.protocol import WAIT_SECONDS, Call, IteratedPages, Pause, Protocol

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping

    import httpx

    from qbxml_queue.cursors import Cursor
    from qbxml_queue.protocol import Steps
    from qbxml_queue.resources import Listing
    from qbxml_queue.schema.api import ApiAsync
    from qbxml_queue.schema.calls import Add, ExecuteAsync, IterateAsync
    from qbxml_queue.schema.changes import BooksChange
    from qbxml_queue.schema.records import Decisions, FeedEvent, QueuedRequest
    from qbxml_queue.schema.resources import ResourcesAsync, ResourcesInBatch
else:
    from qbxml_queue.resources import ResourcesOfBatch as ResourcesInBatch
    from qbxml_queue.resources import ResourcesOfClient as ResourcesAsync

T = TypeVar("T")


class AsyncClient(ResourcesAsync):
    """One connection of the service. Use it in an `async with` statement, or close it."""

    def __init__(
        self,
        base_url: str,
        api_key: str,
        connection_id: str,
        *,
        transport: httpx.AsyncBaseTransport | None = None,
        sleep: Callable[[float], Awaitable[None]] | None = None,
        clock: Callable[[], float] = time.monotonic,
        new_key: Callable[[], str] = lambda: str(uuid.uuid4()),
        chance: Callable[[], float] = random.random,
    ) -> None:
        import asyncio  # noqa: PLC0415 - see `Client`

        import httpx  # noqa: PLC0415

        self._http = httpx.AsyncClient(**http_options(base_url, api_key), transport=transport)
        self.protocol = Protocol(connection_id, clock, new_key, chance)
        self._sleep = sleep or asyncio.sleep
        self.api = cast("ApiAsync", Routes(self.protocol, self.run))

    @classmethod
    def from_environment(cls) -> Self:
        """Return a client for BASE_URL, API_KEY and CONNECTION_ID. Raises QbxmlQueueError if one is not set."""
        return cls(*environment_variables())

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
            check_options("execute", ExecuteOptions, options)
            return await self.run(self.protocol.execute(request, options))

    if TYPE_CHECKING:
        iterate: IterateAsync
    else:

        def iterate(self, request: Any, /, **options: Any) -> Any:
            """Yield the result of each page of a query that can iterate."""
            return self._each(IteratedPages(self.protocol, request, options))

    async def _each(self, pages: IteratedPages) -> AsyncIterator[dict[str, Any]]:
        while (page := await self.run(pages.next())) is not None:
            yield page

    async def objects(self, listing: Listing) -> AsyncIterator[dict[str, Any]]:
        """Yield the objects of a listing. `list` of a resource calls it."""
        while (page := await self.run(listing.next())) is not None:
            for one in page:
                yield one

    def batch(
        self,
        idempotency_key: str | None = None,
        *,
        priority: Priority | None = None,
        approval: Required | None = None,
    ) -> AsyncBatch:
        """Return an empty batch. The key names its cause, such as `order-1042`; the default is random.

        `priority` is that of all its requests, `normal` by default. With `approval`, all its writes wait for approval.
        """
        return AsyncBatch(self, idempotency_key or self.protocol.new_key(), priority, approval)

    async def events(self, cursor: Cursor, *, every_connection: bool = False) -> AsyncIterator[FeedEvent]:
        """Yield the events behind a cursor, oldest first, and store the cursor of each when the next one is wanted.

        An event is a request or an iterated query that has ended. It is yielded again if the program ends before it
        wants the next one. `every_connection` includes the other connections of the app. Ends behind the last event.
        """
        after, has_more = cursor.load(), True
        while has_more:
            feed = await self.run(self.protocol.events(after, every_connection=every_connection))
            for event in feed["data"]:
                yield event
                cursor.store(event["cursor"])
            after, has_more = feed["next"], feed["has_more"]
            cursor.store(after)

    async def changes(self, cursor: Cursor, *, subscription_id: str | None = None) -> AsyncIterator[BooksChange]:
        """Yield the changes of the books behind a cursor, and store the cursor behind each group of up to 100.

        Only a group whose cursor was stored is not yielded again, so a `store` that commits a transaction commits the
        rows of the group with it. `subscription_id` leaves out the objects that only other subscriptions name. Ends
        behind the last change. If the cursor is older than the feed, it yields `ResyncRequired` and goes on with the
        oldest event.
        """
        after, has_more = cursor.load(), True
        while has_more:
            page = await self.run(self.protocol.changes(after, subscription_id))
            for change in page.changes:
                yield change
            if page.place != after:
                cursor.store(page.place)
            after, has_more = page.place, page.has_more

    async def queue(self, request: Mapping[str, Any], /, **options: Unpack[QueueOptions]) -> QueuedRequest:
        """Queue a request and return its record without waiting."""
        check_options("queue", QueueOptions, options)
        return await self.run(self.protocol.queue(request, options))

    async def continue_batch(
        self, batch_id: str, request: Mapping[str, Any] | None = None, /, **options: Unpack[ContinueOptions]
    ) -> list[QueuedRequest]:
        """Queue the failed request of a batch again, and what was not sent because of it. Return their records.

        `request` is its correction. References of the others get the values of its result. Each request is queued again
        once: a repeated call returns the same records.
        """
        check_options("continue_batch", ContinueOptions, options)
        return await self.run(self.protocol.continue_batch(batch_id, request, options))

    async def settle(self, request_id: str) -> QueuedRequest:
        """Ask QuickBooks whether it executed a write whose `executed` is `unknown`. Return the record of the write.

        The answer is in `executed` of the record when its `settling.answered` is true.
        """
        return await self.run(self.protocol.settle(request_id))

    async def approve(self, request_id: str, revision: int, *, accept_values: bool = False) -> QueuedRequest:
        """Approve a write that waits for approval, and return its record. It enters the queue.

        `revision` is `approval["revision"]` of the record that was looked at. `accept_values` also approves a write
        that waits for the responses to other requests, and may get values of them. The key that queued it cannot.
        """
        return await self.run(self.protocol.approve(request_id, revision, accept_values=accept_values))

    async def reject(self, request_id: str, reason: str, *, dependants: bool = False) -> QueuedRequest:
        """Reject a write that waits for approval, and return its record. It is never sent.

        `dependants` also ends the requests that wait for it, in errors.
        """
        return await self.run(self.protocol.reject(request_id, reason, dependants=dependants))

    async def approve_all(self, revisions: Mapping[str, int], *, accept_values: bool = False) -> Decisions:
        """Approve up to 100 writes, by their ids. What is refused is left, with the error."""
        return await self.run(self.protocol.approve_all(revisions, None, accept_values=accept_values))

    async def reject_all(self, ids: Iterable[str], reason: str, *, dependants: bool = False) -> Decisions:
        """Reject up to 100 writes. What is refused is left, with the error."""
        return await self.run(self.protocol.reject_all(ids, None, reason, dependants=dependants))

    async def approve_batch(
        self, batch_id: str, revisions: Mapping[str, int], *, accept_values: bool = False
    ) -> Decisions:
        """Approve all writes of a batch that wait for approval, by their ids.

        Raises ApiError, and approves none, if one is refused.
        """
        return await self.run(self.protocol.approve_all(revisions, batch_id, accept_values=accept_values))

    async def reject_batch(self, batch_id: str, reason: str, *, dependants: bool = False) -> Decisions:
        """Reject all writes of a batch that wait for approval. Raises ApiError, and rejects none, if one is refused."""
        return await self.run(self.protocol.reject_all(None, batch_id, reason, dependants=dependants))

    async def record(self, request_id: str) -> QueuedRequest:
        """Return the record of a request."""
        return await self.run(self.protocol.record(request_id))

    async def wait(self, request_id: str, timeout: float = WAIT_SECONDS) -> QueuedRequest:  # noqa: ASYNC109 - of QuickBooks
        """Return the record of a request that has ended. Raises StillWaiting."""
        return await self.run(self.protocol.wait(request_id, timeout))

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
        return await self.run(self.protocol.send(Call(method, path, parameters or {}, body, headers)))

    async def run(self, steps: Steps[T]) -> T:
        """Make the calls and pauses of an operation, and return its result."""
        import httpx  # noqa: PLC0415 - see the constructor

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
        finally:
            # After a cancellation or an interrupt, the operation ends now: the same call must find what it has queued.
            steps.close()


class AsyncBatch(BatchBase, ResourcesInBatch):
    """Up to 25 requests that are queued in one call. See `Batch`."""

    def __init__(
        self,
        client: AsyncClient,
        idempotency_key: str,
        priority: Priority | None = None,
        approval: Required | None = None,
    ) -> None:
        super().__init__(idempotency_key, priority, approval)
        self._client = client

    if TYPE_CHECKING:
        add: Add
    else:

        def add(self, request: Any, /, **options: Any) -> Any:
            """Add a request to the end and return its entry."""
            return self.append(request, **options)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: object, *_: object) -> None:
        if kind is None and self.entries and not self.is_queued:
            await self.execute()

    async def queue(self) -> None:
        """Queue the requests without waiting. Each entry then has its record."""
        await self._client.run(self._client.protocol.queue_batch(self))

    async def execute(self, timeout: float = WAIT_SECONDS) -> None:  # noqa: ASYNC109 - of QuickBooks
        """Queue the requests and wait until all have ended. Raises the first failure; each entry has its result."""
        await self._client.run(self._client.protocol.execute_batch(self, timeout))
