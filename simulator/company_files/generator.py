"""Companies made from a seed: the same seed gives the same company, down to the ids."""

from __future__ import annotations

import gc
from contextlib import contextmanager
from random import Random
from typing import TYPE_CHECKING

from simulator.company_files.history import Year
from simulator.company_files.maker import Maker
from simulator.company_files.standard_lists import add_standard_lists
from simulator.company_files.wholesale import Wholesale
from simulator.company_files.words import PLACES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simulator.basics.clock import MachineClock
    from simulator.books import Books

LARGE_CUSTOMERS, LARGE_SALES_ORDERS = 3_000, 10_400
"""The size of a large company: at least 50,000 transactions."""


def generate(seed: int, customers: int, sales_orders: int, clock: MachineClock, country: str = "US") -> Books:
    """Make the books of a wholesale company: its lists and, unless `sales_orders` is 0, the transactions of 2025."""
    maker = Maker(clock)
    random = Random(seed)  # noqa: S311 - sample data, and it has to repeat
    place = PLACES[country]
    with _without_garbage_collection():
        add_standard_lists(maker, place)
        lists = Wholesale(maker, place, random).add(customers)
        if sales_orders:
            Year(maker, lists, random, sales_orders).play()
    return maker.finish()


@contextmanager
def _without_garbage_collection() -> Iterator[None]:
    """Pause the search for cycles, which takes a quarter of the time. A company has many objects and no cycles."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def empty(clock: MachineClock, country: str = "US") -> Books:
    """Make the books of a new company: the standard lists, no customer, no item for sale, no transaction."""
    maker = Maker(clock)
    add_standard_lists(maker, PLACES[country])
    return maker.finish()
