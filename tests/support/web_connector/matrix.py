"""The interruption matrix: the queues, and the interruptions of each."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from domain.records.connection import MAX_BATCH_SIZE
from domain.storage.changes import Put
from domain.timestamps import timestamp
from tests.support.builders import a_link
from tests.support.queueing import new_request
from tests.support.web_connector.drain import Drain
from tests.support.web_connector.interruptions import TERMINATIONS, Interruption

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from domain.queueing.new_request import NewRequest
    from tests.support.web_connector.connector import Connector

    Fill: TypeAlias = Callable[[Connector], None]

LAGS = ("indexes", "queue")


def a_read(qbwc: Connector) -> None:
    qbwc.queue()


def an_iterated_read(qbwc: Connector) -> None:
    qbwc.queue("CustomerQueryRq", "<MaxReturned>2</MaxReturned>", ' iterator="Start"')


def an_iterated_read_and_a_write(qbwc: Connector) -> None:
    an_iterated_read(qbwc)
    qbwc.write()


def a_write(qbwc: Connector) -> None:
    qbwc.write()


def a_refused_write(qbwc: Connector) -> None:
    qbwc.write("a:colon")


def two_writes(qbwc: Connector) -> None:
    qbwc.write("Ann")
    qbwc.write("Bob")


def two_writes_with_one_label(qbwc: Connector) -> None:
    qbwc.write("Ann", request_label="1")
    qbwc.write("Bob", request_label="1")


def a_write_and_a_read(qbwc: Connector) -> None:
    qbwc.write()
    qbwc.queue()


def reads_in_a_set(qbwc: Connector) -> None:
    """Three reads, of which the last answers of the connection let all be sent together, and a write behind them."""
    before = qbwc.connection
    after = replace(before, read_set_size=MAX_BATCH_SIZE).changed(timestamp(qbwc.clock.now))
    qbwc.store.commit(Put(before, after))
    for _ in range(3):
        qbwc.queue("CustomerQueryRq", "<MaxReturned>1</MaxReturned>")
    qbwc.write()


def writes(number: int) -> Fill:
    """Return a queue of writes. A set size doubles, so 3 end with a set of 2, 12 with one of 5, 51 with one of 20."""

    def fill(qbwc: Connector) -> None:
        for customer in range(number):
            qbwc.write(f"Customer {customer}", request_label="1")

    return fill


def reads_and_writes(number: int) -> Fill:
    """Return a queue of reads, then of writes, so that the first set of writes is large."""

    def fill(qbwc: Connector) -> None:
        for _ in range(number):
            qbwc.queue("CustomerQueryRq", "<MaxReturned>1</MaxReturned>")
        writes(number)(qbwc)

    return fill


QUEUES_OF_SETS: dict[int, tuple[Fill, ...]] = {
    2: (writes(3), reads_and_writes(3)),
    5: (writes(7), reads_and_writes(5)),
    20: (reads_and_writes(24),),
}
"""Queues by the `batch_size` of the connection, with several sets in each."""


def sub_customer(name: str, parent: str, ref: str | None = None, *depends_on: str) -> NewRequest:
    """Return a write of a batch with the ListID of another one."""
    list_id = {"$from": parent, "path": "CustomerRet/ListID"}
    fields = {"Name": name, "ParentRef": {"ListID": list_id}}
    return new_request({"CustomerAddRq": {"CustomerAdd": fields}}, ref, *depends_on)


def customer(name: str, ref: str | None = None) -> NewRequest:
    """Return a write of a batch that others can refer to."""
    return new_request({"CustomerAddRq": {"CustomerAdd": {"Name": name}}}, ref, validate=False)


def a_chain(qbwc: Connector) -> None:
    """Three writes that depend on each other, and a write behind them that does not."""
    qbwc.batch(customer("Ann", "a"), sub_customer("Bob", "a", "b"), sub_customer("Eve", "b"))
    qbwc.write("Zoe")


def a_write_with_two_dependencies(qbwc: Connector) -> None:
    last = sub_customer("Eve", "a", None, "b")
    qbwc.batch(customer("Ann", "a"), customer("Bob", "b"), last, sub_customer("Joe", "a"))


def a_refused_dependency(qbwc: Connector) -> None:
    qbwc.batch(customer("Ann:colon", "a"), sub_customer("Bob", "a", "b"), sub_customer("Eve", "b"))


def an_onboarding(qbwc: Connector) -> None:
    """Nothing is queued, and a customer sets up the connection: the session makes the onboarding check."""
    before = qbwc.connection
    after = replace(before, onboarding=a_link(qbwc.clock.now)).changed(timestamp(qbwc.clock.now))
    qbwc.store.commit(Put(before, after))


def a_write_during_onboarding(qbwc: Connector) -> None:
    an_onboarding(qbwc)
    a_write(qbwc)


QUEUES: tuple[Fill, ...] = (
    a_read,
    an_iterated_read,
    an_iterated_read_and_a_write,
    reads_in_a_set,
    a_write,
    a_refused_write,
    two_writes,
    two_writes_with_one_label,
    a_write_and_a_read,
    a_chain,
    a_write_with_two_dependencies,
    a_refused_dependency,
    an_onboarding,
    a_write_during_onboarding,
)
WRITES: tuple[Fill, ...] = (a_write, a_refused_write, two_writes)


def interruptions_of(fill: Fill, batch_size: int = 1) -> Iterator[Interruption]:
    """Yield every interruption of a drain."""
    return Drain(fill, batch_size=batch_size).to_the_end().points.after()


def pairs_in_one_call(
    fill: Fill, batch_size: int = 1, *, every: int = 1
) -> Iterator[tuple[Interruption, Interruption]]:
    """Yield each `every`th call that is duplicated or late with every termination of a function that answers it."""
    copies = {"duplicated", "repeated-later", "delayed-past-takeover"}
    firsts = [interruption for interruption in interruptions_of(fill, batch_size) if interruption.kind in copies]
    for first in firsts[::every]:
        drain = Drain(fill, first, batch_size=batch_size).to_the_end()
        yield from ((first, second) for second in drain.points.within(first.point) if second.kind in TERMINATIONS)
