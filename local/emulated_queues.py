"""What moto's SQS lacks of the service: it loses messages of concurrent senders, and it has no fair queues.

* `Queue.delete_message` replaces the list of messages with a copy. A message that is sent meanwhile is lost.
* Each sent message counts the messages of its queue three times. With some hundred messages, that takes as much
  processor time as everything else in the stack.
* SQS delivers messages of a group that has few messages in flight first (fair queues: `MessageGroupId` in a standard
  queue). moto delivers all messages in the order of their arrival.
"""

from __future__ import annotations

import time
from collections import Counter
from contextlib import contextmanager
from threading import RLock
from typing import TYPE_CHECKING, Any

from moto.sqs.models import Queue

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

COUNT_SECONDS = 1
"""How old the approximate number of messages may be. In SQS it is up to a minute."""

COUNTS = (
    "approximate_number_of_messages",
    "approximate_number_of_messages_delayed",
    "approximate_number_of_messages_not_visible",
)


@contextmanager
def emulated_queues() -> Iterator[None]:
    """Mend moto's queues while the block runs."""
    lock = RLock()
    names = ("add_message", "delete_message", "messages", *COUNTS)
    plain = {name: getattr(Queue, name) for name in names}

    def locked(method: Callable[..., None]) -> Callable[..., None]:
        def call(queue: Any, *arguments: Any) -> None:
            with lock:
                method(queue, *arguments)

        return call

    def fair_messages(queue: Any) -> list[Any]:
        """Return the visible messages, first those of the groups with the fewest messages in flight."""
        with lock:
            messages: list[Any] = plain["messages"].fget(queue)
            in_flight = Counter(message.group_id for message in queue.pending_messages)
        return sorted(messages, key=lambda message: in_flight[message.group_id])

    def counted(name: str) -> property:
        counts: dict[str, tuple[float, int]] = {}

        def count(queue: Any) -> int:
            counted_at, number = counts.get(queue.name, (0, 0))
            if time.monotonic() - counted_at > COUNT_SECONDS or not counted_at:
                with lock:
                    number = plain[name].fget(queue)
                counts[queue.name] = (time.monotonic(), number)
            return number

        return property(count)

    Queue.add_message = locked(plain["add_message"])  # type: ignore[method-assign]
    Queue.delete_message = locked(plain["delete_message"])  # type: ignore[method-assign]
    Queue.messages = property(fair_messages)  # type: ignore[assignment, method-assign]
    for name in COUNTS:
        setattr(Queue, name, counted(name))
    try:
        yield
    finally:
        for name in names:
            setattr(Queue, name, plain[name])
