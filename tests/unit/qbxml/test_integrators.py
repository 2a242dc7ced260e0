"""The kinds of requests that integrations send, right and wrong: each answer helps who reads it.

The habits were seen in published integrations; the requests are made up.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.errors import InvalidRequest, Problem
from domain.qbxml import parse_request_json, parse_request_xml
from tests.support.qbxml_samples import request_xml

CUSTOMER = "<CustomerRef><FullName>Ann</FullName></CustomerRef>"
VENDOR = "<VendorRef><FullName>Tin and Co</FullName></VendorRef>"
DEBIT = "<JournalDebitLine><AccountRef><FullName>Rent</FullName></AccountRef><Amount>9.00</Amount></JournalDebitLine>"


def problems_of(body: str, version: str = "13.0") -> list[tuple[str, str, str | None]]:
    """Return what is said of a request: the end of the path, the message and the suggestion."""
    return [_said(problem) for problem in refusal(request_xml(body), version).problems]


def refusal(text: str, version: str = "13.0") -> InvalidRequest:
    with pytest.raises(InvalidRequest) as raised:
        parse_request_xml(text, version)
    return raised.value


def _said(problem: Problem) -> tuple[str, str, str | None]:
    return (problem.path or "").rpartition("/")[2], problem.message, problem.suggestion


@pytest.mark.parametrize(
    ("version", "body"),
    [
        (
            "13.0",
            '<InvoiceQueryRq  iterator="Start"   requestID = "5"><MaxReturned >25</MaxReturned ></InvoiceQueryRq >',
        ),
        ("16.0", "<TermsQueryRq>\n\t\t</TermsQueryRq>"),
        (
            "2.0",
            "<CustomerAddRq><CustomerAdd><Name>Ann</Name><Phone>1</Phone><Fax></Fax></CustomerAdd></CustomerAddRq>",
        ),
        ("7.0", f'<InvoiceAddRq><InvoiceAdd defMacro="TxnID:1">{CUSTOMER}<Memo/></InvoiceAdd></InvoiceAddRq>'),
        ("8.0", f"<InvoiceAddRq><InvoiceAdd>{CUSTOMER}<IsToBePrinted>0</IsToBePrinted></InvoiceAdd></InvoiceAddRq>"),
        ("4.0", f"<BillAddRq><BillAdd>{VENDOR}<LinkToTxnID>2-1</LinkToTxnID></BillAdd></BillAddRq>"),
        ("13.0", f"<JournalEntryAddRq><JournalEntryAdd><Memo>a</Memo>{DEBIT}</JournalEntryAdd></JournalEntryAddRq>"),
        (
            "13.0",
            (
                "<SalesOrderModRq><SalesOrderMod><TxnID>2-1</TxnID><EditSequence>7</EditSequence><SalesOrderLineMod>"
                "<TxnLineID>-1</TxnLineID><Amount>2.80</Amount></SalesOrderLineMod></SalesOrderMod></SalesOrderModRq>"
            ),
        ),
        (
            "13.0",
            (
                "<DataExtAddRq><DataExtAdd><OwnerID>0</OwnerID><DataExtName>web</DataExtName>"
                '<TxnDataExtType>Invoice</TxnDataExtType><TxnID useMacro="TxnID:1"/>'
                "<DataExtValue>7</DataExtValue></DataExtAdd></DataExtAddRq>"
            ),
        ),
        ("13.0", "<TxnDelRq><TxnDelType>JournalEntry</TxnDelType><TxnID>2-1</TxnID></TxnDelRq>"),
    ],
)
def test_requests_as_integrations_write_them_are_accepted(version: str, body: str) -> None:
    assert parse_request_xml(request_xml(body, ' onError = "continueOnError"'), version).version == version


def test_an_indented_text_with_a_declared_encoding_is_accepted() -> None:
    text = (
        f'\n  <?xml version="1.0" encoding="ISO-8859-1"?>\n <?qbxml version="7.0"?>\n {request_xml("<HostQueryRq/>")}'
    )

    assert parse_request_xml(text).version == "7.0"


def test_two_that_changed_places_are_one_problem() -> None:
    body = "<TxnVoidRq><TxnID>2-1</TxnID><TxnVoidType>Invoice</TxnVoidType></TxnVoidRq>"

    assert problems_of(body) == [
        (
            "TxnVoidType",
            "TxnVoidType stands too late: the order of elements is fixed.",
            "TxnID comes after TxnVoidType.",
        )
    ]


def test_one_that_stands_too_early_is_one_problem_and_not_one_for_each_that_follows() -> None:
    contact = "<Email>a@example.com</Email><Phone>1</Phone><AltPhone>2</AltPhone><Fax>3</Fax>"
    body = f"<CustomerAddRq><CustomerAdd><Name>Ann</Name>{contact}</CustomerAdd></CustomerAddRq>"

    assert problems_of(body) == [
        ("Email", "Email stands too early: the order of elements is fixed.", "Email comes after Fax.")
    ]


def test_one_that_stands_too_late_is_told_the_first_that_comes_after_it() -> None:
    header = "<PONumber>1</PONumber><DueDate>2026-01-31</DueDate><Memo>a</Memo>"
    body = f"<InvoiceAddRq><InvoiceAdd>{CUSTOMER}{header}<TxnDate>2026-01-01</TxnDate></InvoiceAdd></InvoiceAddRq>"

    assert problems_of(body) == [
        ("TxnDate", "TxnDate stands too late: the order of elements is fixed.", "PONumber comes after TxnDate.")
    ]


def test_each_of_several_out_of_order_is_told_its_place() -> None:
    names = ["Name", "Notes", "CompanyName", "Fax", "Phone", "IsActive"]
    children = "".join(f"<{name}>{'true' if name == 'IsActive' else 'a'}</{name}>" for name in names)

    said = problems_of(f"<CustomerAddRq><CustomerAdd>{children}</CustomerAdd></CustomerAddRq>")

    assert [(name, suggestion) for name, _, suggestion in said] == [
        ("Notes", "Notes comes after Fax."),
        ("Phone", "Fax comes after Phone."),
        ("IsActive", "CompanyName comes after IsActive."),
    ]


MEMBERS = ("Name", "CompanyName", "FirstName", "LastName", "Phone", "Fax", "Email", "Contact", "Notes")


@given(st.permutations(MEMBERS))
def test_who_does_what_the_first_problem_says_again_and_again_gets_there(names: list[str]) -> None:
    for _ in range(len(MEMBERS)):
        children = "".join(f"<{name}>a</{name}>" for name in names)
        text = request_xml(f"<CustomerAddRq><CustomerAdd>{children}</CustomerAdd></CustomerAddRq>")
        try:
            parse_request_xml(text)
        except InvalidRequest as refused:
            name, message, suggestion = _said(refused.problems[0])
            after, _, before = str(suggestion).rstrip(".").partition(" comes after ")
            assert name == (before if "too late" in message else after)
            names.remove(name)
            names.insert(names.index(after) if name == before else names.index(before) + 1, name)
        else:
            break

    assert tuple(names) == MEMBERS


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        # A wrapper of another kind of item.
        (
            (
                "<ItemInventoryAddRq><ItemInventoryAdd><Name>a</Name><SalesOrPurchase><SalesPrice>2</SalesPrice>"
                "<PurchaseCost>1</PurchaseCost></SalesOrPurchase></ItemInventoryAdd></ItemInventoryAddRq>"
            ),
            [
                (
                    "SalesOrPurchase",
                    "ItemInventoryAdd has no child SalesOrPurchase.",
                    "Write SalesPrice and PurchaseCost without SalesOrPurchase around.",
                )
            ],
        ),
        # What can be given, but not changed, and the other way round.
        (
            (
                "<ItemInventoryModRq><ItemInventoryMod><ListID>8-1</ListID><EditSequence>1</EditSequence>"
                "<QuantityOnHand>4</QuantityOnHand></ItemInventoryMod></ItemInventoryModRq>"
            ),
            [("QuantityOnHand", "ItemInventoryMod has no child QuantityOnHand.", "Only ItemInventoryAddRq has it.")],
        ),
        (
            f"<BillAddRq><BillAdd>{VENDOR}<ClearItemLines>true</ClearItemLines></BillAdd></BillAddRq>",
            [("ClearItemLines", "BillAdd has no child ClearItemLines.", "Only BillModRq has it.")],
        ),
        # One level too deep or not deep enough.
        (
            (
                "<InventoryAdjustmentAddRq><InventoryAdjustmentAdd><AccountRef><FullName>a</FullName></AccountRef>"
                "<InventoryAdjustmentLineAdd><ItemRef><FullName>a</FullName></ItemRef><InventorySiteRef>"
                "<FullName>a</FullName></InventorySiteRef><QuantityAdjustment><NewQuantity>1</NewQuantity>"
                "</QuantityAdjustment></InventoryAdjustmentLineAdd></InventoryAdjustmentAdd></InventoryAdjustmentAddRq>"
            ),
            [
                (
                    "InventorySiteRef",
                    "InventoryAdjustmentLineAdd has no child InventorySiteRef.",
                    "It belongs into InventoryAdjustmentAdd.",
                )
            ],
        ),
        # Names of the online edition, of other requests, of former versions.
        (
            "<CustomerQueryRq><CurrencyFilter><FullyQualifiedName>a</FullyQualifiedName></CurrencyFilter></CustomerQueryRq>",
            [
                ("FullyQualifiedName", "CurrencyFilter has no child FullyQualifiedName.", "Did you mean FullName?"),
            ],
        ),
        (
            "<VendorCreditQueryRq><CurrencyFilter><ListID>8-1</ListID><Code>a</Code></CurrencyFilter></VendorCreditQueryRq>",
            [("Code", "CurrencyFilter has no child Code.", "It holds ListID or FullName.")],
        ),
        (
            (
                "<DataExtAddRq><DataExtAdd><OwnerID>0</OwnerID><DataExtName>a</DataExtName><TxnType>Invoice</TxnType>"
                "<TxnID>2-1</TxnID><DataExtValue>a</DataExtValue></DataExtAdd></DataExtAddRq>"
            ),
            [("TxnType", "DataExtAdd has no child TxnType.", "Did you mean TxnDataExtType?")],
        ),
        (
            (
                "<TimeTrackingAddRq><TimeTrackingAdd><EntityRef><FullName>Ann</FullName></EntityRef>"
                "<Duration>8:30</Duration><IsBillable>0</IsBillable></TimeTrackingAdd></TimeTrackingAddRq>"
            ),
            [
                ("Duration", "Duration is a time interval, like PT8H30M0S; not '8:30'.", "Write PT8H30M0S."),
                ("IsBillable", "TimeTrackingAdd has no child IsBillable.", "Did you mean BillableStatus?"),
            ],
        ),
        (
            "<JournalEntryAddRq><JournalEntryAdd><JournalDebitLineAdd/></JournalEntryAdd></JournalEntryAddRq>",
            [
                (
                    "JournalDebitLineAdd",
                    "JournalEntryAdd has no child JournalDebitLineAdd.",
                    "Did you mean JournalDebitLine?",
                )
            ],
        ),
        # What may not be shortened without knowing what it is.
        (
            f"<InvoiceAddRq><InvoiceAdd>{CUSTOMER}<RefNumber>WEB-202601-0001</RefNumber></InvoiceAdd></InvoiceAddRq>",
            [("RefNumber", "RefNumber has at most 11 characters; here are 15.", "Shorten it by 4.")],
        ),
        # Attributes of the request on something in it, and of queries on others.
        (
            '<CustomerQueryRq><OwnerID requestID="1">0</OwnerID></CustomerQueryRq>',
            [("@requestID", "OwnerID has no attribute requestID.", "It belongs to CustomerQueryRq.")],
        ),
        (
            '<CustomerAddRq iterator="Start"><CustomerAdd><Name>a</Name></CustomerAdd></CustomerAddRq>',
            [("@iterator", "CustomerAddRq has no attribute iterator.", "Remove iterator.")],
        ),
    ],
)
def test_what_is_not_known_here_is_told_its_place_or_its_name(
    body: str, expected: list[tuple[str, str, str | None]]
) -> None:
    assert problems_of(body) == expected


def test_in_a_newer_version_what_is_missing_may_be_what_is_unknown() -> None:
    body = "<JournalEntryAddRq><JournalEntryAdd><JournalDebitLineAdd/></JournalEntryAdd></JournalEntryAddRq>"

    assert problems_of(body, "16.0") == [
        ("JournalEntryAdd", "JournalEntryAdd needs JournalDebitLine.", "Did you mean it by JournalDebitLineAdd?")
    ]


def test_a_time_interval_is_converted_in_json() -> None:
    entity = {"name": "EntityRef", "children": [{"name": "FullName", "text": "Ann"}]}
    tracking = {"name": "TimeTrackingAdd", "children": [entity, {"name": "Duration", "text": "08:05"}]}

    request = parse_request_json({"request": {"name": "TimeTrackingAddRq", "children": [tracking]}})

    assert "<Duration>PT8H5M0S</Duration>" in request.to_xml()


@pytest.mark.parametrize(
    ("text", "suggestion"),
    [
        (request_xml("<AQueryRq/><BQueryRq/>"), "Queue each request by itself"),
        ('<QBXMLMsgsRq onError="stopOnError"><HostQueryRq/></QBXMLMsgsRq>', "Write <QBXML> around it."),
        ("<HostQueryRq/>", "<HostQueryRq>…</HostQueryRq>"),
        ("<QBXML/>", "<CustomerQueryRq>…</CustomerQueryRq>"),
        ("<QBXML><QBXMLMsgsRq/><QBXMLMsgsRq/></QBXML>", "Queue each request by itself"),
    ],
)
def test_a_wrong_envelope_is_told_how_it_is_written(text: str, suggestion: str) -> None:
    (problem,) = refusal(text).problems

    assert suggestion in str(problem.suggestion)


@pytest.mark.parametrize(
    ("name", "suggestion"),
    [
        ("Ann & Bob", "Write & as &amp;."),
        ("AT&T", "Write & as &amp;."),
        ("Zoë & Bob", "Write & as &amp;."),
        ("Ann &amp Bob", "Write & as &amp;."),
        ("a < b", "Write < as &lt;."),
        ("a&nbsp;b", "XML does not know &nbsp;. Write the character itself."),
        ("a</Nam>", "Close Name with </Name>."),
        ("&#0;", None),
        ("a &amp; ]]>", None),
    ],
)
def test_malformed_text_is_told_how_to_mend_it(name: str, suggestion: str | None) -> None:
    text = request_xml(f"<CustomerAddRq>\n<CustomerAdd><Name>{name}</Name></CustomerAdd></CustomerAddRq>")

    (problem,) = refusal(text).problems

    assert problem.message.startswith("The XML is malformed")
    assert (problem.line, problem.suggestion) == (2, suggestion)
