"""The synchronous client."""

from __future__ import annotations

import os
import random
import time
import uuid
from typing import TYPE_CHECKING, Any, Self, TypeVar, Unpack, cast

from qbxml_queue.api import Routes
from qbxml_queue.batches import BatchBase
from qbxml_queue.errors import QbxmlQueueError
from qbxml_queue.options import ContinueOptions, ExecuteOptions, Priority, QueueOptions, Required, check_options
from qbxml_queue.protocol import WAIT_SECONDS, Call, IteratedPages, Pause, Protocol
from qbxml_queue.schema.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    import httpx

    from qbxml_queue.cursors import Cursor
    from qbxml_queue.protocol import Steps
    from qbxml_queue.resources import Listing
    from qbxml_queue.schema.api import Api
    from qbxml_queue.schema.calls import Add, Execute, Iterate
    from qbxml_queue.schema.changes import BooksChange
    from qbxml_queue.schema.records import Decisions, FeedEvent, QueuedRequest
    from qbxml_queue.schema.resources import Resources, ResourcesInBatch
else:
    from qbxml_queue.resources import ResourcesOfBatch as ResourcesInBatch
    from qbxml_queue.resources import ResourcesOfClient as Resources

T = TypeVar("T")


class Client(Resources):
    """One connection of the service: the books of one company.

    `base_url` is the address of the service without `/api/v1`. Use the client in a `with` statement, or close it.
    """

    def __init__(
        self,
        base_url: str,
        api_key: str,
        connection_id: str,
        *,
        transport: httpx.BaseTransport | None = None,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
        new_key: Callable[[], str] = lambda: str(uuid.uuid4()),
        chance: Callable[[], float] = random.random,
    ) -> None:
        import httpx  # noqa: PLC0415 - it takes longer to import than everything else

        self._http = httpx.Client(**http_options(base_url, api_key), transport=transport)
        self.protocol = Protocol(connection_id, clock, new_key, chance)
        self._sleep = sleep
        self.api = cast("Api", Routes(self.protocol, self.run))

    @classmethod
    def from_environment(cls) -> Self:
        """Return a client for BASE_URL, API_KEY and CONNECTION_ID. Raises QbxmlQueueError if one is not set."""
        return cls(*environment_variables())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections to the service."""
        self._http.close()

    if TYPE_CHECKING:
        execute: Execute
    else:

        def execute(self, request: Any, /, **options: Any) -> Any:
            """Queue a request, wait until QuickBooks has executed it, and return its result.

            Raises ApiError, RequestFailed, StillWaiting.
            """
            check_options("execute", ExecuteOptions, options)
            return self.run(self.protocol.execute(request, options))

    if TYPE_CHECKING:
        iterate: Iterate
    else:

        def iterate(self, request: Any, /, **options: Any) -> Any:
            """Yield the result of each page of a query that can iterate. The timeout is that of one page.

            QuickBooks keeps its position for one session only. If the session ends, the next page raises RequestFailed
            with the code `iteration_interrupted`: start again.
            """
            return self._each(IteratedPages(self.protocol, request, options))

    def _each(self, pages: IteratedPages) -> Iterator[dict[str, Any]]:
        while (page := self.run(pages.next())) is not None:
            yield page

    def objects(self, listing: Listing) -> Iterator[dict[str, Any]]:
        """Yield the objects of a listing. `list` of a resource calls it."""
        while (page := self.run(listing.next())) is not None:
            yield from page

    def batch(
        self,
        idempotency_key: str | None = None,
        *,
        priority: Priority | None = None,
        approval: Required | None = None,
    ) -> Batch:
        """Return an empty batch. The key names its cause, such as `order-1042`; the default is random.

        `priority` is that of all its requests, `normal` by default. With `approval`, all its writes wait for approval.
        """
        return Batch(self, idempotency_key or self.protocol.new_key(), priority, approval)

    def events(self, cursor: Cursor, *, every_connection: bool = False) -> Iterator[FeedEvent]:
        """Yield the events behind a cursor, oldest first, and store the cursor of each when the next one is wanted.

        An event is a request or an iterated query that has ended. It is yielded again if the program ends before it
        wants the next one. `every_connection` includes the other connections of the app. Ends behind the last event.
        """
        after, has_more = cursor.load(), True
        while has_more:
            feed = self.run(self.protocol.events(after, every_connection=every_connection))
            for event in feed["data"]:
                yield event
                cursor.store(event["cursor"])
            after, has_more = feed["next"], feed["has_more"]
            cursor.store(after)

    def changes(self, cursor: Cursor, *, subscription_id: str | None = None) -> Iterator[BooksChange]:
        """Yield the changes of the books behind a cursor, and store the cursor behind each group of up to 100.

        Only a group whose cursor was stored is not yielded again, so a `store` that commits a transaction commits the
        rows of the group with it. `subscription_id` leaves out the objects that only other subscriptions name. Ends
        behind the last change. If the cursor is older than the feed, it yields `ResyncRequired` and goes on with the
        oldest event.
        """
        after, has_more = cursor.load(), True
        while has_more:
            page = self.run(self.protocol.changes(after, subscription_id))
            yield from page.changes
            if page.place != after:
                cursor.store(page.place)
            after, has_more = page.place, page.has_more

    def queue(self, request: Mapping[str, Any], /, **options: Unpack[QueueOptions]) -> QueuedRequest:
        """Queue a request and return its record without waiting."""
        check_options("queue", QueueOptions, options)
        return self.run(self.protocol.queue(request, options))

    def continue_batch(
        self, batch_id: str, request: Mapping[str, Any] | None = None, /, **options: Unpack[ContinueOptions]
    ) -> list[QueuedRequest]:
        """Queue the failed request of a batch again, and what was not sent because of it. Return their records.

        `request` is its correction. References of the others get the values of its result. Each request is queued again
        once: a repeated call returns the same records.
        """
        check_options("continue_batch", ContinueOptions, options)
        return self.run(self.protocol.continue_batch(batch_id, request, options))

    def settle(self, request_id: str) -> QueuedRequest:
        """Ask QuickBooks whether it executed a write whose `executed` is `unknown`. Return the record of the write.

        The answer is in `executed` of the record when its `settling.answered` is true.
        """
        return self.run(self.protocol.settle(request_id))

    def approve(self, request_id: str, revision: int, *, accept_values: bool = False) -> QueuedRequest:
        """Approve a write that waits for approval, and return its record. It enters the queue.

        `revision` is `approval["revision"]` of the record that was looked at. `accept_values` also approves a write
        that waits for the responses to other requests, and may get values of them. The key that queued it cannot.
        """
        return self.run(self.protocol.approve(request_id, revision, accept_values=accept_values))

    def reject(self, request_id: str, reason: str, *, dependants: bool = False) -> QueuedRequest:
        """Reject a write that waits for approval, and return its record. It is never sent.

        `dependants` also ends the requests that wait for it, in errors.
        """
        return self.run(self.protocol.reject(request_id, reason, dependants=dependants))

    def approve_all(self, revisions: Mapping[str, int], *, accept_values: bool = False) -> Decisions:
        """Approve up to 100 writes, by their ids. What is refused is left, with the error."""
        return self.run(self.protocol.approve_all(revisions, None, accept_values=accept_values))

    def reject_all(self, ids: Iterable[str], reason: str, *, dependants: bool = False) -> Decisions:
        """Reject up to 100 writes. What is refused is left, with the error."""
        return self.run(self.protocol.reject_all(ids, None, reason, dependants=dependants))

    def approve_batch(self, batch_id: str, revisions: Mapping[str, int], *, accept_values: bool = False) -> Decisions:
        """Approve all writes of a batch that wait for approval, by their ids.

        Raises ApiError, and approves none, if one is refused.
        """
        return self.run(self.protocol.approve_all(revisions, batch_id, accept_values=accept_values))

    def reject_batch(self, batch_id: str, reason: str, *, dependants: bool = False) -> Decisions:
        """Reject all writes of a batch that wait for approval. Raises ApiError, and rejects none, if one is refused."""
        return self.run(self.protocol.reject_all(None, batch_id, reason, dependants=dependants))

    def record(self, request_id: str) -> QueuedRequest:
        """Return the record of a request."""
        return self.run(self.protocol.record(request_id))

    def wait(self, request_id: str, timeout: float = WAIT_SECONDS) -> QueuedRequest:
        """Return the record of a request that has ended. Raises StillWaiting."""
        return self.run(self.protocol.wait(request_id, timeout))

    def call(
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
        return self.run(self.protocol.send(Call(method, path, parameters or {}, body, headers)))

    def run(self, steps: Steps[T]) -> T:
        """Make the calls and pauses of an operation, and return its result."""
        import httpx  # noqa: PLC0415 - see the constructor

        try:
            step = next(steps)
            while True:
                if isinstance(step, Pause):
                    self._sleep(step.seconds)
                    step = steps.send(None)
                    continue
                try:
                    response = self._http.request(**request_options(step))
                except httpx.TransportError as error:
                    step = steps.throw(error)
                else:
                    step = steps.send(response)
        except StopIteration as end:
            return cast("T", end.value)
        finally:
            # After a cancellation or an interrupt, the operation ends now: the same call must find what it has queued.
            steps.close()


class Batch(BatchBase, ResourcesInBatch):
    """Up to 25 requests that are queued in one call, all or none, in their order.

    A request can use values of the responses of those before it, or of earlier requests of the connection:
    `entry.ref("CustomerRet/ListID")`.
    """

    def __init__(
        self,
        client: Client,
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

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None and self.entries and not self.is_queued:
            self.execute()

    def queue(self) -> None:
        """Queue the requests without waiting. Each entry then has its record."""
        self._client.run(self._client.protocol.queue_batch(self))

    def execute(self, timeout: float = WAIT_SECONDS) -> None:
        """Queue the requests and wait until all have ended. Raises the first failure; each entry has its result."""
        self._client.run(self._client.protocol.execute_batch(self, timeout))


def environment_variables() -> tuple[str, str, str]:
    """Return BASE_URL, API_KEY and CONNECTION_ID. Raises QbxmlQueueError if one is missing or empty."""

    def variable(name: str) -> str:
        value = os.environ.get(name)
        if not value:
            message = f"{name} is not set. Set BASE_URL, API_KEY and CONNECTION_ID, or call the constructor."
            raise QbxmlQueueError(message)
        return value

    return variable("BASE_URL"), variable("API_KEY"), variable("CONNECTION_ID")


def http_options(base_url: str, api_key: str) -> dict[str, Any]:
    """Return what the HTTP clients have in common."""
    return {
        "base_url": base_url,
        "auth": (api_key, ""),
        "follow_redirects": False,
        "headers": {"Accept": "application/json", "User-Agent": f"qbxml-queue-python/{VERSION}"},
    }


def request_options(call: Call) -> dict[str, Any]:
    """Return the arguments of httpx for a call."""
    return {
        "method": call.method,
        "url": call.path,
        "params": call.parameters,
        "json": call.body,
        "headers": call.headers,
        "timeout": call.seconds,
    }
