"""The facts about a request that depend on the books: what it changes, what it links to, what it posts.

| fact | example |
|---|---|
| a preference that differs from the default, another edition | `preference classes=off`, `edition UK` |
| a value that a Mod changes | `change of Account/AccountType from Bank to Expense` |
| another field that a Mod changes while something depends on the record | `change of Invoice/CustomerRef in use` |
| a removal of a transaction that others are linked to | `TxnDel of a linked Invoice` |
| an account that a transaction posts to, with the party if the account is open | `Check posts Expense` |
| what a line follows whose amount depends on those above | `ItemDiscount after ItemService` |
| others, in words | `stock below zero`, `LinkToTxnID twice`, `tax depends on its rounding` |
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.books.kinds import KINDS
from simulator.books.ledger import ZERO
from simulator.books.records import reference_id
from simulator.fidelity.facts import VALUES, record_of, stem, what
from simulator.requests.reading import stored_name
from simulator.rules.common import HUNDRED, OPEN_TYPES, decimal, flat_lines, rounded
from simulator.rules.items import item_of
from simulator.rules.preferences import CLOSING_DATE, HOME_CURRENCY, OFF, PREFERENCES, values
from simulator.rules.tax import is_taxable, tax_items
from simulator.schema import Aggregate

if TYPE_CHECKING:
    from collections.abc import Iterator
    from xml.etree.ElementTree import Element as Node

    from simulator.books import Books, Fields, Record
    from simulator.schema import Element

_WITH_CURRENCY = ("Account", "Customer", "Vendor")
_DEPENDENT = ("ItemDiscount", "ItemSubtotal")
"""The kinds of items whose lines depend on those above."""
_ADDRESSES = ("BillAddress", "ShipAddress", "ShipToAddress", "VendorAddress", "Address")
_UNCATEGORIZED = ("UncategorizedIncome", "UncategorizedExpenses")


def facts_before(request: Node, model: Element, books: Books, edition: str) -> Iterator[str]:
    """Yield the facts that depend on the books before the request changes them.

    A company that could use several currencies and has names in one only does not differ.
    """
    for name, value in values(books).items():
        default = OFF if name == CLOSING_DATE else PREFERENCES[name].default
        if value != default and (name != "multi_currency" or _has_foreign_names(books)):
            yield f"preference {name}={'on' if name == CLOSING_DATE else value}"
    if request.tag.endswith(("AddRq", "ModRq")) and len(request):
        kind = KINDS.get(stem(request.tag))
        if kind is not None and not kind.is_list and edition != "QBD":
            yield f"edition {edition}"
        if request.tag.endswith("ModRq") and kind is not None:
            yield from _changes(request[0], model.content[request[0].tag].content, books)
        elif kind is not None and not kind.is_list:
            yield from _of_new(request[0], kind.name, books)
        yield from _of_links(request)
    elif request.tag in {"TxnDelRq", "TxnVoidRq"}:
        record = books.transaction(request.findtext("TxnID", ""))
        if record is not None and books.ledger.links(record.id):
            yield f"{stem(request.tag)} of a linked {record.kind.name}"


def facts_after(books: Books, record: Record) -> Iterator[str]:
    """Yield the facts that depend on a transaction that was added or changed."""
    yield from _of_postings(books, record)
    yield from _of_lines(books, list(flat_lines(record)))
    if _depends_on_rounding(books, record):
        yield "tax depends on its rounding"
    if record.kind.name == "SalesTaxPaymentCheck":
        yield from _of_agency(books, record)


def _has_foreign_names(books: Books) -> bool:
    """Return whether an account, a customer or a vendor has another currency than the company."""
    home = books.preferences.get(HOME_CURRENCY)
    named = (record.fields.get("CurrencyRef", home) for kind in _WITH_CURRENCY for record in books[kind])
    return any(currency != home for currency in named)


def _of_new(content: Node, kind: str, books: Books) -> Iterator[str]:
    """Yield the facts about the values that a new transaction leaves to QuickBooks."""
    if "RefNumber" in KINDS[kind].fields and content.find("RefNumber") is None and not len(books[kind]):
        yield f"first number of a {kind}"
    if kind == "Bill" and content.find("DueDate") is None:
        vendor = books.named(content.findtext("VendorRef/FullName", ""), ("Vendor",)) or books.list_object(
            content.findtext("VendorRef/ListID", ""), ("Vendor",)
        )
        if content.find("TermsRef") is None and (vendor is None or "TermsRef" not in vendor.fields):
            yield "Bill without terms"
    for line in content.iter():
        if line.findtext("BillableStatus") == "Billable":
            present = [name for name in ("CustomerRef", "ItemRef", "ItemServiceRef") if line.find(name) is not None]
            yield f"billable {stem(line.tag)} with {' '.join(present) or 'nothing'}"


def _of_links(request: Node) -> Iterator[str]:
    """Yield the facts about links that could count an order or a line twice."""
    orders = [node.text for node in request.iter("LinkToTxnID")]
    lines = [tuple(part.text for part in node) for node in request.iter("LinkToTxn")]
    if len(set(orders)) < len(orders):
        yield "LinkToTxnID twice"
    if len(set(lines)) < len(lines):
        yield "LinkToTxn twice"
    if set(orders) & {line[0] for line in lines if line}:
        yield "LinkToTxnID and LinkToTxn of one order"


def _changes(content: Node, model: Aggregate, books: Books) -> Iterator[str]:
    """Yield what a Mod changes: values with the former one, and other fields of a record that something depends on."""
    record = record_of(books, content.findtext("ListID") or content.findtext("TxnID") or "")
    if record is None:
        return
    used = books.is_used(record.id) if record.kind.is_list else bool(books.ledger.links(record.id))
    for child in content:
        name = stored_name(child.tag, record.kind.fields)
        former, element = record.fields.get(name or child.tag), model[child.tag]
        place = f"change of {record.kind.name}/{stem(child.tag)}"
        if isinstance(element.type, Aggregate):
            is_same = element.type.is_reference and former == _reference(books, child)
            if used and not is_same and stem(child.tag) not in _ADDRESSES:
                yield f"{place} in use"
        elif element.type.base in VALUES and former is not None and child.text and child.text != former:
            yield f"{place} from {former} to {child.text}"
        elif used and element.type.base not in {*VALUES, "STRTYPE", "IDTYPE"} and (child.text or "") != (former or ""):
            yield f"{place} in use"


def _reference(books: Books, node: Node) -> Fields | None:
    list_id = node.findtext("ListID") or ""
    record = books.lists.get(list_id)
    if record is None:
        name = node.findtext("FullName") or ""
        record = next((one for one in books.lists.values() if one.full_name.lower() == name.lower()), None)
    return None if record is None else record.reference()


def _of_postings(books: Books, record: Record) -> Iterator[str]:
    for posting in books.ledger.postings(record.id):
        account = books.lists[posting.account]
        account_type = what(account)
        fact = f"{record.kind.name} posts {account_type}"
        if account_type in OPEN_TYPES:
            party = books.lists.get(posting.entity)
            fact = f"{fact} for {party.kind.name if party is not None else 'nobody'}"
        yield fact
        if account.fields.get("SpecialAccountType") in _UNCATEGORIZED:
            yield f"posts {account.fields['SpecialAccountType']}"
    moved = (books.ledger.stock(move.item) for move, _ in books.ledger.moves(record.id))
    if any(stock.quantity < 0 for stock in (*moved, *books.ledger.stocks_after(record.id))):
        yield "stock below zero"


def _of_lines(books: Books, lines: list[Fields]) -> Iterator[str]:
    """Yield the facts about lines whose amounts depend on those above them."""
    before = "nothing"
    taxable: set[bool] = set()
    for line in lines:
        item = item_of(books, line)
        kind = item.kind.name if item is not None else "text"
        if kind in _DEPENDENT or (item is not None and "RatePercent" in line):
            yield f"{kind} after {before}"
            if kind != "ItemSubtotal" and len(taxable) > 1:
                yield f"{kind} over taxable and other lines"
        elif item is not None:
            taxable.add(is_taxable(books, reference_id(line, "SalesTaxCodeRef")))
        before = kind


def _depends_on_rounding(books: Books, record: Record) -> bool:
    """Return whether the tax of a form differs if it is rounded for each line, for each tax item, or once."""
    fields = record.fields
    rates = [decimal(item.fields, "TaxRate") for item in tax_items(books, reference_id(fields, "ItemSalesTaxRef"))]
    if not fields.get("Taxes"):
        return False
    amounts = [
        decimal(line, "Amount")
        for line in flat_lines(record)
        if is_taxable(books, reference_id(line, "SalesTaxCodeRef"))
    ]
    ways = (
        [sum(amounts, ZERO) * sum(rates, ZERO)],
        [sum(amounts, ZERO) * rate for rate in rates],
        [amount * rate for amount in amounts for rate in rates],
    )
    return len({sum((rounded(tax / HUNDRED) for tax in taxes), ZERO) for taxes in ways}) > 1


def _of_agency(books: Books, record: Record) -> Iterator[str]:
    payee = reference_id(record.fields, "PayeeEntityRef")
    for line in flat_lines(record):
        item = books.lists.get(reference_id(line, "ItemSalesTaxRef"))
        if item is not None and reference_id(item.fields, "TaxVendorRef") != payee:
            yield "SalesTaxPaymentCheck to another agency"
