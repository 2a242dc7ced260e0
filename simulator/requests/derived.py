"""Queries whose rows are computed: transactions of all kinds, open bills, undeposited payments, stock, bar codes."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from simulator.books import KINDS
from simulator.books.kinds import ITEMS, TRANSACTIONS
from simulator.books.ledger import ZERO
from simulator.books.records import reference_id
from simulator.requests.filters import ITEM_TYPES, UnknownReference, ids_of, modified_times, tests
from simulator.requests.query import included, listed_records, not_found, rows_response
from simulator.requests.reading import Reader
from simulator.requests.responses import Response
from simulator.requests.shown import shown
from simulator.rules.inventory import can_build
from simulator.schema import schema
from simulator.schema.values import money, number_text

if TYPE_CHECKING:
    from simulator.books import Books, Fields, Record
    from simulator.books.ledger import Posting
    from simulator.requests.context import Context

_PARTY_FIELDS = ("CustomerRef", "VendorRef", "PayeeEntityRef", "EntityRef", "EmployeeRef")
_TOTALS = ("TotalAmount", "AmountDue", "Amount", "CreditAmount", "Subtotal")


def transactions(context: Context) -> Response:
    """Answer TransactionQueryRq: one row for each transaction, or for each of its lines, or both."""
    request, books = context.node, context.books
    kinds = queried_kinds()
    listed = request.findall("TxnID")
    missing: list[str] = []
    if listed:
        records, missing = listed_records(books, kinds, listed)
    else:
        try:
            conditions = tests(context, "Transaction")
        except UnknownReference as unknown:
            return not_found([str(unknown)], [])
        modified = books.modified(kinds, modified_times(context))
        records = [transaction for transaction in modified if all(condition(transaction) for condition in conditions)]
    level = request.findtext("TransactionDetailLevelFilter", "SummaryOnly")
    rows: list[tuple[Record, Posting | None]] = []
    for record in records:
        if level != "AllExceptSummary":
            rows.append((record, None))
        if level != "SummaryOnly":
            rows += [(record, posting) for posting in books.ledger.postings(record.id) if posting.line_id]

    def row(record_and_posting: tuple[Record, Posting | None]) -> tuple[str, Fields]:
        return "TransactionRet", included(request, _transaction_row(books, *record_and_posting))

    return rows_response(context, rows, row, missing)


def queried_kinds() -> tuple[str, ...]:
    """Return the kinds of transactions that a TransactionQuery finds: those that its responses can name."""
    names = schema().responses["TransactionQueryRs"].content["TransactionRet"].content["TxnType"].values
    return tuple(kind for kind in TRANSACTIONS if kind in names)


def _transaction_row(books: Books, record: Record, line: Posting | None) -> Fields:
    fields = record.fields
    party = next((fields[name] for name in _PARTY_FIELDS if fields.get(name)), None)
    postings = books.ledger.postings(record.id)
    row: Fields = {
        "TxnType": record.kind.name,
        "TxnID": record.id,
        "TimeCreated": books.clock.text(record.created),
        "TimeModified": books.clock.text(record.modified),
        "TxnDate": fields.get("TxnDate", ""),
        "RefNumber": fields.get("RefNumber", ""),
        "Memo": fields.get("Memo", ""),
    }
    if line is not None:
        entity = {"ListID": line.entity} if line.entity else party
        row |= {"TxnLineID": line.line_id, "AccountRef": {"ListID": line.account}, "Amount": money(line.amount)}
        row["Memo"] = line.memo or row["Memo"]
    else:
        entity = party
        if postings:
            row |= {"AccountRef": {"ListID": postings[0].account}, "Amount": money(postings[0].amount)}
        else:
            shown_fields = shown(books, record)
            row["Amount"] = next((shown_fields[name] for name in _TOTALS if name in shown_fields), "0.00")
    return {**row, "EntityRef": entity} if entity else row


def bills_to_pay(context: Context) -> Response:
    """Answer BillToPayQueryRq: the open bills of a vendor, and the credits to pay them with."""
    request, books = context.node, context.books
    reader = Reader(books, KINDS["BillPaymentCheck"])
    payee = reader.reference_in(request, "PayeeEntityRef")
    account = request.find("APAccountRef")
    account_id = "" if account is None else reader.reference(account)["ListID"]
    due = request.findtext("DueDate") or "9999-12-31"
    rows = []
    for kind, holder, total_field, amount_field in (
        ("Bill", "BillToPay", "AmountDue", "AmountDue"),
        ("VendorCredit", "CreditToApply", "CreditAmount", "CreditRemaining"),
    ):
        for record in books[kind]:
            fields = record.fields
            if fields.get("VendorRef") != payee or fields.get("DueDate", "") > due:
                continue
            if account_id not in ("", reference_id(fields, "APAccountRef")):
                continue
            shown_fields = shown(books, record)
            amount = Decimal(shown_fields.get(total_field) or "0") - books.ledger.settled(record.id)
            if amount > 0:
                row: Fields = {
                    name: fields[name] for name in ("APAccountRef", "TxnDate", "RefNumber", "DueDate") if name in fields
                }
                row |= {"TxnID": record.id, "TxnType": kind, amount_field: money(amount)}
                rows.append(("BillToPayRet", included(request, {holder: row})))
    return rows_response(context, rows, lambda row: row)


def payments_to_deposit(context: Context) -> Response:
    """Answer ReceivePaymentToDepositQueryRq: the payments in undeposited funds that no deposit contains."""
    request, books = context.node, context.books
    funds = {account.id for account in books["Account"] if _is_undeposited_funds(account)}
    rows = []
    for kind in ("ReceivePayment", "SalesReceipt"):
        for record in books[kind]:
            fields = record.fields
            others = (books.transaction(link.source) for link in books.ledger.links(record.id))
            is_deposited = any(other is not None and other.kind.name == "Deposit" for other in others)
            if reference_id(fields, "DepositToAccountRef") in funds and not is_deposited and not record.is_void:
                row: Fields = {name: fields[name] for name in ("CustomerRef", "TxnDate", "RefNumber") if name in fields}
                row |= {"TxnID": record.id, "TxnType": kind, "Amount": shown(books, record).get("TotalAmount", "0.00")}
                rows.append(("ReceivePaymentToDepositRet", included(request, row)))
    return rows_response(context, rows, lambda row: row)


def _is_undeposited_funds(account: Record) -> bool:
    return account.fields.get("SpecialAccountType") == "UndepositedFunds" or account.full_name == "Undeposited Funds"


def sales_tax_payable(context: Context) -> Response:
    """Answer SalesTaxPayableQueryRq: the amounts owed to each tax agency, by tax item."""
    request, books = context.node, context.books
    until = request.findtext("AsOfDate") or books.clock.today().isoformat()
    taxes = {item_sales_tax.id for item_sales_tax in books["ItemSalesTax"]}
    owed: dict[str, dict[str, Decimal]] = {}
    for txn_id, effects in books.ledger.effects.items():
        if books.transactions[txn_id].fields.get("TxnDate", "") > until:
            continue
        for posting in effects.postings:
            if posting.item in taxes:
                agency = reference_id(books.lists[posting.item].fields, "TaxVendorRef")
                items = owed.setdefault(agency, {})
                items[posting.item] = items.get(posting.item, ZERO) - posting.amount
    rows = []
    for agency, items in owed.items():
        row: Fields = {
            "Amount": money(sum(items.values(), ZERO)),
            "SalesTaxPayableLineRet": [
                {"ItemSalesTaxRef": {"ListID": item}, "Amount": money(amount)} for item, amount in items.items()
            ],
        }
        if agency:
            row["PayeeEntityRef"] = {"ListID": agency}
        rows.append(("SalesTaxPayableRet", included(request, row)))
    return rows_response(context, rows, lambda row: row)


def assemblies_that_can_be_built(context: Context) -> Response:
    """Answer ItemAssembliesCanBuildQueryRq: as many as the components on hand on a day allow."""
    request, books = context.node, context.books
    reference = Reader(books, KINDS["BuildAssembly"]).reference_in(request, "ItemInventoryAssemblyRef")
    day = request.findtext("TxnDate") or books.clock.today().isoformat()
    row = {
        "ItemInventoryAssemblyRef": reference,
        "TxnDate": request.findtext("TxnDate", ""),
        "QuantityCanBuild": number_text(can_build(books, books.lists[reference["ListID"]], day), 0),
    }
    return Response(rows=[("ItemAssembliesCanBuildRet", row)])


def item_sites(context: Context) -> Response:
    """Answer ItemSitesQueryRq: the stock of each inventory item. All stock is at one site, which has no name."""
    request, books = context.node, context.books
    listed = {child.text for child in request.findall("ListID")}
    kinds = set(ITEM_TYPES.get(request.findtext("ItemTypeFilter", ""), ITEMS))
    filtered = request.find("ItemSiteFilter/ItemFilter")
    status = request.findtext("ActiveStatus", "ActiveOnly")
    try:
        ids = None if filtered is None else ids_of(books, filtered, ITEMS)
    except UnknownReference as unknown:
        return not_found([str(unknown)], [])
    items = [
        item
        for kind in ("ItemInventory", "ItemInventoryAssembly")
        for item in books[kind]
        if kind in kinds
        and (not listed or item.id in listed)
        and (ids is None or item.id in ids)
        and (status == "All" or item.is_active == (status == "ActiveOnly"))
    ]

    def row(item: Record) -> tuple[str, Fields]:
        return "ItemSitesRet", included(request, _site_row(books, item))

    return rows_response(context, items, row)


def _site_row(books: Books, item: Record) -> Fields:
    fields = shown(books, item)
    names = ("ListID", "TimeCreated", "TimeModified", "EditSequence", "QuantityOnHand")
    return {
        **{name: fields[name] for name in names if name in fields},
        f"{item.kind.name}Ref": item.reference(),
        "ReorderLevel": fields.get("ReorderPoint", ""),
        "AssemblyBuildPoint": fields.get("BuildPoint", ""),
        "QuantityOnPurchaseOrders": fields.get("QuantityOnOrder", ""),
        "QuantityOnSalesOrders": fields.get("QuantityOnSalesOrder", ""),
    }


def bar_codes(context: Context) -> Response:
    """Answer BarCodeQueryRq: the items with these bar codes, or all that have one."""
    request, books = context.node, context.books
    values = {child.text for child in request.findall("BarCodeValue")}
    matching = [
        item
        for item in books.of("Item")
        if item.fields.get("BarCodeValue") and (not values or item.fields["BarCodeValue"] in values)
    ]

    def row(item: Record) -> tuple[str, Fields]:
        return "BarCodeRet", {"ListType": item.kind.name, "ListID": item.id, "FullName": item.full_name}

    return rows_response(context, matching, row)
