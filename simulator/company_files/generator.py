"""Companies made from a seed: the same seed gives the same company, down to the ids."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

from simulator.basics import garbage_collection
from simulator.company_files.history import Year
from simulator.company_files.maker import Maker
from simulator.company_files.standard_lists import add_standard_lists
from simulator.company_files.wholesale import Wholesale
from simulator.company_files.words import PLACES
from simulator.rules.entry import enter_unchecked

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulator.basics.clock import MachineClock
    from simulator.books import Books, Draft, Record

LARGE_CUSTOMERS, LARGE_SALES_ORDERS = 3_000, 10_400
"""The size of a large company: at least 50,000 transactions."""


def generate(
    seed: int,
    customers: int,
    sales_orders: int,
    clock: MachineClock,
    country: str = "US",
    *,
    enter: Callable[[Books, Draft], Record] = enter_unchecked,
) -> Books:
    """Make the books of a wholesale company: its lists and, unless `sales_orders` is 0, the transactions of 2025."""
    maker = Maker(clock, enter)
    random = Random(seed)  # noqa: S311 - sample data, and it has to repeat
    place = PLACES[country]
    with garbage_collection.paused():
        add_standard_lists(maker, place)
        lists = Wholesale(maker, place, random).add(customers)
        if sales_orders:
            Year(maker, lists, random, sales_orders).play()
    return maker.finish()


def empty(clock: MachineClock, country: str = "US") -> Books:
    """Make the books of a new company: the standard lists, no customer, no item for sale, no transaction."""
    maker = Maker(clock)
    add_standard_lists(maker, PLACES[country])
    return maker.finish()
