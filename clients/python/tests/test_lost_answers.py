"""The service forgets an idempotency key after a day. No call whose answer was lost is a second write then."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from qbxml_queue import AnswerLost, ApiError, AsyncClient, RequestFailed, keys
from service import API_KEY, BASE_URL, CONNECTION
from test_custom_fields import define

if TYPE_CHECKING:
    from collections.abc import Callable

    from books import Books
    from conftest import Time

HOUR = 3600.0
TRIES = 6
LOST = [httpx.ReadError("lost")] * TRIES
CUSTOMER = {"CustomerAddRq": {"CustomerAdd": {"Name": "Bob"}}}


def batch_of(shop: Any) -> Any:
    batch = shop.batch("order-7")
    batch.add(CUSTOMER)
    return batch


def calls(shop: Any, books: Books) -> dict[str, Callable[..., Any]]:
    """Return a call for each way to queue a write. The options of a call are those of its method."""
    define(books, "Route", "Customer")
    ada, spare = (shop.customers.create(Name=name) for name in ("Ada Ltd", "Spare"))
    made = shop.invoices.create(CustomerRef=ada, lines=[{"ItemRef": "Consulting"}])
    batch = batch_of(shop)
    return {
        "create": lambda **options: shop.invoices.create(CustomerRef=ada, lines=[{"ItemRef": "Consulting"}], **options),
        "ensure": lambda **options: shop.customers.ensure(Name="Cid", **options),
        "custom fields": lambda **options: shop.customers.create(Name="Di", custom_fields={"Route": "N"}, **options),
        "update": lambda **options: shop.customers.update(ada["ListID"], Phone="1", **options),
        "void": lambda **options: shop.invoices.void(made["TxnID"], **options),
        "delete": lambda **options: shop.customers.delete(spare["ListID"], **options),
        "execute": lambda **options: shop.execute(CUSTOMER, **{"idempotency_key": "order-7", **options}),
        "batch": lambda **options: (batch_of(shop) if options else batch).execute(),
    }


KINDS = ("create", "ensure", "custom fields", "update", "void", "delete", "execute", "batch")


def lose(books: Books, call: Callable[..., Any]) -> None:
    """Make a call so that the answer to its write is lost, whatever it reads before."""
    written = len(books.writes)
    for reads in itertools.count():
        books.faults = [*[None] * reads, *LOST]
        with pytest.raises(httpx.ReadError):
            call()
        books.faults = []
        if len(books.writes) > written:
            return


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("hours", [22.9, 23.1, 25])
def test_a_call_is_repeated_while_the_service_knows_its_key_and_never_later(
    shop: Any, books: Books, time: Time, kind: str, hours: float
) -> None:
    call = calls(shop, books)[kind]
    lose(books, call)
    written = len(books.writes)
    time.now += hours * HOUR
    if hours >= 24:
        books.keys.clear()

    if hours < 23:
        call()
    else:
        for _ in range(3):
            with pytest.raises(AnswerLost, match="Look in QuickBooks"):
                call()

    assert len(books.writes) == written


@pytest.mark.parametrize("kind", [one for one in KINDS if one != "batch"])
def test_a_new_key_makes_it_another_call(shop: Any, books: Books, time: Time, kind: str) -> None:
    call = calls(shop, books)[kind]
    lose(books, call)
    time.now += 24 * HOUR
    queued = len(books.keys)

    with contextlib.suppress(RequestFailed):  # QuickBooks may refuse it: it has done the same before.
        call(idempotency_key="order-8")

    assert len(books.keys) > queued


@pytest.mark.parametrize("fault", [httpx.ConnectError("no network"), 429])
def test_a_call_that_never_reached_the_service_is_made_however_late(
    shop: Any, books: Books, time: Time, fault: Exception | int
) -> None:
    shop.customers.ensure(Name="Ada Ltd")
    books.faults = [fault] * TRIES
    with pytest.raises((httpx.ConnectError, ApiError)):
        shop.customers.create(Name="Bob")
    time.now += 48 * HOUR

    shop.customers.create(Name="Bob")

    assert books.writes == ["CustomerAddRq"] * 2


@pytest.mark.parametrize("is_first_lost", [False, True])
def test_the_time_counts_from_the_first_try_that_may_have_arrived(
    shop: Any, books: Books, time: Time, is_first_lost: bool
) -> None:
    """The program tries for 33 hours. An outage before that try does not count, and later tries change nothing."""
    unsent, lost = httpx.ConnectError("no network"), httpx.ReadError("lost")

    def create() -> Any:
        return shop.customers.create(Name="Bob")

    shop.customers.create(Name="Ada Ltd")
    for faults in ([lost if is_first_lost else unsent] * TRIES, [unsent, *[lost] * 5], [lost] * TRIES):
        books.faults = [*faults]
        with pytest.raises(httpx.TransportError):
            create()
        time.now += 11 * HOUR
    if is_first_lost:
        with pytest.raises(AnswerLost):
            create()
    else:
        assert create()["Name"] == "Bob"
    assert books.writes == ["CustomerAddRq"] * 2


def test_the_time_while_a_machine_sleeps_counts(shop: Any, books: Books, monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock that only goes on while the machine runs stands still."""
    call = calls(shop, books)["create"]
    lose(books, call)
    later = keys.time.time() + 30 * HOUR
    monkeypatch.setattr(keys.time, "time", lambda: later)

    with pytest.raises(AnswerLost):
        call()


def test_a_call_that_was_cancelled_may_have_arrived(books: Books, time: Time) -> None:
    async def main() -> None:
        arrived = asyncio.Event()

        async def answer(request: httpx.Request) -> httpx.Response:
            found = books(request)
            if request.method == "POST":
                arrived.set()
                await asyncio.sleep(60)
            return found

        transport = httpx.MockTransport(answer)
        async with AsyncClient(BASE_URL, API_KEY, CONNECTION, transport=transport, clock=time.clock) as client:
            task = asyncio.create_task(client.customers.create(Name="Bob"))
            await arrived.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            time.now += 24 * HOUR
            with pytest.raises(AnswerLost):
                await client.customers.create(Name="Bob")

    asyncio.run(main())
    assert books.writes == ["CustomerAddRq"]
