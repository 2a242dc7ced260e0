"""Whether QuickBooks returned an object as a request described it."""

from __future__ import annotations

from domain.qbxml.xml.parser import parse_tree
from domain.settling.equality import is_of, may_be_of, states_customer_and_total
from tests.support.cases import for_each

LINE = "<InvoiceLineAdd><ItemRef><FullName>Work</FullName></ItemRef><Amount>10.00</Amount></InvoiceLineAdd>"
SENT = (
    "<CustomerRef><FullName>Ada</FullName></CustomerRef><RefNumber>7</RefNumber><IsToBePrinted>1</IsToBePrinted>"
    f"<ShipAddress><City>Berlin</City></ShipAddress>{LINE}"
)
RETURNED = (
    "<TxnID>1-1</TxnID><CustomerRef><ListID>8-1</ListID><FullName>ADA</FullName></CustomerRef><RefNumber>7</RefNumber>"
    "<IsToBePrinted>true</IsToBePrinted><ShipAddress><City>Berlin</City><State>BE</State></ShipAddress>"
    "<InvoiceLineRet><TxnLineID>1-2</TxnLineID><ItemRef><FullName>Work</FullName></ItemRef><Amount>10</Amount>"
    "</InvoiceLineRet>"
)
SECOND_LINE = "<InvoiceLineRet><Amount>1.00</Amount></InvoiceLineRet>"

CASES: tuple[tuple[str, str, bool, bool], ...] = (
    ("", "", True, True),
    ("<RefNumber>7</RefNumber>", "<RefNumber>8</RefNumber>", False, False),
    ("<RefNumber>7</RefNumber>", "<RefNumber>07</RefNumber>", False, False),
    ("<RefNumber>7</RefNumber>", "", False, True),
    ("<FullName>ADA</FullName>", "<FullName>Bo</FullName>", False, False),
    ("<FullName>ADA</FullName>", "", False, True),
    ("<IsToBePrinted>true</IsToBePrinted>", "<IsToBePrinted>false</IsToBePrinted>", False, False),
    ("<City>Berlin</City>", "<City>Bonn</City>", False, False),
    ("<Amount>10</Amount>", "<Amount>10.01</Amount>", False, False),
    ("<Amount>10</Amount>", "<Amount>10.000</Amount>", True, True),
    ("<Amount>10</Amount>", "<Amount>ten</Amount>", False, False),
    ("</InvoiceLineRet>", f"</InvoiceLineRet>{SECOND_LINE}", False, False),
    ("</InvoiceLineRet>", "</InvoiceLineRet><DiscountLineRet><Amount>1.00</Amount></DiscountLineRet>", False, True),
)
"""What differs in the returned object, whether it is then that of the request, and whether it may be."""


@for_each(("former", "text", "equal", "possible"), CASES)
def test_only_an_object_that_was_returned_as_it_was_sent_is_that_of_the_request(
    former: str, text: str, *, equal: bool, possible: bool
) -> None:
    sent = parse_tree(f"<InvoiceAdd>{SENT}</InvoiceAdd>")
    returned = parse_tree(f"<InvoiceRet>{RETURNED.replace(former, text, 1)}</InvoiceRet>")

    assert is_of(sent, returned) is equal
    assert may_be_of(sent, returned) is possible


def test_a_reference_by_id_is_compared_by_id() -> None:
    returned = parse_tree(f"<InvoiceRet>{RETURNED}</InvoiceRet>")
    for list_id, expected in (("8-1", True), ("8-2", False)):
        sent = parse_tree(f"<InvoiceAdd><CustomerRef><ListID>{list_id}</ListID></CustomerRef>{LINE}</InvoiceAdd>")
        assert is_of(sent, returned) is expected


JOURNAL = "<JournalDebitLine><AccountRef><FullName>Cash</FullName></AccountRef><Amount>5.00</Amount></JournalDebitLine>"
TOTALS = (
    (SENT, True),
    (SENT.replace("<Amount>10.00</Amount>", ""), False),
    (SENT.replace("<Amount>10.00</Amount>", "<Rate>5</Rate>"), True),
    (LINE, False),
    ("<CustomerRef><FullName>Ada</FullName></CustomerRef><TotalAmount>5.00</TotalAmount>", True),
    ("<CustomerRef></CustomerRef><TotalAmount>5.00</TotalAmount>", False),
    ("<CustomerRef><ListID>8-1</ListID></CustomerRef>", False),
    (JOURNAL, False),
)
"""The fields of a transaction, and whether they state its customer and its total."""


@for_each(("fields", "expected"), TOTALS)
def test_a_transaction_states_its_customer_and_its_total(fields: str, *, expected: bool) -> None:
    assert states_customer_and_total(parse_tree(f"<InvoiceAdd>{fields}</InvoiceAdd>")) is expected
