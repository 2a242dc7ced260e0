"""The cut matrix: which queues, and which cuts of each."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from tests.support.web_connector.cuts import DEATHS, Cut
from tests.support.web_connector.runs import Run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.support.web_connector.driver import Desk

    Fill: TypeAlias = Callable[[Desk], None]

LAGS = ("indexes", "queue")


def a_read(desk: Desk) -> None:
    desk.queue()


def an_iterated_read(desk: Desk) -> None:
    desk.queue("CustomerQueryRq", "<MaxReturned>2</MaxReturned>", ' iterator="Start"')


def an_iterated_read_and_a_write(desk: Desk) -> None:
    an_iterated_read(desk)
    desk.write()


def a_write(desk: Desk) -> None:
    desk.write()


def a_refused_write(desk: Desk) -> None:
    desk.write("a:colon")


def two_writes(desk: Desk) -> None:
    desk.write("Ann")
    desk.write("Bob")


def two_writes_with_one_label(desk: Desk) -> None:
    desk.write("Ann", request_label="1")
    desk.write("Bob", request_label="1")


def a_write_and_a_read(desk: Desk) -> None:
    desk.write()
    desk.queue()


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


def one_cut(fill: Fill) -> Iterator[Cut]:
    """Yield every cut of a run."""
    return Run(fill).to_the_end().places.cuts_after()


def two_cuts_of_one_call(fill: Fill) -> Iterator[tuple[Cut, Cut]]:
    """Yield every call that comes twice or late with every death of a function on its behalf."""
    for first in one_cut(fill):
        if first.kind in {"duplicated", "repeated-later", "delayed-past-takeover"}:
            run = Run(fill, first).to_the_end()
            for second in run.places.cuts_within(first.place):
                if second.kind in DEATHS:
                    yield first, second
