"""Custom fields are read with an object, and written behind it in the same batch."""

from __future__ import annotations

import ast
import itertools
import json
import random
from typing import TYPE_CHECKING, Any

import generate
import httpx
import pytest
from books import Books, Clock
from qbxml_queue import ApiError, Conflict, CustomFieldsNotWritten, QuickBooksError, StillQueued, custom_fields, line
from qbxml_queue.schema.kinds import KINDS

from domain import qbxml
from simulator import Company

if TYPE_CHECKING:
    from pathlib import Path

WITH = [name for name, kind in KINDS.items() if kind.custom_fields]
WITHOUT = [name for name, kind in KINDS.items() if not kind.custom_fields]
FIELDS = ("Route", "Area", "Colour")
VALUES = ("North", "South", "West")


@pytest.fixture(scope="module")
def company(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the file of a company with custom fields, which each test opens anew."""
    books = Books(Company.generated(customers=2, now=Clock()))
    for name in FIELDS:
        define(books, name, "Customer", "Vendor", "Item", "Invoice")
    path = tmp_path_factory.mktemp("company") / "company.json"
    books.company.save(path)
    return path


@pytest.fixture
def books(company: Path) -> Books:
    return Books(Company.load(company, now=Clock()))


def define(books: Books, name: str, *objects: str) -> None:
    """Define a custom field."""
    content = {"OwnerID": "0", "DataExtName": name, "DataExtType": "STR255TYPE", "AssignToObject": list(objects)}
    answer = books.ask(qbxml.parse_request_json({"DataExtDefAddRq": {"DataExtDefAdd": content}}, "16.0"))
    assert answer.get("statusCode") == "0", answer.attrib


def test_a_created_object_has_its_custom_fields_and_all_is_one_batch(shop: Any, books: Books) -> None:
    wanted = {"Route": "North", "Colour": "Red"}
    calls = len(books.keys)

    ada = shop.customers.create(Name="Ada Ltd", custom_fields=wanted)

    assert len(books.keys) == calls + 1
    assert ada["custom_fields"] == wanted
    assert ada["@outcome"] == "created"
    assert shop.customers.get(ada["ListID"], custom_fields=True) == {k: v for k, v in ada.items() if k != "@outcome"}
    assert shop.customers.find("Ada Ltd", custom_fields=True)["custom_fields"] == wanted
    listed = {one["Name"]: one["custom_fields"] for one in shop.customers.list(custom_fields=True, page_size=2)}
    assert listed["Ada Ltd"] == wanted
    assert len(listed) > 1
    assert not any(set(fields) & set(FIELDS) for name, fields in listed.items() if name != "Ada Ltd")


def test_custom_fields_are_read_when_they_are_asked_for(shop: Any) -> None:
    shop.customers.create(Name="Ada Ltd", custom_fields={"Route": "North"})

    assert "custom_fields" not in shop.customers.find("Ada Ltd")
    [ada] = shop.customers.list(FullName=["Ada Ltd"], IncludeRetElement=["Name"], custom_fields=True)
    assert (ada["Name"], ada["custom_fields"]) == ("Ada Ltd", {"Route": "North"})
    assert shop.items.find("Consulting", custom_fields=True)["custom_fields"] == {}


def test_any_sequence_of_updates_leaves_what_it_was_given(shop: Any, books: Books) -> None:
    """The books have what the calls said, and a value that is there already is not written."""
    ada = shop.customers.create(Name="Ada Ltd")
    expected: dict[str, str] = {}
    chance = random.Random(3)
    for number in range(40):
        names = chance.sample(FIELDS, chance.randint(0, 3))
        change: dict[str, str | None] = {name: chance.choice((*VALUES, None)) for name in names}
        fields = chance.choice([{}, {"Phone": str(number)}])
        differing = sum(expected.get(name) != value for name, value in change.items())
        written = len(books.writes)

        changed = shop.customers.update(ada["ListID"], **fields, custom_fields=change)

        for name, value in change.items():
            expected.pop(name, None)
            if value is not None:
                expected[name] = value
        is_mod = bool(fields) or not change
        assert len(books.writes) - written == differing + is_mod
        if change:
            assert changed["custom_fields"] == expected
        assert shop.customers.get(ada["ListID"], custom_fields=True)["custom_fields"] == expected


def test_ensure_writes_custom_fields_that_differ_and_no_others(shop: Any, books: Books) -> None:
    parent = shop.customers.create(Name="Ada Ltd")
    for fields in ({"Name": "Bob"}, {"Name": "Kitchen", "ParentRef": parent}, {"Name": "Bath", "ParentRef": "Ada Ltd"}):
        first = shop.customers.ensure(**fields, custom_fields={"Route": "North"})
        written = len(books.writes)
        again = shop.customers.ensure(**fields, custom_fields={"route": "North"})
        assert (first["@outcome"], again["@outcome"]) == ("created", "unchanged")
        assert (len(books.writes), again["custom_fields"]) == (written, {"Route": "North"})

        changed = shop.customers.ensure(**fields, custom_fields={"Route": "South"})

        assert changed["custom_fields"] == {"Route": "South"}
        assert books.writes[written:] == ["DataExtModRq"]


def test_a_number_of_another_customer_is_another_object(shop: Any, books: Books) -> None:
    ada, bob = (shop.customers.create(Name=name) for name in ("Ada Ltd", "Bob"))
    sale = {"RefNumber": "1042", "lines": [{"ItemRef": "Consulting"}], "custom_fields": {"Route": "North"}}
    for customer in (ada, "Bob", {"ListID": ada["ListID"]}, bob):
        shop.invoices.ensure(CustomerRef=customer, **sale)

    found = list(shop.invoices.list(RefNumber=["1042"], custom_fields=True))

    assert sorted(one["CustomerRef"]["FullName"] for one in found) == ["Ada Ltd", "Bob"]
    assert [one["custom_fields"] for one in found] == [{"Route": "North"}] * 2
    assert books.writes.count("DataExtModRq") == 2


def test_a_line_has_its_item_and_the_custom_fields_of_the_item(shop: Any) -> None:
    shop.customers.create(Name="Ada Ltd")
    consulting = shop.items.find("Consulting")
    lines = [line(item="Consulting", Quantity=2), line(consulting, Desc="Day", custom_fields={"Colour": "Red"})]

    invoice = shop.invoices.create(CustomerRef="Ada Ltd", lines=lines)

    read = shop.invoices.get(invoice["TxnID"], custom_fields=True)["InvoiceLineRet"]
    assert [one["ItemRef"]["FullName"] for one in read] == ["Consulting", "Consulting"]
    assert (read[0]["Quantity"], read[1]["Desc"]) == (2, "Day")
    assert [row["DataExtValue"] for one in read for row in one.get("DataExtRet", ())] == ["Red"]


@pytest.mark.parametrize("values", [{"Colour": "Red"}, {"Colour": "Red", "Route": "North"}, {"Colour": None}])
def test_an_update_refuses_custom_fields_of_lines_with_the_requests_that_write_them(
    shop: Any, books: Books, values: dict[str, str | None]
) -> None:
    shop.customers.create(Name="Ada Ltd")
    lines = [line("Consulting", custom_fields={"Colour": "Blue"}), line("Consulting", custom_fields={"Colour": "Grey"})]
    made = shop.invoices.create(CustomerRef="Ada Ltd", lines=lines)
    changed = made["InvoiceLineRet"][1]["TxnLineID"]
    written = len(books.records)

    with pytest.raises(TypeError, match="cannot write custom fields of lines") as error:
        shop.invoices.update(made["TxnID"], lines=[{"TxnLineID": changed, "Quantity": 2, "custom_fields": values}])
    assert len(books.records) == written
    shown = str(error.value).partition("execute() ")[2].removesuffix(".")
    for request in ast.literal_eval(f"[{shown}]"):
        shop.execute(request)

    read = shop.invoices.get(made["TxnID"], custom_fields=True)["InvoiceLineRet"]
    found = [{row["DataExtName"]: row["DataExtValue"] for row in one.get("DataExtRet", ())} for one in read]
    assert found == [{"Colour": "Blue"}, {name: value for name, value in values.items() if value}]


def test_a_line_that_an_update_adds_has_no_custom_fields_yet(shop: Any, books: Books) -> None:
    for added in ({"custom_fields": {"Colour": "Red"}}, line(custom_fields={"Colour": "Red"})):
        with pytest.raises(TypeError, match=r"'TxnLineID': '…'.*'…' is the TxnLineID of the new line"):
            shop.invoices.update("1-2", lines=[{"TxnLineID": "-1", "ItemRef": "Consulting", **added}])
    group = {"TxnLineID": "3-4", "InvoiceLineMod": [{"TxnLineID": "5-6", "custom_fields": {"Colour": "Red"}}]}
    with pytest.raises(TypeError, match="'TxnLineID': '5-6'"):
        shop.invoices.update("1-2", InvoiceLineGroupMod=[group])
    assert books.records == {}


def test_a_batch_writes_custom_fields_behind_their_object(shop: Any, books: Books) -> None:
    with shop.batch("order-1") as batch:
        ada = batch.customers.ensure(Name="Ada Ltd", custom_fields={"Route": "North", "Area": "South"})
        batch.vendors.create(Name="Mill", custom_fields={"Area": "West"})

    assert shop.customers.get(ada.result["CustomerRet"]["ListID"], custom_fields=True)["custom_fields"] == {
        "Route": "North",
        "Area": "South",
    }
    assert shop.vendors.find("Mill", custom_fields=True)["custom_fields"] == {"Area": "West"}
    assert books.writes == ["CustomerAddRq", "DataExtModRq", "DataExtModRq", "VendorAddRq", "DataExtModRq"]


def test_a_field_that_is_not_defined_is_named_and_the_same_call_adds_nothing(shop: Any, books: Books) -> None:
    def create() -> Any:
        return shop.customers.create(Name="Ada Ltd", custom_fields={"Route": "North", "Size": "XL"})

    for _ in range(2):
        with pytest.raises(CustomFieldsNotWritten, match=r"'Size'.*not defined.*make the same call again") as error:
            create()
        assert list(error.value.failures) == ["Size"]
        assert isinstance(error.value.failures["Size"], QuickBooksError)
    assert books.writes.count("CustomerAddRq") == 1
    assert books.writes.count("DataExtModRq") == 3
    define(books, "Size", "Customer")

    ada = create()

    assert ada["custom_fields"] == {"Route": "North", "Size": "XL"}
    assert ada["ListID"] == error.value.id
    assert books.writes.count("CustomerAddRq") == 1
    assert books.writes.count("DataExtModRq") == 4


def test_an_update_with_the_right_name_ends_the_call_so_that_an_equal_one_is_a_new_write(
    shop: Any, books: Books
) -> None:
    shop.customers.create(Name="Ada Ltd")
    made = set()
    for _ in range(3):
        with pytest.raises(CustomFieldsNotWritten) as error:
            shop.invoices.create(CustomerRef="Ada Ltd", lines=[line("Consulting")], custom_fields={"Rout": "North"})
        repaired = shop.invoices.update(error.value.id, custom_fields={"Route": "North"})
        assert repaired["custom_fields"] == {"Route": "North"}
        made.add(error.value.id)

    assert len(made) == books.writes.count("InvoiceAddRq") == 3


def test_ensure_with_a_key_has_the_same_body_after_a_restart(shop: Any, books: Books) -> None:
    """The service refuses a key with another body."""
    fields: dict[str, Any] = {"Name": "Ada Ltd", "custom_fields": {"Route": "North"}, "idempotency_key": "ada"}
    shop.customers.ensure(**fields)
    vars(getattr(shop, "_client", shop)).pop("customers")  # what the program remembers

    again = shop.customers.ensure(**fields)

    assert again["custom_fields"] == {"Route": "North"}
    assert books.writes == ["CustomerAddRq", "DataExtModRq"]


def test_a_failed_write_leaves_the_custom_fields_alone(shop: Any, books: Books) -> None:
    shop.customers.create(Name="Ada Ltd")

    with pytest.raises(QuickBooksError, match="CustomerAddRq"):
        shop.customers.create(Name="Ada Ltd", custom_fields={"Route": "North"})

    assert "DataExtModRq" not in books.writes


@pytest.mark.parametrize("method", ["create", "ensure", "update"])
def test_a_call_that_is_repeated_after_any_failure_writes_once(shop: Any, books: Books, method: str) -> None:
    """A lost connection after each call of the service, and a QuickBooks that is closed."""
    ada = shop.customers.create(Name="Old")

    def write(number: int) -> Any:
        wanted = {"Route": f"R{number}", "Area": "South"}
        if method == "update":
            return shop.customers.update(ada["ListID"], Phone=str(number), custom_fields=wanted, timeout=5)
        return getattr(shop.customers, method)(Name=f"New {number}", custom_fields=wanted, timeout=5)

    for calls in range(12):
        for is_closed in (False, True):
            before = len(books.writes)
            one = calls * 2 + is_closed
            books.faults = [None] * calls + [httpx.ReadError("lost")] * 6
            books.is_closed = is_closed
            for _ in range(8):
                try:
                    written = write(one)
                except (httpx.ReadError, StillQueued):
                    books.faults = []
                    books.open()
                else:
                    break
            books.faults = []
            assert written["custom_fields"] == {"Route": f"R{one}", "Area": "South"}
            names = sorted(books.writes[before:])
            assert names in (
                ["CustomerAddRq", "DataExtModRq", "DataExtModRq"],
                ["CustomerModRq", "DataExtModRq"],
                ["CustomerModRq", "DataExtModRq", "DataExtModRq"],
            )


@pytest.mark.parametrize(("theirs", "is_conflict"), list(itertools.product(VALUES, [False, True])))
def test_somebody_else_who_changes_the_same_custom_field_is_a_conflict(
    shop: Any, books: Books, theirs: str, is_conflict: bool
) -> None:
    ada = shop.customers.create(Name="Ada Ltd", custom_fields={"Route": "Old"})
    field = "Route" if is_conflict else "Area"

    def interfere(name: str) -> None:
        if name == "CustomerModRq":
            books.before = lambda _name: None
            content = {"OwnerID": "0", "DataExtName": field, "ListDataExtType": "Customer", "DataExtValue": theirs}
            tree = {"DataExtMod": {**content, "ListObjRef": {"ListID": ada["ListID"]}}}
            books.ask(qbxml.parse_request_json({"DataExtModRq": tree}, "16.0"))
            edit = books.ask(qbxml.parse_request_json({"CustomerQueryRq": {"ListID": [ada["ListID"]]}}, "16.0"))
            sequence = edit.findtext("CustomerRet/EditSequence")
            mod = {"ListID": ada["ListID"], "EditSequence": sequence, "Fax": "1"}
            books.ask(qbxml.parse_request_json({"CustomerModRq": {"CustomerMod": mod}}, "16.0"))

    books.before = interfere

    def update() -> Any:
        return shop.customers.update(ada["ListID"], Phone="3", custom_fields={"Route": "North"})

    if is_conflict and theirs != "North":
        with pytest.raises(Conflict, match="custom_fields/Route") as error:
            update()
        [change] = error.value.changes
        assert (change.read, change.theirs, change.ours) == ("Old", theirs, "North")
        assert "DataExtModRq" not in books.writes[books.writes.index("CustomerModRq") :]
    else:
        assert update()["custom_fields"]["Route"] == "North"


def test_a_result_that_cannot_be_read_is_read_by_the_same_call(shop: Any, books: Books) -> None:
    books.is_closed = True
    with pytest.raises(StillQueued):
        shop.customers.create(Name="Ada Ltd", custom_fields={"Route": "North"}, timeout=5)
    *writes, reading = books.waiting
    books.waiting = writes
    books.open()
    reading[0].update(state="discarded")

    with pytest.raises(Exception, match="discarded"):
        shop.customers.create(Name="Ada Ltd", custom_fields={"Route": "North"})
    ada = shop.customers.create(Name="Ada Ltd", custom_fields={"Route": "North"})

    assert ada["custom_fields"] == {"Route": "North"}
    assert books.writes == ["CustomerAddRq", "DataExtModRq"]


@pytest.mark.parametrize("name", WITH)
def test_the_service_reads_the_requests_of_every_object(name: str) -> None:
    for values in ({"Route": "North"}, {"Route": None}):
        [request] = custom_fields.written(KINDS[name], "80-1", values)
        qbxml.parse_request_json(request, "16.0")
    facts = json.loads((generate.FACTS / "requests" / f"{KINDS[name].name}QueryRq.json").read_bytes())
    assert '"OwnerID"' in json.dumps(facts)


@pytest.mark.parametrize("name", WITHOUT)
def test_an_object_without_custom_fields_refuses_them(client: Any, name: str) -> None:
    methods = set(KINDS[name].methods) & {"create", "ensure", "update", "get", "find", "list"}
    for method in methods:
        given = [] if method in {"create", "ensure", "list"} else ["80-1"]
        asked: Any = {"Route": "North"} if method in {"create", "ensure", "update"} else True
        with pytest.raises(TypeError, match="cannot have custom fields"):
            list(getattr(getattr(client, name), method)(*given, custom_fields=asked))


@pytest.mark.parametrize(
    ("use", "error", "message"),
    [
        (lambda shop: shop.customers.create(Name="x", custom_fields={"Route": None}), ValueError, "cannot clear"),
        (lambda shop: shop.customers.ensure(Name="x", custom_fields={"Route": ""}), ValueError, "empty text"),
        (lambda shop: shop.customers.update("1", custom_fields={"Route": 3}), TypeError, "not a text"),
        (lambda shop: shop.customers.create(Name="x", custom_fields={"R" * 32: "x"}), ApiError, "31"),
    ],
)
def test_what_cannot_be_written_is_refused(shop: Any, books: Books, use: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        use(shop)
    assert books.records == {}
