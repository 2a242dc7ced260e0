"""Every place of a session is cut in every way, alone and in pairs: no write is done twice, nothing is stuck."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

import pytest

from tests.unit.web_connector.cuts import Cut, Run, kinds_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.unit.web_connector.driver import Desk


def a_read(desk: Desk) -> None:
    desk.queue()


def an_iterated_read(desk: Desk) -> None:
    desk.queue("CustomerQueryRq", "<MaxReturned>2</MaxReturned>", ' iterator="Start"')


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


QUEUES = (
    a_read,
    an_iterated_read,
    a_write,
    a_refused_write,
    two_writes,
    two_writes_with_one_label,
    a_write_and_a_read,
)


def cuts_after(run: Run, number: int) -> Iterator[Cut]:
    """Yield every cut at a place that a run passed after its first `number` ones."""
    for place, count in run.places.passed[number:]:
        for kind in kinds_of(place):
            yield Cut(place, count, kind)


def pairs_of_cuts(fill: Callable[[Desk], None]) -> Iterator[tuple[Cut, Cut]]:
    """Yield every cut with every cut of what is done after it."""
    for first in cuts_after(Run(fill).to_the_end(), 0):
        run = Run(fill, first).to_the_end()
        for second in cuts_after(run, run.places.passed.index((first.place, first.number)) + 1):
            yield first, second


@pytest.mark.parametrize("fill", QUEUES)
def test_after_any_one_cut_each_request_ends_and_each_write_was_done_once(fill: Callable[[Desk], None]) -> None:
    for cut in cuts_after(Run(fill).to_the_end(), 0):
        run = Run(fill, cut).to_the_end()

        assert run.places.happened == [cut]
        run.check()


EVERY = 23
"""Of the pairs (some 2,000 for each queue) a few are tried here, other ones for each queue: all take minutes."""


@pytest.mark.parametrize("fill", QUEUES)
def test_after_a_second_cut_in_what_follows_it_is_no_different(fill: Callable[[Desk], None]) -> None:
    for first, second in islice(pairs_of_cuts(fill), QUEUES.index(fill), None, EVERY):
        Run(fill, first, second).to_the_end().check()
