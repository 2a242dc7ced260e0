"""An update changes the fields that it names, and no change of somebody else is lost."""

from __future__ import annotations

import asyncio
import random
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from qbxml_queue import ApiError, AsyncClient, Client, Conflict, StaleEditSequence, StillQueued
from qbxml_queue.resources import Attempt, Begun
from qbxml_queue.values import to_json
from service import API_KEY, BASE_URL, CONNECTION

from domain import qbxml

if TYPE_CHECKING:
    from collections.abc import Callable

    from books import Books

SEEDS = 12
FIELDS = ("Email", "Phone", "Notes", "AccountNumber")
REPEATS = 3


class Editor:
    """Somebody who changes the customer in QuickBooks just before a Mod of the client reaches it."""

    def __init__(self, books: Books, list_id: str, changes: list[dict[str, str]]) -> None:
        self._books = books
        self._list_id = list_id
        self.changes = changes
        self.made: list[dict[str, str]] = []
        self._is_editing = False

    def __call__(self, name: str) -> None:
        if name == "CustomerModRq" and self.changes and not self._is_editing:
            self.change(self.changes.pop(0))

    def change(self, fields: dict[str, str]) -> None:
        now = read(self._books, self._list_id)
        content = {"ListID": self._list_id, "EditSequence": now["EditSequence"], **fields}
        asked = self._books.ask(qbxml.parse_request_json({"CustomerModRq": {"CustomerMod": content}}, "16.0"))
        assert asked.get("statusCode") == "0", asked.attrib
        self.made.append(fields)


def read(books: Books, list_id: str) -> dict[str, str]:
    """Return the customer in the books."""
    [customer] = books.ask(qbxml.parse_request_json({"CustomerQueryRq": {"ListID": list_id}}, "16.0"))
    return {field.tag: field.text or "" for field in customer}


@pytest.mark.parametrize("seed", range(SEEDS))
def test_no_change_of_another_editor_is_lost(shop: Any, books: Books, seed: int) -> None:
    chance = random.Random(seed)
    ada = shop.customers.create(Name="Ada Ltd", **dict.fromkeys(FIELDS, "old"))
    ours = dict.fromkeys(chance.sample(FIELDS, chance.randint(1, 2)), "ours")
    theirs = [
        dict.fromkeys(chance.sample(FIELDS, chance.randint(1, 2)), f"theirs {number}")
        for number in range(chance.choice([0, 1, 1, 2, 3, 4, 5]))
    ]
    books.before = editor = Editor(books, ada["ListID"], theirs)
    overlaps = [bool(set(ours) & set(change)) for change in theirs]

    try:
        changed = shop.customers.update(ada["ListID"], **ours)
    except Conflict as conflict:
        assert overlaps[len(editor.made) - 1]
        assert not any(overlaps[: len(editor.made) - 1])
        for change in conflict.changes:
            assert (change.read, change.ours) == ("old", "ours")
            assert change.theirs == read(books, ada["ListID"])[change.field]
        final = {field: value for made in editor.made for field, value in made.items()}
    except StaleEditSequence:
        assert len(editor.made) == REPEATS + 1
        final = {field: value for made in editor.made for field, value in made.items()}
    else:
        assert not any(overlaps[: len(editor.made)])
        final = {field: value for made in editor.made for field, value in made.items()} | ours
        assert {field: changed[field] for field in FIELDS} == {field: final.get(field, "old") for field in FIELDS}
    now = read(books, ada["ListID"])
    assert {field: now[field] for field in FIELDS} == {field: final.get(field, "old") for field in FIELDS}


def test_a_change_is_repeated_three_times(shop: Any, books: Books) -> None:
    ada = shop.customers.create(Name="Ada Ltd", Phone="old")
    theirs = [{"Notes": f"theirs {number}"} for number in range(2 * REPEATS)]
    books.before = editor = Editor(books, ada["ListID"], theirs)

    with pytest.raises(StaleEditSequence):
        shop.customers.update(ada["ListID"], Phone="ours")

    assert len(editor.made) == books.writes.count("CustomerModRq") == REPEATS + 1


def test_the_same_value_of_another_editor_is_no_conflict(shop: Any, books: Books) -> None:
    ada = shop.customers.create(Name="Ada Ltd", Phone="1")
    books.before = Editor(books, ada["ListID"], [{"Phone": "2"}])

    assert shop.customers.update(ada["ListID"], Phone="2")["Phone"] == "2"


def test_a_conflict_names_both_values(shop: Any, books: Books) -> None:
    ada = shop.customers.create(Name="Ada Ltd", Phone="1")
    books.before = Editor(books, ada["ListID"], [{"Phone": "theirs"}])

    with pytest.raises(Conflict, match="Phone is 'theirs' now, and this call writes 'ours'"):
        shop.customers.update(ada["ListID"], Phone="ours")


def test_the_parts_of_an_address_that_are_not_named_stay(shop: Any, books: Books) -> None:
    address = {"Addr1": "Ada Ltd", "Addr2": "1 Main St", "City": "Bayfield", "State": "CA"}
    ada = shop.customers.create(Name="Ada Ltd", BillAddress=address)

    changed = shop.customers.update(ada["ListID"], BillAddress={"City": "Millbrook"})

    assert changed["BillAddress"] == {**address, "City": "Millbrook"}
    sent = books.executed[-1].find("CustomerMod/BillAddress")
    assert sent is not None
    assert [part.tag for part in sent] == list(address)  # QuickBooks may clear the parts that are left out.
    assert books.writes == ["CustomerAddRq", "CustomerModRq"]


def test_a_field_that_quickbooks_does_not_return_is_not_repeated(shop: Any, books: Books) -> None:
    """Nobody can tell whether somebody else has changed it."""
    vendor = shop.vendors.ensure(Name="Mill")
    bill = shop.bills.create(VendorRef=vendor, ItemLineAdd=[{"ItemRef": "Consulting", "Quantity": 1}])
    left = [{"TxnID": bill["TxnID"], "EditSequence": bill["EditSequence"], "Memo": "theirs"}]

    def edit(name: str) -> None:
        if name == "BillModRq" and left:
            books.ask(qbxml.parse_request_json({"BillModRq": {"BillMod": left.pop()}}, "16.0"))

    books.before = edit
    with pytest.raises(StaleEditSequence):
        shop.bills.update(bill["TxnID"], ClearItemLines=True)
    assert shop.bills.get(bill["TxnID"])["ItemLineRet"]


# --- Lines


def invoice(shop: Any, chance: random.Random, count: int) -> dict[str, Any]:
    ada = shop.customers.ensure(Name="Ada Ltd")
    lines = [{"ItemRef": "Consulting", "Quantity": chance.randint(1, 9), "Desc": f"line {one}"} for one in range(count)]
    made: dict[str, Any] = shop.invoices.create(CustomerRef=ada, lines=lines)
    return made


def shown(lines: list[dict[str, Any]]) -> list[tuple[str, Decimal]]:
    return [(line["Desc"], line["Quantity"]) for line in lines]


@pytest.mark.parametrize("seed", range(SEEDS))
def test_lines_that_are_not_named_stay(shop: Any, seed: int) -> None:
    chance = random.Random(seed)
    made = invoice(shop, chance, chance.randint(1, 6))
    before = made["InvoiceLineRet"]
    changed, removed, expected, ids = [], [], [], []
    for line in before:
        what = chance.choice(["stays", "stays", "changes", "goes"])
        if what == "goes":
            removed.append(line["TxnLineID"])
            continue
        quantity = Decimal(chance.randint(10, 19)) if what == "changes" else line["Quantity"]
        if what == "changes":
            changed.append({"TxnLineID": line["TxnLineID"], "Quantity": quantity})
        expected.append((line["Desc"], quantity))
        ids.append(line["TxnLineID"])
    new = [
        {"TxnLineID": "-1", "ItemRef": "Consulting", "Quantity": 30, "Desc": f"new {one}"} for one in range(seed % 3)
    ]
    expected += [(line["Desc"], Decimal(30)) for line in new]
    chance.shuffle(changed)
    if not expected:
        with pytest.raises(ValueError, match="must keep a line"):
            shop.invoices.update(made["TxnID"], remove_lines=removed)
        return

    after = shop.invoices.update(made["TxnID"], Memo="m", lines=[*changed, *new], remove_lines=removed)[
        "InvoiceLineRet"
    ]

    assert shown(after) == expected
    assert [line["TxnLineID"] for line in after][: len(ids)] == ids


def test_an_update_without_lines_leaves_them(shop: Any, books: Books) -> None:
    made = invoice(shop, random.Random(1), 3)

    changed = shop.invoices.update(made["TxnID"], Memo="paid by card")

    assert shown(changed["InvoiceLineRet"]) == shown(made["InvoiceLineRet"])
    assert "InvoiceLineMod" not in {element.tag for element in books.executed[-1][0]}


def test_the_lines_of_expenses_stay_when_lines_of_items_change(shop: Any) -> None:
    vendor = shop.vendors.ensure(Name="Mill")
    account = next(one for one in shop.accounts.list() if one["AccountType"] == "Expense")
    bill = shop.bills.create(
        VendorRef=vendor,
        ExpenseLineAdd=[{"AccountRef": account, "Amount": Decimal("5.00"), "Memo": one} for one in ("a", "b")],
        ItemLineAdd=[{"ItemRef": "Consulting", "Quantity": 1, "Cost": Decimal("2.00")}],
    )
    [item] = bill["ItemLineRet"]

    changed = shop.bills.update(bill["TxnID"], ItemLineMod=[{"TxnLineID": item["TxnLineID"], "Quantity": 4}])
    assert [line["Memo"] for line in changed["ExpenseLineRet"]] == ["a", "b"]
    assert [line["Quantity"] for line in changed["ItemLineRet"]] == [4]

    changed = shop.bills.update(bill["TxnID"], remove_lines=[item["TxnLineID"]])
    assert [line["Memo"] for line in changed["ExpenseLineRet"]] == ["a", "b"]
    assert "ItemLineRet" not in changed


def test_a_line_that_the_object_does_not_have_is_named(shop: Any, books: Books) -> None:
    made = invoice(shop, random.Random(1), 2)
    written = len(books.writes)

    for lines in ({"lines": [{"TxnLineID": "9-9", "Quantity": 1}]}, {"remove_lines": ["9-9"]}):
        with pytest.raises(ValueError, match=f"has no line '9-9'.*: {made['InvoiceLineRet'][0]['TxnLineID']}"):
            shop.invoices.update(made["TxnID"], **lines)
    assert len(books.writes) == written


@pytest.mark.parametrize("what", ["same line", "other line", "line removed", "removes changed", "line added"])
def test_lines_of_another_editor_are_not_lost(shop: Any, books: Books, what: str) -> None:
    made = invoice(shop, random.Random(1), 3)
    first, second, third = (line["TxnLineID"] for line in made["InvoiceLineRet"])
    theirs = {
        "same line": [{"TxnLineID": first, "Quantity": 77}, {"TxnLineID": second}, {"TxnLineID": third}],
        "other line": [{"TxnLineID": first}, {"TxnLineID": second, "Quantity": 77}, {"TxnLineID": third}],
        "line removed": [{"TxnLineID": second}, {"TxnLineID": third}],
        "removes changed": [{"TxnLineID": first}, {"TxnLineID": second}, {"TxnLineID": third, "Quantity": 77}],
        "line added": [
            *({"TxnLineID": one} for one in (first, second, third)),
            {"TxnLineID": "-1", "ItemRef": {"FullName": "Consulting"}, "Quantity": 78},
        ],
    }[what]
    left = [theirs]

    def edit(name: str) -> None:
        if name == "InvoiceModRq" and left:
            content = {"TxnID": made["TxnID"], "EditSequence": made["EditSequence"], "InvoiceLineMod": left.pop()}
            request = qbxml.parse_request_json(to_json({"InvoiceModRq": {"InvoiceMod": content}}), "16.0")
            assert books.ask(request).get("statusCode") == "0"

    books.before = edit
    call: Callable[[], Any] = lambda: shop.invoices.update(  # noqa: E731 - used twice
        made["TxnID"], lines=[{"TxnLineID": first, "Quantity": 99}], remove_lines=[third]
    )
    if what in {"same line", "line removed", "removes changed"}:
        with pytest.raises(Conflict) as conflict:
            call()
        expected = f"line {third}" if what == "removes changed" else f"line {first}"
        assert conflict.value.changes[0].field.startswith(expected)
        assert len(books.ask(_query(made["TxnID"]))[0].findall("InvoiceLineRet")) == len(theirs)
        return
    quantities = {line["TxnLineID"]: line["Quantity"] for line in call()["InvoiceLineRet"]}
    assert quantities[first] == 99
    assert third not in quantities
    assert (77 if what == "other line" else 78) in quantities.values()


def _query(txn_id: str) -> qbxml.Request:
    return qbxml.parse_request_json({"InvoiceQueryRq": {"TxnID": txn_id, "IncludeLineItems": True}}, "16.0")


# --- Calls that end before their requests


def test_the_same_call_resumes_what_is_still_queued(shop: Any, books: Books) -> None:
    ada = shop.customers.ensure(Name="Ada Ltd")
    spare = shop.customers.ensure(Name="Spare")
    made = shop.invoices.create(CustomerRef=ada, lines=[{"ItemRef": "Consulting"}])
    calls: list[Callable[[float], Any]] = [
        lambda timeout: shop.invoices.create(CustomerRef=ada, lines=[{"ItemRef": "Consulting"}], timeout=timeout),
        lambda timeout: shop.customers.ensure(Name="Bob", timeout=timeout),
        lambda timeout: shop.customers.delete(spare["ListID"], timeout=timeout),
        lambda timeout: shop.invoices.void(made["TxnID"], timeout=timeout),
        lambda timeout: shop.customers.get(ada["ListID"], timeout=timeout),
        lambda timeout: shop.customers.find("Ada Ltd", timeout=timeout),
        lambda timeout: list(shop.customers.list(timeout=timeout)),
        lambda timeout: list(shop.accounts.list(ActiveStatus="All", timeout=timeout)),
    ]
    for call in calls:
        books.is_closed = True
        before, records = len(books.writes), len(books.records)
        with pytest.raises(StillQueued) as waiting:
            call(1)
        with pytest.raises(StillQueued) as again:
            call(2)
        assert waiting.value.id == again.value.id in books.records
        is_write = not waiting.value.record["request_name"].endswith("QueryRq")
        books.open()
        call(5)
        assert len(books.writes) - before == int(is_write)
        assert len(books.records) - records == 1


def test_a_second_call_after_the_end_of_the_first_is_another_write(shop: Any, books: Books) -> None:
    for _ in range(2):
        shop.invoices.create(CustomerRef={"FullName": "Österlund, Yvonne 2"}, lines=[{"ItemRef": "Consulting"}])

    assert books.writes == ["InvoiceAddRq", "InvoiceAddRq"]


@pytest.mark.parametrize("seed", range(SEEDS))
def test_no_write_is_queued_twice_whatever_is_lost(shop: Any, books: Books, seed: int) -> None:
    """Answers get lost, calls are refused, QuickBooks is closed. The program repeats each call until it succeeds."""
    chance = random.Random(seed)
    ada = shop.customers.ensure(Name="Ada Ltd")
    made = shop.invoices.create(CustomerRef=ada, lines=[{"ItemRef": "Consulting", "Quantity": 1}])
    line: dict[str, Any] = {"TxnLineID": "-1", "ItemRef": "Consulting", "Quantity": 2}
    calls: list[Callable[[], Any]] = [
        lambda: shop.invoices.create(CustomerRef=ada, lines=[{"ItemRef": "Consulting"}], timeout=3),
        lambda: shop.invoices.update(made["TxnID"], lines=[line], timeout=3),
        lambda: shop.customers.create(Name="Bob", timeout=3),
    ]
    for call in calls:
        before = len(books.writes)
        while True:
            books.is_closed = chance.random() < 0.5
            faults = [httpx.ReadError("lost"), httpx.ReadError("lost"), *chance.sample([429, 401, 403], 1), None]
            books.faults = [chance.choice(faults) for _ in range(chance.randint(0, 30))]
            try:
                call()
                break
            except (StillQueued, ApiError, httpx.TransportError):
                books.faults.clear()
                books.open()
        books.faults.clear()
        books.open()
        assert len(books.writes) == before + 1, books.writes[before:]
    assert len(shop.invoices.get(made["TxnID"])["InvoiceLineRet"]) == 2


def test_a_write_whose_answer_was_lost_is_not_queued_again_after_a_refusal(shop: Any, books: Books) -> None:
    def create() -> Any:
        return shop.invoices.create(CustomerRef={"FullName": "Ada Ltd"}, lines=[{"ItemRef": "Consulting"}])

    shop.customers.create(Name="Ada Ltd")
    books.faults = [httpx.ReadError("lost"), *[429] * 10]
    with pytest.raises(ApiError):
        create()
    books.faults.clear()

    create()

    assert books.writes.count("InvoiceAddRq") == 1


@pytest.mark.parametrize("asyncio_client", [True, False])
@pytest.mark.parametrize("calls", range(3))
def test_a_call_that_is_cancelled_is_resumed_by_the_same_call(
    books: Books, calls: int, *, asyncio_client: bool
) -> None:
    """It is cancelled after any call of the service. A program that logs the errors keeps the frames of the calls."""
    fields: dict[str, Any] = {"CustomerRef": "Ada Ltd", "lines": [{"ItemRef": "Consulting"}]}
    errors: list[BaseException] = []

    class Interrupted(BaseException):
        pass

    left = iter(range(calls))

    def answer(request: httpx.Request) -> httpx.Response:
        response = books(request)
        if not errors and next(left, None) is None:
            raise Interrupted
        return response

    async def run() -> None:
        async with AsyncClient(BASE_URL, API_KEY, CONNECTION, transport=httpx.MockTransport(answer)) as client:
            try:
                await client.invoices.create(**fields)
            except Interrupted as error:
                errors.append(error)
            await client.invoices.create(**fields)

    books.ask(qbxml.parse_request_json({"CustomerAddRq": {"CustomerAdd": {"Name": "Ada Ltd"}}}, "16.0"))
    if asyncio_client:
        asyncio.run(run())
    else:
        with Client(BASE_URL, API_KEY, CONNECTION, transport=httpx.MockTransport(answer)) as client:
            try:
                client.invoices.create(**fields)
            except Interrupted as error:
                errors.append(error)
            client.invoices.create(**fields)
    assert len(errors) == 1
    assert books.writes.count("InvoiceAddRq") == 1


def test_two_equal_updates_are_both_done_if_one_begins_while_the_other_reads_again(books: Books) -> None:
    line = {"TxnLineID": "-1", "ItemRef": "Consulting", "Quantity": 1}
    steps = iter(["InvoiceModRq", "InvoiceQueryRq"])
    expected = [next(steps)]

    with Client(BASE_URL, API_KEY, CONNECTION, transport=httpx.MockTransport(books)) as client:
        client.customers.create(Name="Ada Ltd")
        made = client.invoices.create(CustomerRef="Ada Ltd", lines=[{"ItemRef": "Consulting"}])

        def interfere(name: str) -> None:
            if [name] != expected:
                return
            expected[:] = [next(steps, "")]
            if name == "InvoiceModRq":
                content = {"TxnID": made["TxnID"], "EditSequence": made["EditSequence"], "Memo": "theirs"}
                request = qbxml.parse_request_json({"InvoiceModRq": {"InvoiceMod": content}}, "16.0")
                assert books.ask(request).get("statusCode") == "0"
            else:
                client.invoices.update(made["TxnID"], lines=[line])

        books.before = interfere
        client.invoices.update(made["TxnID"], lines=[line])
        assert expected == [""]
        assert len(client.invoices.get(made["TxnID"])["InvoiceLineRet"]) == 3


def test_an_update_does_not_take_the_read_of_another_call(shop: Any, books: Books) -> None:
    ada = shop.customers.create(Name="Ada Ltd", Phone="1")
    books.is_closed = True
    with pytest.raises(StillQueued):
        shop.customers.get(ada["ListID"], timeout=0)
    books.open()
    before = len(books.records)

    shop.customers.update(ada["ListID"], Phone="2")

    assert len(books.records) == before + 2  # its own read, and the Mod


@pytest.mark.parametrize("what", ["twice", "changed and removed", "in another place"])
def test_a_line_that_would_be_lost_is_refused(shop: Any, books: Books, what: str) -> None:
    bill = shop.bills.create(
        VendorRef=shop.vendors.create(Name="Mill"),
        ExpenseLineAdd=[{"AccountRef": "Rent", "Amount": Decimal(3), "Memo": "a"}],
        ItemLineAdd=[{"ItemRef": "Consulting", "Quantity": 1, "Cost": Decimal("2.00")}],
    )
    [expense], [item] = ([line["TxnLineID"] for line in bill[name]] for name in ("ExpenseLineRet", "ItemLineRet"))
    changes: dict[str, Any] = {
        "twice": {"ItemLineMod": [{"TxnLineID": item, "Quantity": 1}, {"TxnLineID": item, "Quantity": 2}]},
        "changed and removed": {"ItemLineMod": [{"TxnLineID": item, "Quantity": 1}], "remove_lines": [item]},
        "in another place": {"ItemLineMod": [{"TxnLineID": expense, "Quantity": 4}]},
    }[what]
    written = len(books.writes)

    with pytest.raises(ValueError, match=r"is named twice|has no line .* in ItemLineMod"):
        shop.bills.update(bill["TxnID"], **changes)

    assert len(books.writes) == written


def test_equal_calls_that_ended_too_early_are_each_resumed_once() -> None:
    writes = Begun()
    first, second = (Attempt(cause, {}) for cause in ("first", "second"))
    writes.keep("call", first)
    writes.keep("call", second)
    writes.keep("another", first)

    assert [writes.take("call") for _ in range(3)] == [first, second, None]
    assert writes.take("another") is first


def test_a_key_names_an_update_for_a_program_that_was_restarted(shop: Any) -> None:
    made = invoice(shop, random.Random(1), 1)
    line = {"TxnLineID": "-1", "ItemRef": "Consulting", "Quantity": 2}
    shop.invoices.update(made["TxnID"], lines=[line], idempotency_key="order-7")

    with pytest.raises(ApiError, match="idempotency_key_reused"):
        shop.invoices.update(made["TxnID"], lines=[line], idempotency_key="order-7")
    assert len(shop.invoices.get(made["TxnID"])["InvoiceLineRet"]) == 2


def test_an_update_that_is_resumed_compares_with_what_it_has_read_first(shop: Any, books: Books) -> None:
    """The read after a conflict may not end in time. The same call must not take their value for the first one."""
    ada = shop.customers.create(Name="Ada Ltd", Phone="1")
    editor = Editor(books, ada["ListID"], [{"Phone": "theirs"}])

    def edit(name: str) -> None:
        editor(name)
        books.is_closed = name == "CustomerModRq"

    books.before = edit
    with pytest.raises(StillQueued):
        shop.customers.update(ada["ListID"], Phone="ours", timeout=1)
    books.before = lambda _name: None
    books.open()

    with pytest.raises(Conflict):
        shop.customers.update(ada["ListID"], Phone="ours", timeout=1)
    assert read(books, ada["ListID"])["Phone"] == "theirs"
