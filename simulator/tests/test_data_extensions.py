"""Data extensions: definitions, and values on list objects, transactions, lines and the company."""

from __future__ import annotations

from typing import Any

import pytest

from simulator.tests.support import OWNER_ID, a_company, ask


def code(response: Any) -> str:
    return str(response.get("statusCode"))


def define(company: Any, name: str, kind: str = "STR255TYPE", *objects: str, owner: str = OWNER_ID) -> Any:
    assignments = "".join(f"<AssignToObject>{object_name}</AssignToObject>" for object_name in objects)
    content = (
        f"<OwnerID>{owner}</OwnerID><DataExtName>{name}</DataExtName><DataExtType>{kind}</DataExtType>{assignments}"
    )
    return ask(company, f"<DataExtDefAddRq><DataExtDefAdd>{content}</DataExtDefAdd></DataExtDefAddRq>")[0]


def set_value(company: Any, name: str, place: str, value: str | None, request: str = "DataExtAdd") -> Any:
    text = "" if value is None else f"<DataExtValue>{value}</DataExtValue>"
    content = f"<OwnerID>{OWNER_ID}</OwnerID><DataExtName>{name}</DataExtName>{place}{text}"
    return ask(company, f"<{request}Rq><{request}>{content}</{request}></{request}Rq>")[0]


def on_customer(company: Any) -> str:
    customer = next(iter(company.books["Customer"]))
    return f"<ListDataExtType>Customer</ListDataExtType><ListObjRef><ListID>{customer.id}</ListID></ListObjRef>"


def shown_value(company: Any) -> Any:
    customer = next(iter(company.books["Customer"]))
    query = f"<CustomerQueryRq><ListID>{customer.id}</ListID><OwnerID>{OWNER_ID}</OwnerID></CustomerQueryRq>"
    return ask(company, query)[0].findtext("CustomerRet/DataExtRet/DataExtValue")


def test_a_definition_is_added_once_and_found_by_owner_and_object() -> None:
    company = a_company()

    definition = define(company, "Shelf", "INTTYPE", "Item", "Customer").find("DataExtDefRet")

    assert [child.tag for child in definition] == [
        "OwnerID",
        "DataExtID",
        "DataExtName",
        "DataExtType",
        "AssignToObject",
        "AssignToObject",
        "DataExtListRequire",
        "DataExtTxnRequire",
        "DataExtFormatString",
    ]
    assert code(define(company, "SHELF")) == "3180"
    names = [
        [
            element.text
            for element in ask(company, f"<DataExtDefQueryRq>{filter_}</DataExtDefQueryRq>")[0].iter("DataExtName")
        ]
        for filter_ in (f"<OwnerID>{OWNER_ID}</OwnerID>", "<AssignToObject>Item</AssignToObject>", "")
    ]
    assert names == [["Shelf"], ["Color", "Shelf"], ["Region", "Color", "Shelf"]]


def test_a_value_is_set_changed_and_deleted_on_a_list_object() -> None:
    company = a_company()
    define(company, "Note", "STR255TYPE", "Customer")
    place = on_customer(company)

    assert set_value(company, "Note", place, "one").findtext("DataExtRet/DataExtValue") == "one"
    assert shown_value(company) == "one"
    assert code(set_value(company, "Note", place, "two", "DataExtMod")) == "0"
    assert shown_value(company) == "two"
    deletion = set_value(company, "Note", place, None, "DataExtDel")
    assert deletion.findtext("DataExtDelRet/ListObjRef/FullName")
    assert shown_value(company) is None
    assert code(set_value(company, "Note", place, None, "DataExtDel")) == "3120"


def test_a_value_is_set_on_a_transaction_a_line_and_the_company() -> None:
    company = a_company()
    define(company, "Note", "STR255TYPE", "SalesOrder", "Company")
    order = next(iter(company.books["SalesOrder"]))
    line_id = next(line for _, line in order.lines())["TxnLineID"]
    place = f"<TxnDataExtType>SalesOrder</TxnDataExtType><TxnID>{order.id}</TxnID>"

    assert code(set_value(company, "Note", place, "form")) == "0"
    assert code(set_value(company, "Note", f"{place}<TxnLineID>{line_id}</TxnLineID>", "line")) == "0"
    assert code(set_value(company, "Note", f"{place}<TxnLineID>FF-1</TxnLineID>", "line")) == "3120"
    assert code(set_value(company, "Note", "<OtherDataExtType>Company</OtherDataExtType>", "all")) == "0"

    query = f"<TxnID>{order.id}</TxnID><IncludeLineItems>true</IncludeLineItems><OwnerID>{OWNER_ID}</OwnerID>"
    response = ask(company, f"<SalesOrderQueryRq>{query}</SalesOrderQueryRq>")[0].find("SalesOrderRet")
    assert response.findtext("DataExtRet/DataExtValue") == "form"
    assert response.findtext("SalesOrderLineRet/DataExtRet/DataExtValue") == "line"
    assert company.private_fields[OWNER_ID] == {"Note": "all"}


def test_a_value_without_a_definition_for_its_object_is_refused() -> None:
    company = a_company()
    define(company, "Note", "STR255TYPE", "Vendor")

    assert code(set_value(company, "Other", on_customer(company), "x")) == "3250"
    assert code(set_value(company, "Note", on_customer(company), "x")) == "3250"
    custom = "<DataExt><OwnerID>0</OwnerID><DataExtName>Unknown</DataExtName><DataExtValue>x</DataExtValue></DataExt>"
    line = f"<SalesOrderLineAdd><Desc>x</Desc>{custom}</SalesOrderLineAdd>"
    customer = f"<CustomerRef><ListID>{next(iter(company.books['Customer'])).id}</ListID></CustomerRef>"
    order = f"<SalesOrderAddRq><SalesOrderAdd>{customer}{line}</SalesOrderAdd></SalesOrderAddRq>"
    assert code(ask(company, order)[0]) == "3250"


@pytest.mark.parametrize(
    ("kind", "good", "bad", "status"),
    [
        ("STR255TYPE", "x" * 255, "x" * 256, "3070"),
        ("STR1024TYPE", "x" * 1024, "x" * 1025, "3070"),
        ("AMTTYPE", "1.50", "1.5", "3040"),
        ("PRICETYPE", "1.5", "a", "3045"),
        ("PERCENTTYPE", "5", "a", "3050"),
        ("QUANTYPE", "5", "a", "3060"),
        ("DATETIMETYPE", "2026-01-02", "2.1.2026", "3020"),
        ("INTTYPE", "-7", "1.5", "3085"),
    ],
)
def test_values_are_checked_by_the_type_of_their_definition(kind: str, good: str, bad: str, status: str) -> None:
    company = a_company()
    define(company, "Note", kind, "Customer")

    assert code(set_value(company, "Note", on_customer(company), good)) == "0"
    assert code(set_value(company, "Note", on_customer(company), bad)) == status
    assert shown_value(company) == good


def test_renaming_a_definition_keeps_its_values_and_deleting_it_removes_them() -> None:
    company = a_company()
    define(company, "Note", "STR255TYPE", "Customer")
    set_value(company, "Note", on_customer(company), "kept")
    identity = f"<OwnerID>{OWNER_ID}</OwnerID><DataExtName>Note</DataExtName>"
    change = "<DataExtNewName>Remark</DataExtNewName><AssignToObject>Vendor</AssignToObject>"

    response = ask(company, f"<DataExtDefModRq><DataExtDefMod>{identity}{change}</DataExtDefMod></DataExtDefModRq>")[0]

    assert [element.text for element in response.iter("AssignToObject")] == ["Customer", "Vendor"]
    assert shown_value(company) == "kept"
    new_identity = identity.replace("Note", "Remark")
    deletion = ask(company, f"<DataExtDefDelRq>{new_identity}</DataExtDefDelRq>")[0]
    assert deletion.findtext("DataExtDefDelRet/DataExtName") == "Remark"
    assert shown_value(company) is None
    assert code(ask(company, f"<DataExtDefDelRq>{new_identity}</DataExtDefDelRq>")[0]) == "3250"
