"""The queries that settle a write: one table for all types of QBXML."""

from __future__ import annotations

import pytest

from domain import qbxml
from domain.qbxml.schema.content_models import elements_of
from domain.qbxml.schema.facts import request_facts, request_names
from domain.settling.queries import QueryRole, settling_queries
from tests.support.builders import NOON
from tests.support.cases import for_each
from tests.support.qbxml_samples import request_xml

VERSION = "16.0"
SINCE = "2026-03-13T12:00:00+00:00"


def write(body: str) -> qbxml.Request:
    return qbxml.stored_request(request_xml(body), VERSION)


def queries(body: str) -> list[tuple[str, set[QueryRole]]]:
    """Return the text of each query, and its roles."""
    return [
        (query.request.to_xml().split(">", 2)[2].removesuffix("</QBXMLMsgsRq></QBXML>"), set(query.roles))
        for query in settling_queries(write(body), NOON)
    ]


def fullest(name: str) -> str:
    """Return a write with every element that its queries use."""
    kind = name.removesuffix("Rq")
    if kind in {"TxnDel", "TxnVoid"}:
        return f"<{name}><{kind}Type>Invoice</{kind}Type><TxnID>1-1</TxnID></{name}>"
    if kind in {"ListDel", "ListMerge"}:
        ids = "<ListID>8-1</ListID><MergeFrom><ListID>8-1</ListID></MergeFrom>"
        return f"<{name}><{kind}Type>Vendor</{kind}Type>{ids}</{name}>"
    facts = request_facts(name)
    assert facts
    inner = next((element[2] for element in elements_of(facts["content"]) if element[0] == kind), None)
    names = [element[0] for element in elements_of(facts["types"][inner])] if isinstance(inner, int) else []
    wanted = ("Name", "RefNumber", "ListID", "TxnID", "EditSequence")
    fields = "".join(f"<{one}>{one}</{one}>" for one in wanted if one in names)
    return f"<{name}><{kind}>{fields}</{kind}></{name}>"


WRITES = sorted(name for name in request_names() if not name.endswith("QueryRq"))
WITHOUT_QUERY = {
    "ClearedStatusModRq",
    "DataEventRecoveryInfoDelRq",
    "DataExtAddRq",
    "DataExtDefAddRq",
    "DataExtDefDelRq",
    "DataExtDefModRq",
    "DataExtDelRq",
    "DataExtModRq",
    "Form1099CategoryAccountMappingModRq",
    "ListDisplayAddRq",
    "ListDisplayModRq",
    "SpecialAccountAddRq",
    "SpecialItemAddRq",
    "TxnDisplayAddRq",
    "TxnDisplayModRq",
}
"""QuickBooks has no query for these, or none that tells one from another."""


def test_every_write_has_queries_that_are_valid_qbxml() -> None:
    without = set()
    for name in WRITES:
        planned = settling_queries(write(fullest(name)), NOON)
        if not planned:
            without.add(name)
        for query in planned:
            text = f'<?xml version="1.0"?><?qbxml version="{VERSION}"?>{query.request.to_xml()}'
            assert qbxml.parse_request_xml(text).name == query.request.name
            assert query.request.is_read
        if name.endswith("AddRq") and planned:
            assert [role for query in planned for role in sorted(query.roles)].count(QueryRole.FOUND) == 1
    assert without == WITHOUT_QUERY


def test_every_addition_of_a_type_whose_deletions_quickbooks_keeps_asks_for_them_last() -> None:
    for name in WRITES:
        planned = settling_queries(write(fullest(name)), NOON)
        roles = [role for query in planned for role in query.roles]
        assert roles.count(QueryRole.DELETED) <= 1
        if QueryRole.DELETED in roles:
            assert planned[-1].roles == {QueryRole.DELETED}
            assert QueryRole.CHANGED in roles


CHANGED_CUSTOMERS = (
    "<CustomerQueryRq><MaxReturned>500</MaxReturned><ActiveStatus>All</ActiveStatus>"
    f"<FromModifiedDate>{SINCE}</FromModifiedDate></CustomerQueryRq>"
)
DELETED_CUSTOMERS = (
    "<ListDeletedQueryRq><ListDelType>Customer</ListDelType><DeletedDateRangeFilter>"
    f"<FromDeletedDate>{SINCE}</FromDeletedDate></DeletedDateRangeFilter></ListDeletedQueryRq>"
)
TABLE: tuple[tuple[str, list[tuple[str, set[QueryRole]]]], ...] = (
    (
        (
            "<CustomerAddRq><CustomerAdd><Name>Kitchen</Name><ParentRef><FullName>Ada</FullName></ParentRef></CustomerAdd>"
            "</CustomerAddRq>"
        ),
        [
            ("<CustomerQueryRq><FullName>Ada:Kitchen</FullName></CustomerQueryRq>", {QueryRole.FOUND}),
            (CHANGED_CUSTOMERS, {QueryRole.CHANGED}),
            (DELETED_CUSTOMERS, {QueryRole.DELETED}),
        ],
    ),
    (
        # The full name is not known.
        (
            "<CustomerAddRq><CustomerAdd><Name>Kitchen</Name><ParentRef><ListID>8-1</ListID></ParentRef></CustomerAdd>"
            "</CustomerAddRq>"
        ),
        [
            (CHANGED_CUSTOMERS.replace("500", "100"), {QueryRole.FOUND, QueryRole.CHANGED}),
            (DELETED_CUSTOMERS, {QueryRole.DELETED}),
        ],
    ),
    (
        "<InvoiceAddRq><InvoiceAdd><RefNumber>7</RefNumber></InvoiceAdd></InvoiceAddRq>",
        [
            (
                "<InvoiceQueryRq><RefNumber>7</RefNumber><IncludeLineItems>true</IncludeLineItems></InvoiceQueryRq>",
                {QueryRole.FOUND},
            ),
            (
                (
                    "<InvoiceQueryRq><MaxReturned>500</MaxReturned><ModifiedDateRangeFilter>"
                    f"<FromModifiedDate>{SINCE}</FromModifiedDate></ModifiedDateRangeFilter></InvoiceQueryRq>"
                ),
                {QueryRole.CHANGED},
            ),
            (
                (
                    "<TxnDeletedQueryRq><TxnDelType>Invoice</TxnDelType><DeletedDateRangeFilter>"
                    f"<FromDeletedDate>{SINCE}</FromDeletedDate></DeletedDateRangeFilter></TxnDeletedQueryRq>"
                ),
                {QueryRole.DELETED},
            ),
        ],
    ),
    (
        "<TransferAddRq><TransferAdd><Amount>1.00</Amount></TransferAdd></TransferAddRq>",
        [
            (
                (
                    "<TransferQueryRq><MaxReturned>100</MaxReturned><ModifiedDateRangeFilter>"
                    f"<FromModifiedDate>{SINCE}</FromModifiedDate></ModifiedDateRangeFilter></TransferQueryRq>"
                ),
                {QueryRole.FOUND, QueryRole.CHANGED},
            ),
        ],
    ),
    (
        "<BillModRq><BillMod><TxnID>1-1</TxnID><EditSequence>5</EditSequence></BillMod></BillModRq>",
        [("<BillQueryRq><TxnID>1-1</TxnID></BillQueryRq>", {QueryRole.FOUND})],
    ),
    (
        "<TxnDelRq><TxnDelType>Bill</TxnDelType><TxnID>1-1</TxnID></TxnDelRq>",
        [("<BillQueryRq><TxnID>1-1</TxnID></BillQueryRq>", {QueryRole.FOUND})],
    ),
    (
        "<TxnVoidRq><TxnVoidType>Check</TxnVoidType><TxnID>1-1</TxnID></TxnVoidRq>",
        [("<CheckQueryRq><TxnID>1-1</TxnID></CheckQueryRq>", {QueryRole.FOUND})],
    ),
    (
        (
            "<ListMergeRq><ListMergeType>Vendor</ListMergeType><MergeFrom><ListID>8-1</ListID></MergeFrom>"
            "<MergeTo><ListID>8-2</ListID></MergeTo></ListMergeRq>"
        ),
        [("<VendorQueryRq><ListID>8-1</ListID></VendorQueryRq>", {QueryRole.FOUND})],
    ),
    ("<BillModRq><BillMod><EditSequence>5</EditSequence></BillMod></BillModRq>", []),
    ("<TxnDelRq><TxnDelType>Nothing</TxnDelType><TxnID>1-1</TxnID></TxnDelRq>", []),
)
"""A write, and its queries with their roles."""


@for_each(("body", "expected"), TABLE)
def test_the_queries_follow_from_the_write(body: str, expected: list[tuple[str, set[QueryRole]]]) -> None:
    assert queries(body) == expected


@pytest.mark.parametrize("name", ["HostQueryRq", "CustomerQueryRq"])
def test_a_query_has_no_queries(name: str) -> None:
    assert queries(f"<{name}></{name}>") == []
