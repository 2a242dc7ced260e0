"""The interruption matrix: the queues, and the interruptions of each."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from tests.support.web_connector.drain import Drain
from tests.support.web_connector.interruptions import TERMINATIONS, Interruption

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

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


QUEUES: tuple[Fill, ...] = (
    a_read,
    an_iterated_read,
    an_iterated_read_and_a_write,
    a_write,
    a_refused_write,
    two_writes,
    two_writes_with_one_label,
    a_write_and_a_read,
)
WRITES: tuple[Fill, ...] = (a_write, a_refused_write, two_writes)


def interruptions_of(fill: Fill) -> Iterator[Interruption]:
    """Yield every interruption of a drain."""
    return Drain(fill).to_the_end().points.after()


def pairs_in_one_call(fill: Fill) -> Iterator[tuple[Interruption, Interruption]]:
    """Yield every call that is duplicated or late with every termination of a function that answers it."""
    for first in interruptions_of(fill):
        if first.kind in {"duplicated", "repeated-later", "delayed-past-takeover"}:
            drain = Drain(fill, first).to_the_end()
            for second in drain.points.within(first.point):
                if second.kind in TERMINATIONS:
                    yield first, second
