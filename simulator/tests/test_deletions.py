"""ListDel, TxnDel, TxnVoid, ListMerge, and the queries for deleted objects."""

from __future__ import annotations

from typing import Any

from simulator.requests.shown import shown
from simulator.tests.support import NOW, a_company, ask


def code(response: Any) -> str:
    return str(response.get("statusCode"))


def delete(company: Any, kind: str, list_id: str) -> Any:
    return ask(company, f"<ListDelRq><ListDelType>{kind}</ListDelType><ListID>{list_id}</ListID></ListDelRq>")[0]


def add_customer(company: Any, name: str) -> Any:
    response = ask(company, f"<CustomerAddRq><CustomerAdd><Name>{name}</Name></CustomerAdd></CustomerAddRq>")[0]
    return company.books.lists[response.findtext("CustomerRet/ListID")]


def test_an_object_that_nothing_refers_to_is_deleted_and_can_be_found_among_the_deletions() -> None:
    company = a_company()
    customer = add_customer(company, "Gone")

    response = delete(company, "Customer", customer.id)

    assert [child.tag for child in response] == ["ListDelType", "ListID", "TimeDeleted", "FullName"]
    assert response.findtext("FullName") == "Gone"
    assert customer.id not in company.books.lists
    query = "<ListDeletedQueryRq><ListDelType>Customer</ListDelType></ListDeletedQueryRq>"
    row = ask(company, query)[0].find("ListDeletedRet")
    assert [child.tag for child in row] == ["ListDelType", "ListID", "TimeCreated", "TimeDeleted", "FullName"]
    assert row.findtext("ListID") == customer.id
    assert code(ask(company, query.replace("Customer", "Vendor"))[0]) == "1"
    assert ask(company, query.replace("Rq>", 'Rq metaData="MetaDataOnly">', 1))[0].get("retCount") == "1"


def test_deletions_are_filtered_by_date_and_forgotten_after_90_days() -> None:
    now = [NOW]
    company = a_company(now=lambda: now[0])
    delete(company, "Customer", add_customer(company, "Gone").id)

    def deletions(bounds: str) -> int:
        dates = f"<DeletedDateRangeFilter>{bounds}</DeletedDateRangeFilter>"
        return len(
            ask(company, f"<ListDeletedQueryRq><ListDelType>Customer</ListDelType>{dates}</ListDeletedQueryRq>")[0]
        )

    assert deletions("<FromDeletedDate>2026-09-21</FromDeletedDate><ToDeletedDate>2026-09-21</ToDeletedDate>") == 1
    assert deletions("<FromDeletedDate>2026-09-22</FromDeletedDate>") == 0
    now[0] += 91 * 86_400
    assert deletions("<FromDeletedDate>2026-09-21</FromDeletedDate>") == 0


def test_an_object_in_use_is_not_deleted() -> None:
    company = a_company()
    customer = company.books.lists[next(iter(company.books["SalesOrder"])).fields["CustomerRef"]["ListID"]]

    response = delete(company, "Customer", customer.id)

    assert code(response) == "3160"
    assert "in use" in response.get("statusMessage")
    assert customer.id in company.books.lists


def test_an_id_of_another_kind_or_of_nothing_is_3120() -> None:
    company = a_company()
    customer = add_customer(company, "Kept")
    order = next(iter(company.books["SalesOrder"]))

    assert code(delete(company, "Vendor", customer.id)) == "3120"
    for request in ("TxnDel", "TxnVoid"):
        body = f"<{request}Rq><{request}Type>Invoice</{request}Type><TxnID>{order.id}</TxnID></{request}Rq>"
        assert code(ask(company, body)[0]) == "3120"


def test_deleting_an_invoice_restores_the_balance() -> None:
    company = a_company()
    books = company.books
    customer = add_customer(company, "Buyer")
    line = "<InvoiceLineAdd><ItemRef><FullName>Consulting</FullName></ItemRef><Quantity>2</Quantity></InvoiceLineAdd>"
    body = f"<CustomerRef><ListID>{customer.id}</ListID></CustomerRef><RefNumber>X1</RefNumber>{line}"
    invoice = ask(company, f"<InvoiceAddRq><InvoiceAdd>{body}</InvoiceAdd></InvoiceAddRq>")[0].find("InvoiceRet")
    assert shown(books, customer)["Balance"] == "240.00"

    response = ask(
        company, f"<TxnDelRq><TxnDelType>Invoice</TxnDelType><TxnID>{invoice.findtext('TxnID')}</TxnID></TxnDelRq>"
    )[0]

    assert [child.tag for child in response] == ["TxnDelType", "TxnID", "TimeDeleted", "RefNumber"]
    assert shown(books, customer)["Balance"] == "0.00"
    row = ask(company, "<TxnDeletedQueryRq><TxnDelType>Invoice</TxnDelType></TxnDeletedQueryRq>")[0].find(
        "TxnDeletedRet"
    )
    assert (row.findtext("TxnID"), row.findtext("RefNumber")) == (invoice.findtext("TxnID"), "X1")


def test_a_void_invoice_stays_with_zero_amounts_and_no_effects() -> None:
    company = a_company()
    books = company.books
    invoice = next(invoice for invoice in books["Invoice"] if not books.ledger.settled(invoice.id))
    customer = books.lists[invoice.fields["CustomerRef"]["ListID"]]
    before, sequence = float(shown(books, customer)["Balance"]), invoice.edit_sequence
    total = float(shown(books, invoice)["BalanceRemaining"])

    response = ask(company, f"<TxnVoidRq><TxnVoidType>Invoice</TxnVoidType><TxnID>{invoice.id}</TxnID></TxnVoidRq>")[0]

    assert [child.tag for child in response] == ["TxnVoidType", "TxnID", "TimeCreated", "TimeModified", "RefNumber"]
    assert shown(books, invoice)["BalanceRemaining"] == "0.00"
    assert {line["Amount"] for _, line in invoice.lines()} == {"0.00"}
    assert invoice.fields["Memo"].startswith("VOID:")
    assert invoice.edit_sequence > sequence
    assert float(shown(books, customer)["Balance"]) == round(before - total, 2)


def merge(company: Any, kind: str, source: Any, target: Any, sequence: str | None = None) -> Any:
    parts = "".join(
        f"<{part}><ListID>{record.id}</ListID><EditSequence>{edit_sequence}</EditSequence></{part}>"
        for part, record, edit_sequence in (
            ("MergeFrom", source, source.edit_sequence),
            ("MergeTo", target, sequence or target.edit_sequence),
        )
    )
    return ask(company, f"<ListMergeRq><ListMergeType>{kind}</ListMergeType>{parts}</ListMergeRq>")[0]


def test_a_merge_moves_everything_that_refers_to_the_first_object() -> None:
    company = a_company()
    books = company.books
    order = next(iter(books["SalesOrder"]))
    source = books.lists[order.fields["CustomerRef"]["ListID"]]
    target = add_customer(company, "Target")
    balance = shown(books, source)["Balance"]

    response = merge(company, "Customer", source, target)

    assert code(response) == "0"
    assert [child.tag for child in response] == ["ListMergeType", "MergedFrom", "MergedTo"]
    assert order.fields["CustomerRef"] == {"ListID": target.id}
    assert source.id not in books.lists
    assert shown(books, target)["Balance"] == balance


def test_a_merge_that_is_refused_changes_nothing() -> None:
    company = a_company()
    books = company.books
    first, second = add_customer(company, "First"), add_customer(company, "Second")
    bank, income = (books.named(name, ("Account",)) for name in ("Checking", "Sales"))

    assert code(merge(company, "Customer", first, second, sequence="1")) == "3200"
    assert code(merge(company, "Customer", first, first)) == "3210"
    assert code(merge(company, "Account", bank, income)) == "3210"
    assert {first.id, second.id} <= books.lists.keys()
    assert books.deletions == []


def test_numbers_of_deleted_transactions_are_not_found() -> None:
    company = a_company()
    order = next(iter(company.books["SalesOrder"]))
    number = order.fields["RefNumber"]

    company.books.remove(order)

    assert company.books.numbered(number, ("SalesOrder",)) == []


def test_a_void_transaction_that_is_modified_has_effects_again() -> None:
    company = a_company()
    books = company.books
    invoice = next(invoice for invoice in books["Invoice"] if not books.ledger.settled(invoice.id))
    ask(company, f"<TxnVoidRq><TxnVoidType>Invoice</TxnVoidType><TxnID>{invoice.id}</TxnID></TxnVoidRq>")
    new_line = (
        "<InvoiceLineMod><TxnLineID>-1</TxnLineID><ItemRef><FullName>Consulting</FullName></ItemRef>"
        "<Quantity>2</Quantity></InvoiceLineMod>"
    )

    response = ask(
        company,
        f"<InvoiceModRq><InvoiceMod><TxnID>{invoice.id}</TxnID><EditSequence>{invoice.edit_sequence}</EditSequence>"
        f"{new_line}</InvoiceMod></InvoiceModRq>",
    )[0]

    assert code(response) == "0"
    assert not invoice.is_void
    assert float(response.findtext("InvoiceRet/BalanceRemaining")) > 0
