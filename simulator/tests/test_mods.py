"""The …Mod requests: EditSequence, fields, lines, and failures that change nothing."""

from __future__ import annotations

from typing import Any
from xml.etree.ElementTree import tostring

import pytest

from simulator.basics.errors import RequestError
from simulator.books import KINDS
from simulator.requests.shown import shown
from simulator.schema import schema
from simulator.tests.support import a_company, ask


def modify(company: Any, kind: str, record: Any, content: str, edit_sequence: str | None = None) -> Any:
    identity = f"<{record.kind.id_field}>{record.id}</{record.kind.id_field}>"
    sequence = f"<EditSequence>{edit_sequence or record.edit_sequence}</EditSequence>"
    return ask(company, f"<{kind}ModRq><{kind}Mod>{identity}{sequence}{content}</{kind}Mod></{kind}ModRq>")[0]


def code(response: Any) -> str:
    return str(response.get("statusCode"))


def first(company: Any, kind: str) -> Any:
    return next(record for record in company.books[kind] if record.is_active)


def test_a_mod_sets_named_fields_clears_empty_ones_and_keeps_the_rest() -> None:
    company = a_company()
    customer = next(customer for customer in company.books["Customer"] if customer.fields.get("CompanyName"))
    terms = customer.fields["TermsRef"]

    response = modify(
        company, "Customer", customer, "<CompanyName/><ShipAddress><City>X</City></ShipAddress><Phone>1</Phone>"
    )

    customer_after = response.find("CustomerRet")
    assert code(response) == "0"
    assert customer_after.find("CompanyName") is None
    assert customer_after.findtext("Phone") == "1"
    assert customer_after.findtext("ShipAddress/City") == "X"
    assert customer.fields["TermsRef"] == terms


def test_every_mod_gives_a_new_edit_sequence_and_time_modified() -> None:
    company = a_company()
    customer = first(company, "Customer")
    former = customer.edit_sequence

    first_answer = modify(company, "Customer", customer, "<Phone>1</Phone>")
    second_answer = modify(company, "Customer", customer, "<Phone>2</Phone>")

    sequences = [int(response.findtext("CustomerRet/EditSequence")) for response in (first_answer, second_answer)]
    assert former < sequences[0] < sequences[1]
    assert first_answer.findtext("CustomerRet/TimeModified") == company.clock.text(company.clock.seconds())


def test_an_old_edit_sequence_is_refused_with_the_record_as_it_is() -> None:
    company = a_company()
    customer = first(company, "Customer")
    phone = customer.fields["Phone"]

    response = modify(company, "Customer", customer, "<Phone>1</Phone>", edit_sequence="1")

    assert (code(response), [record.findtext("ListID") for record in response]) == ("3200", [customer.id])
    assert response.get("statusMessage") == 'The provided edit sequence "1" is out-of-date. '
    assert customer.fields["Phone"] == phone


def test_a_mod_of_an_object_that_does_not_exist_is_3120() -> None:
    company = a_company()
    customer = first(company, "Customer")
    company.books.remove(next(sales_order for sales_order in company.books["SalesOrder"]))
    customer.id = "80000000-1"

    assert code(modify(company, "Customer", customer, "<Phone>1</Phone>")) == "3120"


def test_a_renamed_parent_renames_its_jobs() -> None:
    company = a_company(customers=60)
    job = next(customer for customer in company.books["Customer"] if ":" in customer.full_name)
    parent = company.books.lists[job.fields["ParentRef"]["ListID"]]

    modify(company, "Customer", parent, "<Name>Renamed</Name>")

    assert job.full_name.startswith("Renamed:")
    assert company.books.named(job.full_name, ("Customer",)) is job


def test_a_name_that_is_taken_or_a_customer_below_itself_is_refused() -> None:
    company = a_company(customers=60)
    job = next(customer for customer in company.books["Customer"] if ":" in customer.full_name)
    parent = company.books.lists[job.fields["ParentRef"]["ListID"]]
    other = next(
        customer for customer in company.books["Customer"] if ":" not in customer.full_name and customer is not parent
    )
    name = other.full_name.encode("ascii", "xmlcharrefreplace").decode()

    assert code(modify(company, "Customer", parent, f"<Name>{name}</Name>")) == "3100"
    for below in (parent, job):
        response = modify(company, "Customer", parent, f"<ParentRef><ListID>{below.id}</ListID></ParentRef>")
        assert code(response) == "3130"
    assert "ParentRef" not in parent.fields


def test_a_required_reference_cannot_be_cleared() -> None:
    company = a_company()

    response = modify(company, "SalesOrder", first(company, "SalesOrder"), "<CustomerRef><FullName/></CustomerRef>")

    assert (code(response), response.get("statusMessage")) == (
        "3190",
        "Cannot clear the element in the CustomerRef field.",
    )


def _line_mods(record: Any) -> str:
    """Write a line of a Mod for each line and group of a record, with its id only."""
    names = {"JournalDebitLine": "JournalLine", "JournalCreditLine": "JournalLine"}
    return "".join(
        f"<{name}Mod><TxnLineID>{line.findtext('TxnLineID')}</TxnLineID></{name}Mod>"
        for line in record
        if line.find("TxnLineID") is not None
        and (name := names.get(line.tag, line.tag.removesuffix("Ret"))) != "CashBackInfo"
    )


def _kinds_with_lines() -> list[str]:
    requests = schema().requests
    return [
        kind
        for kind in KINDS
        if (request := requests.get(f"{kind}ModRq"))
        and any(name.endswith("LineMod") for name in request.content[f"{kind}Mod"].content.elements)
    ]


def test_a_mod_that_names_each_line_changes_nothing_else() -> None:
    """A line with its id only stays as it is, in its place and on its side, in all kinds of transactions."""
    company, tested = a_company(), set()
    for kind in _kinds_with_lines():
        filters = "<MaxReturned>5</MaxReturned><IncludeLineItems>true</IncludeLineItems>"
        for before in list(ask(company, f"<{kind}QueryRq>{filters}</{kind}QueryRq>")[0]):
            names = ("TxnID", "EditSequence")
            identity = "".join(f"<{name}>{before.findtext(name)}</{name}>" for name in names)

            content = f"<{kind}Mod>{identity}{_line_mods(before)}</{kind}Mod>"
            after = ask(company, f"<{kind}ModRq>{content}</{kind}ModRq>")[0][0]

            assert _unchanging(after) == _unchanging(before)
            tested.add(kind)
    assert len(tested) >= 14


def _unchanging(record: Any) -> list[str]:
    """Return the parts of a record, but for its version and for links, which a query returns on request only."""
    return [tostring(part).decode() for part in record if part.tag not in {"EditSequence", "TimeModified", "LinkedTxn"}]


def test_lines_are_changed_added_and_removed_by_their_ids() -> None:
    company = a_company()
    order = next(
        sales_order
        for sales_order in company.books["SalesOrder"]
        if len(list(sales_order.lines())) > 1 and not company.books.ledger.links(sales_order.id)
    )
    first_id, *other_ids = [line["TxnLineID"] for _, line in order.lines()]

    response = modify(
        company,
        "SalesOrder",
        order,
        f"<SalesOrderLineMod><TxnLineID>{first_id}</TxnLineID><Desc>Changed</Desc></SalesOrderLineMod>"
        "<SalesOrderLineMod><TxnLineID>-1</TxnLineID><ItemRef><FullName>Hardware</FullName></ItemRef>"
        "<Quantity>2</Quantity></SalesOrderLineMod>",
    )

    lines = response.findall("SalesOrderRet/SalesOrderLineRet")
    assert code(response) == "0"
    assert [line.findtext("Desc") for line in lines] == ["Changed", "Hardware"]
    assert lines[0].findtext("TxnLineID") == first_id
    assert lines[1].findtext("TxnLineID") not in {first_id, "-1", *other_ids}
    assert lines[1].findtext("Amount") == "25.00"


def test_a_mod_without_lines_keeps_them_all() -> None:
    company = a_company()
    order = first(company, "SalesOrder")
    before = [line["TxnLineID"] for _, line in order.lines()]

    modify(company, "SalesOrder", order, "<Memo>Later</Memo>")

    assert [line["TxnLineID"] for _, line in order.lines()] == before


def test_a_line_that_the_transaction_does_not_have_is_refused() -> None:
    company = a_company()
    line = "<SalesOrderLineMod><TxnLineID>FFFF-1</TxnLineID><Desc>x</Desc></SalesOrderLineMod>"

    assert code(modify(company, "SalesOrder", first(company, "SalesOrder"), line)) == "3120"


def test_lines_of_a_journal_entry_keep_or_change_their_side() -> None:
    company = a_company()
    line = "<AccountRef><FullName>{}</FullName></AccountRef><Amount>5.00</Amount>"
    journal_entry = ask(
        company,
        "<JournalEntryAddRq><JournalEntryAdd>"
        f"<JournalDebitLine>{line.format('Checking')}</JournalDebitLine>"
        f"<JournalCreditLine>{line.format('Sales')}</JournalCreditLine></JournalEntryAdd></JournalEntryAddRq>",
    )[0].find("JournalEntryRet")
    entry = company.books.transactions[journal_entry.findtext("TxnID")]
    debit, credit = (journal_entry.findtext(f"Journal{side}Line/TxnLineID") for side in ("Debit", "Credit"))

    response = modify(
        company,
        "JournalEntry",
        entry,
        f"<JournalLineMod><TxnLineID>{debit}</TxnLineID><JournalLineType>Credit</JournalLineType></JournalLineMod>"
        f"<JournalLineMod><TxnLineID>{credit}</TxnLineID><JournalLineType>Debit</JournalLineType></JournalLineMod>",
    )[0]

    assert (response.findtext("JournalDebitLine/TxnLineID"), response.findtext("JournalCreditLine/TxnLineID")) == (
        credit,
        debit,
    )


def test_a_change_that_fails_half_way_leaves_the_books_as_they_were() -> None:
    company = a_company()
    books = company.books
    customer, order = first(company, "Customer"), first(company, "SalesOrder")
    before = (
        shown(books, customer),
        shown(books, order),
        len(books.lists),
        books.last_list_number,
        len(books.deletions),
    )

    def fail() -> None:
        with books.atomic():
            books.add(KINDS["Customer"], {"Name": "Nobody"})
            books.change(customer, {**customer.fields, "Name": "Other"})
            books.remove(order)
            raise RequestError(1000, "")

    with pytest.raises(RequestError):
        fail()

    assert before == (
        shown(books, customer),
        shown(books, books.transactions[order.id]),
        len(books.lists),
        books.last_list_number,
        len(books.deletions),
    )
    assert books.named("Nobody", ("Customer",)) is None
    assert books.named(customer.full_name, ("Customer",)) is customer
    assert order in list(books["SalesOrder"])


def test_effects_that_do_not_balance_leave_no_record_behind() -> None:
    company = a_company()
    books = company.books
    count = len(books["Invoice"])
    fields = {"CustomerRef": {"ListID": "x"}, "TotalAmount": "x"}

    with pytest.raises(ArithmeticError):
        books.add(KINDS["Invoice"], fields)

    assert len(books["Invoice"]) == count == len(list(books["Invoice"]))


def test_the_cleared_status_changes_the_edit_sequence_of_its_transaction() -> None:
    company = a_company()
    invoice = first(company, "Invoice")
    former = invoice.edit_sequence
    line = next(line for _, line in invoice.lines())["TxnLineID"]

    def status(line_id: str) -> str:
        content = f"<TxnID>{invoice.id}</TxnID>{line_id}<ClearedStatus>Cleared</ClearedStatus>"
        return code(
            ask(company, f"<ClearedStatusModRq><ClearedStatusMod>{content}</ClearedStatusMod></ClearedStatusModRq>")[0]
        )

    assert status("") == "0"
    assert status(f"<TxnLineID>{line}</TxnLineID>") == "0"
    assert status("<TxnLineID>FF-1</TxnLineID>") == "3120"
    assert invoice.edit_sequence > former
