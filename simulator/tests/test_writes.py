"""Adds, message sets with several requests, and the company's file."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from simulator import Company
from simulator.basics.errors import HresultError
from simulator.tests.support import ADD, NOW, a_company, ask, document, recovery

if TYPE_CHECKING:
    from pathlib import Path

    from simulator.requests.events import RequestEvent


def add_customer(company: Any, content: str, **options: str) -> Any:
    return ask(
        company, f'<CustomerAddRq requestID="1"><CustomerAdd>{content}</CustomerAdd></CustomerAddRq>', **options
    )  # fmt: skip


def add_order(company: Any, content: str) -> Any:
    return ask(company, f'<SalesOrderAddRq requestID="1"><SalesOrderAdd>{content}</SalesOrderAdd></SalesOrderAddRq>')[0]


def code(response: Any) -> str:
    return str(response.get("statusCode"))


LINE = "<SalesOrderLineAdd><ItemRef><FullName>Hardware</FullName></ItemRef><Quantity>4</Quantity></SalesOrderLineAdd>"


def test_a_customer_is_added_with_all_that_quickbooks_fills_in_and_can_be_queried() -> None:
    company = a_company()

    response = add_customer(
        company,
        "<Name>New &amp; Co</Name><IsActive>1</IsActive><CompanyName>New</CompanyName>"
        "<BillAddress><Addr1>1 Street</Addr1><City>Bayfield</City></BillAddress>"
        "<AdditionalContactRef><ContactName>Web</ContactName><ContactValue>example.com</ContactValue></AdditionalContactRef>"
        "<TermsRef><FullName>net 30</FullName></TermsRef><OpenBalance>12.50</OpenBalance>",
    )[0]

    customer = response.find("CustomerRet")
    assert code(response) == "0"
    assert [child.tag for child in customer] == [
        "ListID",
        "TimeCreated",
        "TimeModified",
        "EditSequence",
        "Name",
        "FullName",
        "IsActive",
        "Sublevel",
        "CompanyName",
        "BillAddress",
        "BillAddressBlock",
        "AdditionalContactRef",
        "TermsRef",
        "Balance",
        "TotalBalance",
        "SalesTaxCodeRef",
        "JobStatus",
        "PreferredDeliveryMethod",
    ]
    assert re.fullmatch(rf"80[0-9A-F]{{6}}-{NOW}", customer.findtext("ListID"))
    assert customer.findtext("TimeCreated") == "2026-09-21T09:13:20-05:00"
    assert customer.findtext("IsActive") == "true"
    assert customer.findtext("TermsRef/FullName") == "Net 30"
    assert customer.findtext("TotalBalance") == "12.50"
    query = ask(company, "<CustomerQueryRq><FullName>new &amp; co</FullName></CustomerQueryRq>")[0]
    assert query.findtext("CustomerRet/ListID") == customer.findtext("ListID")


def test_a_job_is_added_below_its_parent() -> None:
    company = a_company()
    add_customer(company, "<Name>Parent</Name>")

    job = add_customer(
        company, "<Name>Kitchen</Name><ParentRef><FullName>parent</FullName></ParentRef>"
    )[0].find("CustomerRet")  # fmt: skip

    assert (job.findtext("FullName"), job.findtext("Sublevel")) == ("Parent:Kitchen", "1")
    assert job.findtext("ParentRef/FullName") == "Parent"


def test_text_outside_windows_1252_is_returned_as_question_marks() -> None:
    response = add_customer(a_company(), "<Name>Caf&#233; &#8364; &#128512;&#21335;</Name>")[0]

    assert response.findtext("CustomerRet/Name") == "Café € ??"


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("<Name>TAKEN</Name>", "3100"),
        ("<Name>{vendor}</Name>", "3100"),
        ("<Name>A:B</Name>", "3210"),
        ("<Name></Name>", "3210"),
        (f"<Name>{'x' * 42}</Name>", "3070"),
        ("<Name>A</Name><ParentRef><FullName>nobody</FullName></ParentRef>", "3130"),
        ("<Name>A</Name><ParentRef><ListID>1-1</ListID></ParentRef>", "3130"),
        ("<Name>A</Name><TermsRef><FullName>Net 31</FullName></TermsRef>", "3140"),
        ("<Name>A</Name><TermsRef><ListID>1-1</ListID></TermsRef>", "3120"),
        ("<Name>A</Name><CurrencyRef><FullName>Euro</FullName></CurrencyRef>", "3250"),
        ("<Name>A</Name><CreditLimit>97.5</CreditLimit>", "3040"),
    ],
)
def test_customers_that_quickbooks_refuses(content: str, expected: str) -> None:
    company = a_company()
    add_customer(company, "<Name>Taken</Name>")
    vendor = next(iter(company.books["Vendor"])).full_name.encode("ascii", "xmlcharrefreplace").decode()
    before = len(company.books["Customer"])

    response = add_customer(company, content.replace("{vendor}", vendor))[0]

    assert (code(response), response.get("statusSeverity")) == (expected, "Error")
    assert len(response) == 0
    assert len(company.books["Customer"]) == before


def _pays_list_prices_without_tax(customer: dict[str, Any]) -> bool:
    return "ResaleNumber" in customer and "PriceLevelRef" not in customer


def test_a_sales_order_is_added_with_prices_from_the_items() -> None:
    company = a_company()
    customer = next(
        customer for customer in company.books["Customer"] if _pays_list_prices_without_tax(customer.fields)
    )

    response = add_order(
        company,
        f"<CustomerRef><ListID>{customer.id}</ListID></CustomerRef><PONumber>P-7</PONumber><Memo>Call first</Memo>"
        f"{LINE}<SalesOrderLineAdd><Desc>A note</Desc></SalesOrderLineAdd>"
        "<SalesOrderLineAdd><ItemRef><FullName>Consulting</FullName></ItemRef><Desc>By phone</Desc>"
        "<Quantity>1.5</Quantity><Rate>100</Rate></SalesOrderLineAdd>",
    )

    order = response.find("SalesOrderRet")
    assert code(response) == "0"
    assert order.findtext("CustomerRef/FullName") == customer.full_name
    assert (order.findtext("RefNumber"), order.findtext("TxnDate")) == ("SO-41", "2026-09-21")
    assert (order.findtext("PONumber"), order.findtext("Memo")) == ("P-7", "Call first")
    assert [line.findtext("Amount") for line in order.iter("SalesOrderLineRet")] == ["50.00", None, "150.00"]
    assert order.findtext("TotalAmount") == "200.00"
    tags = [child.tag for child in order]
    assert tags.index("PONumber") < tags.index("Subtotal") < tags.index("Memo") < tags.index("SalesOrderLineRet")
    number = ask(company, "<SalesOrderQueryRq><RefNumber>SO-41</RefNumber></SalesOrderQueryRq>")[0]
    assert number.findtext("SalesOrderRet/TxnID") == order.findtext("TxnID")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (f"<CustomerRef><FullName>nobody</FullName></CustomerRef>{LINE}", "3140"),
        (f"<CustomerRef><ListID>1-1</ListID></CustomerRef>{LINE}", "3120"),
        ("<CustomerRef>{reference}</CustomerRef>" + LINE.replace("Hardware", "Software"), "3140"),
        ("<CustomerRef>{reference}</CustomerRef><RefNumber>123456789012</RefNumber>" + LINE, "3070"),
        ("<CustomerRef>{reference}</CustomerRef><TxnDate>21.9.2026</TxnDate>" + LINE, "3020"),
        ("<CustomerRef>{reference}</CustomerRef>" + LINE.replace(">4<", ">four<"), "3060"),
        ("<CustomerRef>{reference}</CustomerRef>" + LINE.replace("</Quantity>", "</Quantity><Rate>x</Rate>"), "3045"),
    ],
)
def test_sales_orders_that_quickbooks_refuses(content: str, expected: str) -> None:
    company = a_company()
    reference = f"<ListID>{next(iter(company.books['Customer'])).id}</ListID>"

    response = add_order(company, content.replace("{reference}", reference))

    assert (code(response), response.get("statusSeverity")) == (expected, "Error")
    assert len(company.books["SalesOrder"]) == 40


@pytest.mark.parametrize(
    "content", [LINE, "<CustomerRef><FullName>A</FullName></CustomerRef>"], ids=["no customer", "no line"]
)
def test_a_sales_order_without_customer_or_lines_cannot_be_parsed(content: str) -> None:
    with pytest.raises(HresultError, match="0x80040400"):
        add_order(a_company(), content)


def test_a_repeated_element_of_an_add_is_stored_under_its_name_in_responses() -> None:
    company = a_company()

    customer = add_customer(
        company,
        "<Name>A</Name><ShipToAddress><Name>Dock</Name><Addr1>1 Quay</Addr1></ShipToAddress>"
        "<ShipToAddress><Name>Gate</Name></ShipToAddress>"
        "<Contacts><FirstName>Zo&#235;</FirstName><AdditionalContactRef><ContactName>Web</ContactName>"
        "<ContactValue>x</ContactValue></AdditionalContactRef></Contacts>"
        "<AdditionalNotes><Note>one</Note></AdditionalNotes><AdditionalNotes><Note>two</Note></AdditionalNotes>",
    )[0].find("CustomerRet")

    assert [address.findtext("Name") for address in customer.findall("ShipToAddress")] == ["Dock", "Gate"]
    assert [child.tag for child in customer.find("ContactsRet")] == [
        "ListID",
        "TimeCreated",
        "TimeModified",
        "EditSequence",
        "FirstName",
        "AdditionalContactRef",
    ]
    assert customer.findtext("ContactsRet/AdditionalContactRef/ContactValue") == "x"
    notes = [(note.findtext("NoteID"), note.findtext("Note")) for note in customer.findall("AdditionalNotesRet")]
    assert notes == [("1", "one"), ("2", "two")]


def test_custom_fields_of_lines_are_shown_to_their_owner() -> None:
    company = a_company()
    custom = (
        "<ClassRef><FullName>Retail</FullName></ClassRef><Other1>note</Other1>"
        "<DataExt><OwnerID>0</OwnerID><DataExtName>Color</DataExtName><DataExtValue>red</DataExtValue></DataExt>"
    )
    reference = f"<CustomerRef><ListID>{next(iter(company.books['Customer'])).id}</ListID></CustomerRef>"
    add_order(company, reference + LINE.replace("</SalesOrderLineAdd>", f"{custom}</SalesOrderLineAdd>"))

    def line(owner: str) -> Any:
        query = f"<RefNumber>SO-41</RefNumber><IncludeLineItems>true</IncludeLineItems>{owner}"
        return ask(company, f"<SalesOrderQueryRq>{query}</SalesOrderQueryRq>")[0].find(".//SalesOrderLineRet")

    assert line("<OwnerID>0</OwnerID>").findtext("DataExtRet/DataExtValue") == "red"
    plain = line("")
    assert plain.find("DataExtRet") is None
    tags = [child.tag for child in plain]
    assert tags.index("Rate") < tags.index("ClassRef") < tags.index("Amount") < tags.index("Other1")


BATCH = (
    '<CustomerAddRq requestID="1"><CustomerAdd><Name>A</Name></CustomerAdd></CustomerAddRq>'
    '<CustomerAddRq requestID="2"><CustomerAdd><Name>A</Name></CustomerAdd></CustomerAddRq>'
    '<CustomerQueryRq requestID="3"><FullName>A</FullName></CustomerQueryRq>'
)


@pytest.mark.parametrize(
    ("on_error", "codes"),
    [
        ("stopOnError", ["0", "3100", "3231"]),
        ("continueOnError", ["0", "3100", "0"]),
    ],
)
def test_requests_run_in_order_until_an_error_stops_them(on_error: str, codes: list[str]) -> None:
    company = a_company()

    response = ask(company, BATCH, on_error=on_error)

    assert [code(rs) for rs in response] == codes
    assert [rs.get("requestID") for rs in response] == ["1", "2", "3"]
    assert [execution.request_id for execution in company.executed] == [
        request_id for request_id, status in zip("123", codes, strict=True) if status != "3231"
    ]


def test_a_warning_stops_nothing() -> None:
    body = "<CustomerQueryRq><ListID>1-1</ListID></CustomerQueryRq><HostQueryRq/>"

    assert [code(rs) for rs in ask(a_company(), body, on_error="stopOnError")] == ["500", "0"]


def test_response_data_can_be_omitted() -> None:
    response = ask(a_company(), "<HostQueryRq/>", sets=' responseData="includeNone"')

    assert len(response[0]) == 0


def test_a_company_is_saved_and_loaded_whole(tmp_path: Path) -> None:
    company = a_company(name="Café & Co", standard_offset_in_summer=True, private_fields={"{1}": {"FileID": "{2}"}})
    recovery(company, ADD, new="A")
    company.begin_session("Simulator")

    company.save(tmp_path / "company.json")
    second = Company.load(tmp_path / "company.json", now=lambda: NOW)

    everything = document(
        "<CustomerQueryRq/><SalesOrderQueryRq/><InvoiceQueryRq/><VendorQueryRq/><ItemQueryRq/><CompanyQueryRq/>"
    )
    assert second.process_request(everything) == company.process_request(everything)
    assert recovery(second, new="A", old="A").get("messageSetStatusCode") == "0"
    assert second.private_fields == company.private_fields
    assert second.clock.standard_offset_in_summer
    assert [path.name for path in tmp_path.iterdir()] == ["company.json"]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("{}", "is not a company file of the simulator"),
        ("[]", "is not a company file of the simulator"),
        ("no json", "is not a company file of the simulator"),
        ('{"format": 2}', "has the format 2, and this version of the simulator reads the format 4"),
        ('{"format": 4}', "is damaged"),
    ],
)
def test_another_file_is_refused_with_a_remedy(tmp_path: Path, content: str, reason: str) -> None:
    path = tmp_path / "company.json"
    path.write_text(content)

    with pytest.raises(ValueError, match=reason) as caught:
        Company.load(path)

    assert "delete" in str(caught.value)


@pytest.mark.parametrize("hresult", ["0x80040414", "0x80040408", "0x80049999"])
def test_opening_fails_for_as_long_as_open_error_is_set(hresult: str) -> None:
    company = a_company(open_error=hresult)
    with pytest.raises(HresultError, match=hresult):
        company.begin_session("App")

    company.open_error = None

    assert code(ask(company.begin_session("App"), "<HostQueryRq/>")[0]) == "0"


def test_a_session_that_ended_answers_nothing() -> None:
    session = a_company().begin_session("App")
    session.end()

    with pytest.raises(HresultError, match="0x8004040D"):
        ask(session, "<HostQueryRq/>")


def test_time_zones_are_offsets_or_names() -> None:
    utc = a_company(time_zone="UTC")
    east = a_company(time_zone="+05:30")

    first_records = [next(iter(company.books.lists.values())) for company in (utc, east)]
    assert utc.clock.text(first_records[0].created) == "2024-01-02T09:00:00+00:00"
    assert east.clock.text(first_records[1].created) == "2024-01-02T14:30:00+05:30"
    with pytest.raises(ValueError, match="no such time zone"):
        a_company(time_zone="Mars/Olympus")


def test_the_observer_gets_one_event_for_each_request_with_its_label_and_result() -> None:
    events: list[RequestEvent] = []
    company = a_company()
    company.on_request = events.append

    add_customer(company, "<Name>Shop</Name>")
    add_customer(company, "<Name>Shop</Name>")
    ask(company, "<CustomerQueryRq><MaxReturned>3</MaxReturned></CustomerQueryRq>")

    assert [(event.name, event.label, event.status, event.summary) for event in events] == [
        ("CustomerAddRq", "Shop", 0, "OK"),
        ("CustomerAddRq", "Shop", 3100, "name in use"),
        ("CustomerQueryRq", "", 0, "3 records"),
    ]
    assert all(event.seconds >= 0 for event in events)


def test_a_macro_stands_for_the_transaction_that_an_earlier_request_of_the_message_set_added() -> None:
    company = a_company()
    customer = f"<CustomerRef><ListID>{next(iter(company.books['Customer'])).id}</ListID></CustomerRef>"
    line = LINE.replace("SalesOrder", "Invoice").replace("LineAdd>", 'LineAdd defMacro="TxnLineID:first">', 1)
    invoice = f'<InvoiceAddRq><InvoiceAdd defMacro="TxnID:new">{customer}{line}</InvoiceAdd></InvoiceAddRq>'
    cleared = (
        '<ClearedStatusModRq><ClearedStatusMod><TxnID useMacro="TxnID:new"/><TxnLineID useMacro="TxnLineID:first"/>'
        "<ClearedStatus>Cleared</ClearedStatus></ClearedStatusMod></ClearedStatusModRq>"
    )

    responses = ask(company, f"{invoice}{cleared}{invoice}")

    assert [code(response) for response in responses] == ["0", "0", "9101"]
    new_invoice = company.books.transactions[responses[0].findtext("InvoiceRet/TxnID")]
    assert [line["ClearedStatus"] for _, line in new_invoice.lines()] == ["Cleared"]
    assert code(ask(company, cleared)[0]) == "9100"


def test_an_inactive_object_or_one_of_another_creation_time_cannot_be_referred_to() -> None:
    company = a_company()
    inactive = next(customer for customer in company.books["Customer"] if not customer.is_active)
    active = next(customer for customer in company.books["Customer"] if customer.is_active)

    def add_for(list_id: str) -> str:
        return code(add_order(company, f"<CustomerRef><ListID>{list_id}</ListID></CustomerRef>{LINE}"))

    assert add_for(active.id) == "0"
    assert add_for(inactive.id) == "3140"
    assert add_for(f"{active.id.partition('-')[0]}-1") == "3240"


def test_a_list_has_five_levels() -> None:
    company = a_company()
    parent = ""
    for level in range(6):
        below = f"<ParentRef><FullName>{parent}</FullName></ParentRef>" if parent else ""
        response = add_customer(company, f"<Name>L{level}</Name>{below}")[0]
        parent = f"{parent}:L{level}".lstrip(":")

        assert code(response) == ("0" if level < 5 else "3210")


def test_a_bar_code_is_unique_unless_the_request_overrides_it() -> None:
    company = a_company()

    def add(name: str, switch: str = "") -> Any:
        item = f"<Name>{name}</Name><BarCode><BarCodeValue>4711</BarCodeValue>{switch}</BarCode>"
        item += "<SalesOrPurchase><AccountRef><FullName>Sales</FullName></AccountRef></SalesOrPurchase>"
        return ask(company, f"<ItemServiceAddRq><ItemServiceAdd>{item}</ItemServiceAdd></ItemServiceAddRq>")[0]

    assert add("First").findtext("ItemServiceRet/BarCodeValue") == "4711"
    assert code(add("Second")) == "3210"
    assert code(add("Second", "<AssignEvenIfUsed>true</AssignEvenIfUsed>")) == "0"
    rows = ask(company, "<BarCodeQueryRq><BarCodeValue>4711</BarCodeValue></BarCodeQueryRq>")[0]
    assert [row.findtext("FullName") for row in rows] == ["First", "Second"]


@pytest.mark.parametrize(
    ("request_name", "special", "kind", "name"),
    [
        ("SpecialAccountAdd", "PettyCash", "Account", "Petty Cash"),
        ("SpecialItemAdd", "FinanceCharge", "ItemOtherCharge", "Fin Chg"),
        ("SpecialItemAdd", "ReimbursableExpenseGroup", "ItemGroup", "Reimb Group"),
    ],
)
def test_a_special_account_or_item_is_added_once(request_name: str, special: str, kind: str, name: str) -> None:
    company = a_company()
    type_name = request_name.replace("Add", "Type")
    body = f"<{request_name}Rq><{request_name}><{type_name}>{special}</{type_name}></{request_name}></{request_name}Rq>"

    first, second = ask(company, body)[0], ask(company, body)[0]

    assert (first[0].tag, first[0].findtext("Name")) == (f"{kind}Ret", name)
    assert first[0].findtext(type_name) == special
    assert code(second) == "3100"


def test_a_transaction_above_ten_digits_is_refused_and_leaves_nothing_behind() -> None:
    company = a_company()
    customer = f"<CustomerRef><ListID>{next(iter(company.books['Customer'])).id}</ListID></CustomerRef>"

    response = add_order(company, customer + LINE.replace("</Quantity>", "</Quantity><Rate>9999999999.00</Rate>"))

    assert code(response) == "3210"
    assert len(company.books["SalesOrder"]) == 40
    assert company.books.last_txn_number == max(record.number for record in company.books.transactions.values())
