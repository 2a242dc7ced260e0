"""Each object of QuickBooks has a resource, with the methods that QuickBooks has for it."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from datetime import datetime, timedelta
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import generate
import httpx
import pytest
from books import Books, Clock
from fields import random_fields
from qbxml_queue import Ambiguous, ApiError, Client, NotFound, QuickBooksError, StillQueued
from qbxml_queue.merging import line_ids, merged
from qbxml_queue.schema.kinds import KINDS
from qbxml_queue.values import to_json
from service import API_KEY, BASE_URL, CONNECTION

from domain import qbxml
from domain.errors import InvalidRequest
from domain.existing.identity import PARTIES
from domain.existing.modification import check_can_update
from simulator import Company

if TYPE_CHECKING:
    from collections.abc import Iterator
    from xml.etree.ElementTree import Element

SEEDS = 6
NAMES = json.loads((generate.FACTS / "index.json").read_bytes())


@pytest.fixture(scope="module")
def closed() -> Iterator[Any]:
    """Yield a client and the books behind it, which are closed: requests are read and wait."""
    books = Books(Company.empty(now=Clock()), is_closed=True)
    transport = httpx.MockTransport(books)
    with Client(BASE_URL, API_KEY, CONNECTION, transport=transport, sleep=lambda _: None, clock=lambda: 0.0) as client:
        yield client, books


def leaves(value: Any, path: str = "") -> list[tuple[str, str]]:
    """Return the values of a request in JSON, each with its path."""
    if isinstance(value, dict):
        return [leaf for name, one in value.items() for leaf in leaves(one, f"{path}/{name}")]
    if isinstance(value, list):
        return [leaf for one in value for leaf in leaves(one, path)]
    return [(path, str(value).lower() if isinstance(value, bool) else str(value))]


def values(element: Element, path: str = "") -> list[tuple[str, str]]:
    """Return the values of a request as the service has read it."""
    if not len(element):
        return [(path, element.text)] if element.text else []
    return [leaf for one in element for leaf in values(one, f"{path}/{one.tag}")]


def same(sent: str, read: str) -> bool:
    """Return whether a value is that in the form of QBXML, such as 2.50 for 2.5."""
    try:
        return Decimal(sent) == Decimal(read)
    except ArithmeticError:
        return sent == read or datetime.fromisoformat(sent) == datetime.fromisoformat(read)


def test_every_object_that_a_query_finds_by_its_id_has_a_resource() -> None:
    added = {name.removesuffix("AddRq") for name in NAMES if name.endswith("AddRq")}
    without = added - {kind.name for kind in KINDS.values()}

    assert without == {"DataExt", "DataExtDef", "ListDisplay", "SpecialAccount", "SpecialItem", "TxnDisplay"}
    assert len(KINDS) == 70
    assert list(KINDS) == sorted(KINDS)


@pytest.mark.parametrize("name", KINDS)
def test_a_resource_has_the_methods_of_the_requests_of_its_object(name: str) -> None:
    kind = KINDS[name]

    assert ("create" in kind.methods) == (f"{kind.name}AddRq" in NAMES)
    assert ("update" in kind.methods) == (f"{kind.name}ModRq" in NAMES)
    assert {"get", "list"} <= set(kind.methods)


@pytest.mark.parametrize("name", [name for name, kind in KINDS.items() if "create" in kind.methods])
def test_ensure_is_for_the_objects_that_the_service_can_find(name: str) -> None:
    kind = KINDS[name]
    has_name = kind.key == "ListID" and kind.sought == "FullName"

    assert ("ensure" in kind.methods) == (has_name or kind.name in PARTIES)
    fields = random_fields(f"{kind.name}AddRq", random.Random(1), 0)
    request = qbxml.parse_request_json(to_json({f"{kind.name}AddRq": {f"{kind.name}Add": fields}}), "16.0")
    if kind.if_exists == "update":
        check_can_update(request)
    else:
        with pytest.raises(InvalidRequest):
            check_can_update(request)


@pytest.mark.parametrize("name", [name for name, kind in KINDS.items() if "create" in kind.methods])
def test_the_service_reads_what_create_was_given(closed: Any, name: str) -> None:
    client, books = closed
    for seed in range(SEEDS):
        fields = random_fields(f"{KINDS[name].name}AddRq", random.Random(seed))

        with pytest.raises(StillQueued):
            getattr(client, name).create(**fields, timeout=0)

        [element] = books.waiting[-1][1].element
        sent, read = (sorted(one) for one in (leaves(to_json(fields)), values(element)))
        assert [path for path, _ in sent] == [path for path, _ in read]
        assert all(same(one, other) for (_, one), (_, other) in zip(sent, read, strict=True)), (sent, read)


@pytest.mark.parametrize("name", [name for name, kind in KINDS.items() if "update" in kind.methods])
def test_the_service_reads_every_change(name: str) -> None:
    kind = KINDS[name]
    for seed in range(SEEDS):
        chance = random.Random(seed)
        fields = random_fields(f"{kind.name}ModRq", chance)
        read = {kind.key: fields.pop(kind.key), "EditSequence": fields.pop("EditSequence")}
        for family in kind.changed_lines:
            lines = fields.get(family, ())
            returned = "JournalDebitLine" if family == "JournalLineMod" else f"{family.removesuffix('Mod')}Ret"
            read[returned] = [{"TxnLineID": one["TxnLineID"]} for one in _listed(lines)]
            if family in fields:
                fields[family] = _listed(lines)
        fields = {one: value for one, value in fields.items() if not one.startswith("Clear")}
        if any(line_ids_missing(kind, fields, read)):
            continue

        content = {kind.key: read[kind.key], "EditSequence": "1", **merged(kind, fields, (), read)}

        qbxml.parse_request_json(to_json({f"{kind.name}ModRq": {f"{kind.name}Mod": content}}), "16.0")


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value] if isinstance(value, dict) else list(value)


def line_ids_missing(kind: Any, fields: dict[str, Any], read: dict[str, Any]) -> list[str]:
    """Return the inner lines of groups, which the object as it was read does not have."""
    known = line_ids(kind, read)
    inner = [one for family in kind.changed_lines for line in fields.get(family, ()) for one in line.values()]
    return [
        line["TxnLineID"]
        for one in inner
        if isinstance(one, list)
        for line in one
        if line.get("TxnLineID") not in known
    ]


@pytest.mark.parametrize("name", KINDS)
def test_the_service_reads_every_other_call(closed: Any, name: str) -> None:
    resource = getattr(closed[0], name)
    calls = [lambda: resource.get("80-1", timeout=0), lambda: list(resource.list(timeout=0))]
    others = [one for one in ("find", "delete", "void") if one in KINDS[name].methods]
    calls += [partial(getattr(resource, one), "80-1", timeout=0) for one in others]
    if KINDS[name].modified:
        calls.append(lambda: list(resource.list(modified_since=datetime(2026, 1, 1), timeout=0)))  # noqa: DTZ001
    for call in calls:
        with pytest.raises(StillQueued):
            call()


def test_ensure_twice_changes_nothing(shop: Any, books: Books) -> None:
    tried = 0
    for name, kind in KINDS.items():
        if "ensure" not in kind.methods or kind.key == "TxnID":
            continue
        for seed in range(SEEDS):
            fields = random_fields(f"{kind.name}AddRq", random.Random(f"{name} {seed}"))
            fields = {one: value for one, value in fields.items() if not one.endswith("Ref")}
            try:
                first = getattr(shop, name).ensure(**fields)
            except (ApiError, QuickBooksError):
                continue  # It needs an account, an item or a feature that the company does not have.
            if first.get("Name", "").casefold() != fields.get("Name", "").casefold():
                continue  # QuickBooks names employees and payroll items after other fields.
            stored = {one: value for one, value in fields.items() if one == "Name" or first.get(one) == value}
            written = len(books.writes)

            try:
                again = getattr(shop, name).ensure(**stored)
            except ApiError:
                continue  # A required field is stored in another form.
            tried += 1
            assert again["@outcome"] == ("unchanged" if kind.if_exists == "update" else "found"), (name, stored)
            assert {**again, "@outcome": ""} == {**first, "@outcome": ""}
            assert len(books.writes) == written
    assert tried > 100


def test_ensure_changes_what_differs(shop: Any, books: Books) -> None:
    shop.customers.ensure(Name="Ada Ltd", Email="ada@example.com")

    changed = shop.customers.ensure(Name="Ada Ltd", Email="books@example.com")

    assert (changed["@outcome"], changed["Email"]) == ("updated", "books@example.com")
    assert books.writes == ["CustomerAddRq", "CustomerModRq"]


def test_a_record_is_a_reference_to_its_object(shop: Any) -> None:
    ada = shop.customers.ensure(Name="Ada Ltd")
    kitchen = shop.customers.ensure(Name="Kitchen", ParentRef=ada)
    item = shop.items.find("Consulting")

    invoice = shop.invoices.create(
        CustomerRef=kitchen, lines=[{"ItemRef": item, "Quantity": 2}, {"ItemRef": "Consulting", "Quantity": Decimal(1)}]
    )

    assert kitchen["FullName"] == "Ada Ltd:Kitchen"
    assert invoice["CustomerRef"]["ListID"] == kitchen["ListID"]
    assert [line["Quantity"] for line in invoice["InvoiceLineRet"]] == [2, 1]
    assert {line["ItemRef"]["ListID"] for line in invoice["InvoiceLineRet"]} == {item["ListID"]}
    assert shop.invoices.get(invoice["TxnID"])["InvoiceLineRet"] == invoice["InvoiceLineRet"]


def test_list_yields_every_object_page_by_page(shop: Any, books: Books) -> None:
    for number in range(20):
        shop.customers.create(Name=f"Customer {number}")
    whole = {one["ListID"] for one in shop.execute({"CustomerQueryRq": {}})["CustomerRet"]}
    for page_size in (1, 7, 100):
        books.executed.clear()

        customers = shop.customers.list(page_size=page_size)
        first = next(customers)
        assert 1 <= len(books.executed) <= len(whole)

        assert {first["ListID"], *(one["ListID"] for one in customers)} == whole
    assert [one["Name"] for one in shop.customers.list(FullName=["Customer 3"])] == ["Customer 3"]
    assert len(list(shop.customers.list(MaxReturned=4))) == 4
    assert len(list(shop.accounts.list())) > 10


def test_list_begins_with_the_first_object_that_is_wanted(shop: Any, books: Books) -> None:
    shop.customers.list()

    assert books.executed == []


def test_list_takes_the_time_of_the_last_change(shop: Any) -> None:
    before = list(shop.customers.list())
    last = max(one["TimeModified"] for one in before)
    ada = shop.customers.ensure(Name="Ada Ltd")

    found = list(shop.customers.list(modified_since=last + timedelta(seconds=1)))

    assert [one["ListID"] for one in found] == [ada["ListID"]]
    with pytest.raises(TypeError, match="same limit"):
        shop.customers.list(modified_since=last, FromModifiedDate=last)


def test_find_and_get_say_what_the_books_do_not_have(shop: Any) -> None:
    ada = shop.customers.ensure(Name="Ada Ltd")
    for _ in range(2):
        shop.invoices.create(CustomerRef=ada, RefNumber="T-1", lines=[{"ItemRef": "Consulting"}])

    assert shop.customers.find("ada ltd")["ListID"] == ada["ListID"]
    assert shop.customers.find("Nobody") is None
    with pytest.raises(NotFound, match="no Customer with the id '80-9'"):
        shop.customers.get("80-9")
    with pytest.raises(Ambiguous) as ambiguous:
        shop.invoices.find("T-1")
    assert len(ambiguous.value.ids) == 2


def test_delete_and_void(shop: Any, books: Books) -> None:
    ada = shop.customers.ensure(Name="Ada Ltd")
    invoice = shop.invoices.create(CustomerRef=ada, lines=[{"ItemRef": "Consulting"}])

    shop.invoices.void(invoice["TxnID"])
    assert shop.invoices.get(invoice["TxnID"])["Subtotal"] == 0
    shop.invoices.delete(invoice["TxnID"])
    deleted = shop.customers.delete(ada["ListID"])

    assert deleted["FullName"] == "Ada Ltd"
    assert shop.customers.find("Ada Ltd") is None
    assert books.writes[-3:] == ["TxnVoidRq", "TxnDelRq", "ListDelRq"]


def test_a_batch_has_the_resources_and_their_steps_are_references(shop: Any, books: Books) -> None:
    with shop.batch("order-1042") as batch:
        ada = batch.customers.ensure(Name="Ada Ltd")
        job = batch.customers.ensure(Name="Kitchen", ParentRef=ada)
        invoice = batch.invoices.create(CustomerRef=job, lines=[{"ItemRef": "Consulting"}])

    assert invoice.result["InvoiceRet"]["CustomerRef"]["FullName"] == "Ada Ltd:Kitchen"
    with shop.batch() as batch:
        batch.invoices.void(invoice.result["InvoiceRet"]["TxnID"])
        batch.invoices.delete(invoice.result["InvoiceRet"]["TxnID"])
    assert books.writes == ["CustomerAddRq", "CustomerAddRq", "InvoiceAddRq", "TxnVoidRq", "TxnDelRq"]


def test_a_batch_that_raises_is_not_queued(shop: Any, books: Books) -> None:
    def use() -> None:
        with shop.batch() as batch:
            batch.customers.create(Name="Ada Ltd")
            raise LookupError

    with pytest.raises(LookupError):
        use()

    assert books.records == {}


@pytest.mark.parametrize(
    ("use", "error", "message"),
    [
        (lambda shop: shop.customerz, AttributeError, "Did you mean 'customers'"),
        (lambda shop: shop.accounts.void("1"), AttributeError, "Account has no method 'void'. It has create, ensure"),
        (lambda shop: shop.batch().customers.get("1"), AttributeError, "It has create, ensure, delete"),
        (lambda shop: shop.customers.create(Name="x", idempotencykey="1"), TypeError, "Did you mean 'idempotency_key'"),
        (lambda shop: shop.customers.create(Name="x", page_size=3), TypeError, "page_size"),
        (lambda shop: shop.customers.create(Name="x", lines=[]), TypeError, "It has no lines"),
        (lambda shop: shop.invoices.create(lines=[], InvoiceLineAdd=[]), TypeError, "which is given too"),
        (lambda shop: shop.customers.create(Nam="x"), ApiError, "Nam is not an element"),
        (lambda shop: shop.invoices.create(CustomerRef="x", Other=1.5), TypeError, "is a float"),
    ],
)
def test_what_does_not_exist_is_named(shop: Any, use: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        use(shop)


def test_dir_names_the_resources_and_their_methods(shop: Any) -> None:
    client = getattr(shop, "_client", shop)

    assert set(KINDS) <= set(dir(client))
    assert dir(client.accounts) == sorted(KINDS["accounts"].methods)


def modules_of(program: str) -> list[str]:
    """Return the modules that a program imports."""
    sources = str(Path(__file__).resolve().parents[1] / "src")
    return subprocess.run(
        [sys.executable, "-c", f"import sys; {program}; print(*sys.modules)"],
        env={"PYTHONPATH": sources},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()


def test_the_client_imports_what_it_needs_when_it_needs_it() -> None:
    """The TypedDicts of all requests and responses take 0.3 s to create, and httpx takes 0.4 s to import.

    Only type checkers read the TypedDicts.
    """
    imported = modules_of("import qbxml_queue")
    used = modules_of("import qbxml_queue; qbxml_queue.Client('http://x', 'k', '1').customers.create")

    assert not {"httpx", "asyncio", "qbxml_queue.reports"} & set(imported)
    loaded = {name.rpartition(".")[2] for name in used if name.startswith("qbxml_queue.schema.")}
    assert loaded == {"facts", "kinds", "routes", "version"}
