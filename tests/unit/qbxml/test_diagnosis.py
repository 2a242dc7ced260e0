"""Requests as integrations send them, valid and invalid: every problem has a helpful suggestion.

The mistakes were seen in published integrations; the requests are invented.
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
    """Return the last step of the path, the message and the suggestion of each problem."""
    return [_summary(problem) for problem in refusal(request_xml(body), version).problems]


def refusal(text: str, version: str = "13.0") -> InvalidRequest:
    with pytest.raises(InvalidRequest) as caught:
        parse_request_xml(text, version)
    return caught.value


def _summary(problem: Problem) -> tuple[str, str, str | None]:
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
                "<TxnDataExtType>Invoice</TxnDataExtType><TxnID>2-1</TxnID>"
                "<DataExtValue>7</DataExtValue></DataExtAdd></DataExtAddRq>"
            ),
        ),
        ("13.0", "<TxnDelRq><TxnDelType>JournalEntry</TxnDelType><TxnID>2-1</TxnID></TxnDelRq>"),
    ],
)
def test_requests_of_real_integrations_are_accepted(version: str, body: str) -> None:
    assert parse_request_xml(request_xml(body, ' onError = "continueOnError"'), version).version == version


def test_indented_xml_with_a_declared_encoding_is_accepted() -> None:
    text = (
        f'\n  <?xml version="1.0" encoding="ISO-8859-1"?>\n <?qbxml version="7.0"?>\n {request_xml("<HostQueryRq/>")}'
    )

    assert parse_request_xml(text).version == "7.0"


def test_two_swapped_elements_are_one_problem() -> None:
    body = "<TxnVoidRq><TxnID>2-1</TxnID><TxnVoidType>Invoice</TxnVoidType></TxnVoidRq>"

    assert problems_of(body) == [
        (
            "TxnVoidType",
            "TxnVoidType is out of order. QBXML fixes the order of elements.",
            "Move TxnVoidType before TxnID.",
        )
    ]


def test_an_element_that_is_too_early_is_one_problem() -> None:
    contact = "<Email>a@example.com</Email><Phone>1</Phone><AltPhone>2</AltPhone><Fax>3</Fax>"
    body = f"<CustomerAddRq><CustomerAdd><Name>Ann</Name>{contact}</CustomerAdd></CustomerAddRq>"

    assert problems_of(body) == [
        ("Email", "Email is out of order. QBXML fixes the order of elements.", "Move Email after Fax.")
    ]


def test_an_element_that_is_too_late_is_moved_before_the_first_that_follows_it() -> None:
    header = "<PONumber>1</PONumber><DueDate>2026-01-31</DueDate><Memo>a</Memo>"
    body = f"<InvoiceAddRq><InvoiceAdd>{CUSTOMER}{header}<TxnDate>2026-01-01</TxnDate></InvoiceAdd></InvoiceAddRq>"

    assert problems_of(body) == [
        ("TxnDate", "TxnDate is out of order. QBXML fixes the order of elements.", "Move TxnDate before PONumber.")
    ]


def test_each_of_several_misplaced_elements_has_a_suggestion() -> None:
    names = ["Name", "Notes", "CompanyName", "Fax", "Phone", "IsActive"]
    children = "".join(f"<{name}>{'true' if name == 'IsActive' else 'a'}</{name}>" for name in names)

    problems = problems_of(f"<CustomerAddRq><CustomerAdd>{children}</CustomerAdd></CustomerAddRq>")

    assert [(name, suggestion) for name, _, suggestion in problems] == [
        ("Notes", "Move Notes after Fax."),
        ("Phone", "Move Phone before Fax."),
        ("IsActive", "Move IsActive before CompanyName."),
    ]


MEMBERS = ("Name", "CompanyName", "FirstName", "LastName", "Phone", "Fax", "Email", "Contact", "Notes")


@given(st.permutations(MEMBERS))
def test_following_the_suggestions_leads_to_a_valid_order(names: list[str]) -> None:
    for _ in range(len(MEMBERS)):
        children = "".join(f"<{name}>a</{name}>" for name in names)
        text = request_xml(f"<CustomerAddRq><CustomerAdd>{children}</CustomerAdd></CustomerAddRq>")
        try:
            parse_request_xml(text)
        except InvalidRequest as refused:
            _, _, suggestion = _summary(refused.problems[0])
            _, name, direction, neighbor = str(suggestion).rstrip(".").split()
            names.remove(name)
            names.insert(names.index(neighbor) + (direction == "after"), name)
        else:
            break

    assert tuple(names) == MEMBERS


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        # An aggregate of another kind of item.
        (
            (
                "<ItemInventoryAddRq><ItemInventoryAdd><Name>a</Name><SalesOrPurchase><SalesPrice>2</SalesPrice>"
                "<PurchaseCost>1</PurchaseCost></SalesOrPurchase></ItemInventoryAdd></ItemInventoryAddRq>"
            ),
            [
                (
                    "SalesOrPurchase",
                    "SalesOrPurchase is not an element of ItemInventoryAdd.",
                    "Write SalesPrice and PurchaseCost without SalesOrPurchase around it.",
                )
            ],
        ),
        # Elements of the Add request only, or of the Mod request only.
        (
            (
                "<ItemInventoryModRq><ItemInventoryMod><ListID>8-1</ListID><EditSequence>1</EditSequence>"
                "<QuantityOnHand>4</QuantityOnHand></ItemInventoryMod></ItemInventoryModRq>"
            ),
            [
                (
                    "QuantityOnHand",
                    "QuantityOnHand is not an element of ItemInventoryMod.",
                    "Only ItemInventoryAddRq has it.",
                )
            ],
        ),
        (
            f"<BillAddRq><BillAdd>{VENDOR}<ClearItemLines>true</ClearItemLines></BillAdd></BillAddRq>",
            [("ClearItemLines", "ClearItemLines is not an element of BillAdd.", "Only BillModRq has it.")],
        ),
        # An element at the wrong level.
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
                    "InventorySiteRef is not an element of InventoryAdjustmentLineAdd.",
                    "It belongs in InventoryAdjustmentAdd.",
                )
            ],
        ),
        # Names of the former online edition, of other requests and of older versions.
        (
            "<CustomerQueryRq><CurrencyFilter><FullyQualifiedName>a</FullyQualifiedName></CurrencyFilter></CustomerQueryRq>",
            [
                (
                    "FullyQualifiedName",
                    "FullyQualifiedName is not an element of CurrencyFilter.",
                    "Did you mean FullName?",
                ),
            ],
        ),
        (
            "<VendorCreditQueryRq><CurrencyFilter><ListID>8-1</ListID><Code>a</Code></CurrencyFilter></VendorCreditQueryRq>",
            [("Code", "Code is not an element of CurrencyFilter.", "CurrencyFilter can contain ListID or FullName.")],
        ),
        (
            (
                "<DataExtAddRq><DataExtAdd><OwnerID>0</OwnerID><DataExtName>a</DataExtName><TxnType>Invoice</TxnType>"
                "<TxnID>2-1</TxnID><DataExtValue>a</DataExtValue></DataExtAdd></DataExtAddRq>"
            ),
            [("TxnType", "TxnType is not an element of DataExtAdd.", "Did you mean TxnDataExtType?")],
        ),
        (
            (
                "<TimeTrackingAddRq><TimeTrackingAdd><EntityRef><FullName>Ann</FullName></EntityRef>"
                "<Duration>8:30</Duration><IsBillable>0</IsBillable></TimeTrackingAdd></TimeTrackingAddRq>"
            ),
            [
                ("Duration", "Duration must be a time interval, such as PT8H30M0S, not '8:30'.", "Write PT8H30M0S."),
                ("IsBillable", "IsBillable is not an element of TimeTrackingAdd.", "Did you mean BillableStatus?"),
            ],
        ),
        (
            "<JournalEntryAddRq><JournalEntryAdd><JournalDebitLineAdd/></JournalEntryAdd></JournalEntryAddRq>",
            [
                (
                    "JournalDebitLineAdd",
                    "JournalDebitLineAdd is not an element of JournalEntryAdd.",
                    "Did you mean JournalDebitLine?",
                )
            ],
        ),
        # A text that is too long.
        (
            f"<InvoiceAddRq><InvoiceAdd>{CUSTOMER}<RefNumber>WEB-202601-0001</RefNumber></InvoiceAdd></InvoiceAddRq>",
            [("RefNumber", "RefNumber has 15 characters; at most 11 are allowed.", "Shorten it by 4.")],
        ),
        # Attributes of the request on a nested element, and of queries on another request.
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
def test_an_unknown_element_or_attribute_is_explained(body: str, expected: list[tuple[str, str, str | None]]) -> None:
    assert problems_of(body) == expected


def test_in_a_newer_version_an_unknown_element_may_be_the_missing_one() -> None:
    def problems(line: str) -> list[tuple[str, str, str | None]]:
        body = f"<JournalEntryAddRq><JournalEntryAdd><{line}/></JournalEntryAdd></JournalEntryAddRq>"
        return problems_of(body, "16.0")

    assert problems("JournalDebitLineAdd") == [
        (
            "JournalDebitLineAdd",
            "JournalDebitLineAdd is not an element of JournalEntryAdd.",
            "Did you mean JournalDebitLine?",
        )
    ]
    assert problems("JournalDebitEntry") == [
        (
            "JournalEntryAdd",
            "JournalEntryAdd requires JournalDebitLine.",
            "Did you mean JournalDebitLine by JournalDebitEntry?",
        )
    ]


def test_a_time_interval_is_converted_in_json() -> None:
    entity = {"name": "EntityRef", "children": [{"name": "FullName", "text": "Ann"}]}
    tracking = {"name": "TimeTrackingAdd", "children": [entity, {"name": "Duration", "text": "08:05"}]}

    request = parse_request_json({"request": {"name": "TimeTrackingAddRq", "children": [tracking]}})

    assert "<Duration>PT8H5M0S</Duration>" in request.to_xml()


@pytest.mark.parametrize(
    ("text", "suggestion"),
    [
        (request_xml("<AQueryRq/><BQueryRq/>"), "Queue each request separately"),
        ('<QBXMLMsgsRq onError="stopOnError"><HostQueryRq/></QBXMLMsgsRq>', "Write <QBXML> around it."),
        ("<HostQueryRq/>", "<HostQueryRq>…</HostQueryRq>"),
        ("<QBXML/>", "<CustomerQueryRq>…</CustomerQueryRq>"),
        ("<QBXML><QBXMLMsgsRq/><QBXMLMsgsRq/></QBXML>", "Queue each request separately"),
    ],
)
def test_the_suggestion_for_a_wrong_envelope_shows_how_to_write_it(text: str, suggestion: str) -> None:
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
        ("a&nbsp;b", "XML has no entity &nbsp;. Write the character itself."),
        ("a</Nam>", "Close Name with </Name>."),
        ("&#0;", None),
        ("a &amp; ]]>", None),
    ],
)
def test_malformed_xml_has_a_suggestion(name: str, suggestion: str | None) -> None:
    text = request_xml(f"<CustomerAddRq>\n<CustomerAdd><Name>{name}</Name></CustomerAdd></CustomerAddRq>")

    (problem,) = refusal(text).problems

    assert problem.message.startswith("The XML is malformed")
    assert (problem.line, problem.suggestion) == (2, suggestion)


@pytest.mark.parametrize(
    ("text", "wrong", "suggestion"),
    [
        (" \n", "it is empty", "Write <QBXML>"),
        ('{"CustomerQueryRq": {}}', "it begins with '{', not with <", "Send JSON as request_json."),
        ("CustomerQueryRq", "it begins with 'C', not with <", "Write <QBXML>"),
        ('<?xml version="1.0"?>', "it has no element", "Write <QBXML>"),
        ("<QBXML/><QBXML/>", "'<QBXML/>' follows the end of the first element", "Queue others separately."),
        ("<QBXML/>;", "';' follows the end of the first element", "Remove it."),
        ("<QBXML><a></b></QBXML>", "</b> does not close a", "Close a with </a>."),
        ("<QBXML><a b=1/></QBXML>", "the value of b is not in quotation marks", 'Write b="…".'),
        ("<QBXML>\x01</QBXML>", "'\\x01' is not allowed here", "None"),
    ],
)
def test_malformed_xml_is_explained(text: str, wrong: str, suggestion: str) -> None:
    (problem,) = refusal(text).problems

    assert problem.message == f"The XML is malformed: {wrong}."
    assert suggestion in str(problem.suggestion)


@given(end=st.integers(0, len(request_xml("<CustomerQueryRq iterator='Start'><MaxReturned>2</MaxReturned>")) + 17))
def test_xml_that_is_cut_off_says_what_has_no_end(end: int) -> None:
    """Wherever it is cut, no message of the parser reaches the caller."""
    text = request_xml("<CustomerQueryRq iterator='Start'><MaxReturned>2</MaxReturned></CustomerQueryRq>")
    if end >= len(text.rstrip()):
        return

    (problem,) = refusal(text[:end]).problems

    assert problem.message.endswith(("is not closed.", "has no end.", "it has no element.", "it is empty."))
