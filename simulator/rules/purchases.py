"""Forms with expense and item lines: purchase orders, bills, receipts, credits, checks and credit card charges."""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, ClassVar

from simulator.basics.errors import RequestError
from simulator.books.costing import Role
from simulator.books.ledger import ZERO, Effects, Link, Posting
from simulator.books.records import reference_id
from simulator.rules.common import (
    OPEN_TYPES,
    TransactionRules,
    account_type,
    check_series,
    decimal,
    flat_lines,
    group_lines,
    inner_line_name,
    next_check_number,
    percent_of,
    refused,
    rounded,
    special_account,
)
from simulator.rules.items import (
    UNIT_PRICE,
    complete_site,
    forget_computed,
    group_members,
    is_stock,
    item_of,
    note_computed,
    purchase_facts,
    stock_move,
    stock_of,
    unit_of,
)
from simulator.rules.orders import fulfilled, is_fulfilled, link_lines, order_links
from simulator.rules.sales import shown_lines
from simulator.rules.settling import CREDITS, credit_links, settle_any
from simulator.schema.values import money, number_text

if TYPE_CHECKING:
    from simulator.books.kinds import Kind
    from simulator.books.records import Draft, Fields, Record
    from simulator.books.store import Books

_DAYS_BILLS_ARE_DUE = 10
_ADDRESSES = ("ShipAddress", "BillAddress", "VendorAddress", "EmployeeAddress", "OtherNameAddress")
"""The address fields of customers, vendors, employees and other names, for shipping."""


class PurchaseRules(TransactionRules):
    """Forms with expense lines and item lines."""

    sign: ClassVar[int] = 1
    """1 when the form increases expenses, -1 when it decreases them."""
    total: ClassVar[str] = "Amount"
    entity: ClassVar[str] = "VendorRef"
    account: ClassVar[str] = "APAccountRef"
    price: ClassVar[str] = "Cost"
    item_line: ClassVar[str] = "ItemLineRet"
    is_numbered: ClassVar[bool] = False
    """Return whether QuickBooks numbers the form: a bill has the number of the vendor."""

    def complete(self, books: Books, draft: Draft) -> None:
        """Complete the form from its vendor, the lines from their items, and add up."""
        super().complete(books, draft)
        fields = draft.fields
        if self.account == "APAccountRef":
            fields.setdefault("APAccountRef", special_account(books, "AccountsPayable"))
        self.complete_header(books, draft)
        link_lines(books, draft, ("PurchaseOrder",), self.item_line)
        total = above = ZERO
        for name, line in draft.lines():
            line.setdefault("TxnLineID", books.new_line_id())
            inner = group_lines(name, line)
            if inner is not None:
                self.complete_group(books, draft, name, line)
                amount = decimal(line, "TotalAmount")
            elif name == "ExpenseLineRet":
                amount = self.complete_expense(books, line)
            else:
                amount = self.complete_line(books, draft, line, above)
            total += amount
            above = amount
        fields[self.total] = money(total)

    def complete_header(self, books: Books, draft: Draft) -> None:
        """Fill in the fields that depend on the vendor."""
        fields, model = draft.fields, draft.kind.fields
        vendor = books.lists.get(draft.reference(self.entity))
        if vendor is not None and draft.before is None:
            for name, source in (
                ("VendorAddress", "VendorAddress"),
                ("Address", "VendorAddress"),
                ("TermsRef", "TermsRef"),
            ):
                if name in model and vendor.fields.get(source):
                    fields.setdefault(name, vendor.fields[source])
        if "DueDate" in model:
            self.complete_due_date(books, draft)

    def next_ref_number(self, books: Books, draft: Draft) -> str:
        """Return a number for the forms that QuickBooks numbers."""
        return super().next_ref_number(books, draft) if self.is_numbered else ""

    def complete_expense(self, books: Books, line: Fields) -> Decimal:
        """Fill in an expense line and return its amount."""
        line.setdefault("Amount", "0.00")
        line.setdefault("AccountRef", special_account(books, "UncategorizedExpenses"))
        kind = account_type(books, reference_id(line, "AccountRef"))
        line["IsOpen"] = "true" if kind in OPEN_TYPES else "false"
        return decimal(line, "Amount")

    def complete_group(self, books: Books, draft: Draft, name: str, line: Fields) -> None:
        """Expand a group line to the items of its group, and add them up."""
        group = books.lists.get(reference_id(line, "ItemGroupRef"))
        inner = group_lines(name, line) or []
        if group is None:
            raise RequestError(3150, 'There is a missing element: "ItemGroupRef".')
        if not inner:
            line.setdefault("Desc", group.fields.get("ItemDesc", ""))
            quantity = decimal(line, "Quantity") if "Quantity" in line else Decimal(1)
            inner = [{"TxnLineID": books.new_line_id(), **member} for member in group_members(group, quantity)]
            line[inner_line_name(name)] = inner
        if "IsPrintItemsInGroup" in draft.kind.fields[name].content:
            line.setdefault("IsPrintItemsInGroup", "false")
        for member_line in inner:
            member_line.setdefault("TxnLineID", books.new_line_id())
            self.complete_line(books, draft, member_line, ZERO)
        line["TotalAmount"] = money(sum((decimal(inner_line, "Amount") for inner_line in inner), ZERO))

    def complete_line(self, books: Books, draft: Draft, line: Fields, above: Decimal) -> Decimal:
        """Fill in an item line: description, cost, amount, account and stock. Returns the amount."""
        forget_computed(line)
        item = item_of(books, line)
        if item is None:
            if {"Amount", "Quantity", self.price} & line.keys():
                line.setdefault("Amount", money(self._amount(line)))
                line["AccountRef"] = line.get("OverrideItemAccountRef") or special_account(
                    books, "UncategorizedExpenses"
                )
            return decimal(line, "Amount")
        former = set(line)
        facts = purchase_facts(item)
        if facts.get("Desc"):
            line.setdefault("Desc", facts["Desc"])
        ratio = Decimal(1)
        if "UnitOfMeasureSetRef" in item.fields or "UnitOfMeasure" in line:
            unit = unit_of(books, item, line, "Purchase")
            line.setdefault("UnitOfMeasure", unit.name)
            ratio = unit.ratio
        quantity = decimal(line, "Quantity") if "Quantity" in line else Decimal(1)
        percent = item.fields.get("DiscountRatePercent") or facts.get("PricePercent")
        if percent and not {"Amount", self.price} & line.keys():
            sign = -1 if item.kind.name == "ItemDiscount" else 1
            line["Amount"] = money(sign * percent_of(above, Decimal(percent)))
        elif self.price not in line and "Amount" in line:
            if quantity:
                line[self.price] = number_text((decimal(line, "Amount") / quantity).quantize(UNIT_PRICE), 2)
        elif item.kind.name != "ItemSubtotal":
            line.setdefault(self.price, number_text(decimal(facts, "Price") * ratio, 2))
        line.setdefault("Amount", money(self._amount(line)))
        line["AccountRef"] = (
            line.get("OverrideItemAccountRef")
            or facts.get("AccountRef")
            or special_account(books, "InventoryAssets" if is_stock(item) else "UncategorizedExpenses")
        )
        if is_stock(item):
            complete_site(books, line)
            line["Stock"] = stock_of(books, item, number_text(quantity * ratio, 0))
        else:
            line.pop("Stock", None)
        note_computed(line, former)
        self.complete_state(draft, line)
        return decimal(line, "Amount")

    def complete_state(self, draft: Draft, line: Fields) -> None:
        """Fill in the state of a line that orders have."""

    def _amount(self, line: Fields) -> Decimal:
        price = decimal(line, self.price)
        return rounded(price * decimal(line, "Quantity")) if "Quantity" in line else rounded(price)

    def effects(self, books: Books, record: Record) -> Effects:  # noqa: ARG002 - all that posts stands in the record
        """Credit payables or the account that pays, debit each line, and put the items in stock."""
        fields = record.fields
        entity, total = reference_id(fields, self.entity), decimal(fields, self.total)
        is_open = self.account == "APAccountRef"
        account = reference_id(fields, self.account)
        postings = [Posting(account, -self.sign * total, entity, memo=fields.get("Memo", ""), is_open=is_open)]
        moves = []
        lines = list(flat_lines(record))
        for line in lines:
            if "AccountRef" not in line:
                continue
            amount = self.sign * decimal(line, "Amount")
            line_open = line.get("IsOpen") == "true"
            postings.append(
                Posting(
                    reference_id(line, "AccountRef"),
                    amount,
                    reference_id(line, "CustomerRef") or entity,
                    reference_id(line, "ItemRef"),
                    self.sign * decimal(line, "Quantity"),
                    reference_id(line, "ClassRef"),
                    line.get("Memo") or line.get("Desc", ""),
                    line.get("TxnLineID", ""),
                    line_open,
                )
            )
            if "Stock" in line:
                stock = {**line["Stock"], "AssetAccountRef": line["AccountRef"]}
                received = self.sign * decimal(stock, "Quantity")
                moves.append(stock_move(Role.PURCHASE, stock, received, amount=amount, entity=entity))
        settled = (
            Link(record.id, allocation["TxnID"], amount=decimal(allocation, "Amount"), owner=record.id)
            for allocation in fields.get("ApplyCheckToTxnAdd", ())
        )
        return Effects(tuple(postings), (*order_links(record, lines), *settled, *credit_links(record)), tuple(moves))


class PurchaseOrderRules(PurchaseRules):
    """Purchase orders post nothing. Receipts and bills fulfil them."""

    total = "TotalAmount"
    account = ""
    price = "Rate"
    item_line = "PurchaseOrderLineRet"
    is_numbered = True

    def complete_header(self, books: Books, draft: Draft) -> None:
        """Fill in the address of the addressee, the dates and the flags."""
        super().complete_header(books, draft)
        fields = draft.fields
        if draft.before is None:
            addressee = books.lists.get(draft.reference("ShipToEntityRef"))
            if addressee is not None and "ShipAddress" not in fields:
                addresses = (addressee.fields.get(name) for name in _ADDRESSES)
                fields["ShipAddress"] = next(filter(None, addresses), {})
            fields.setdefault("ExpectedDate", fields["TxnDate"])
            for name, value in (("IsManuallyClosed", "false"), ("IsToBePrinted", "true"), ("IsToBeEmailed", "false")):
                fields.setdefault(name, value)

    def complete_state(self, draft: Draft, line: Fields) -> None:  # noqa: ARG002
        """Open the line."""
        line.setdefault("IsManuallyClosed", "false")

    def effects(self, books: Books, record: Record) -> Effects:  # noqa: ARG002
        """Return no effects, because an order posts nothing."""
        return Effects()

    def derived(self, books: Books, record: Record) -> Fields:
        """Return the received quantity of each line, and whether the order is fully received."""
        quantities = fulfilled(books, record)

        def received(line: Fields) -> Fields:
            if "ItemRef" not in line:
                return line
            quantity = quantities.get(line["TxnLineID"], ZERO)
            rest = max(decimal(line, "Quantity") - quantity, ZERO)
            return {
                **line,
                "ReceivedQuantity": number_text(quantity, 0),
                "UnbilledQuantity": number_text(rest, 0),
                "IsBilled": "true" if quantity and not rest else "false",
            }

        key = "PurchaseOrderLineRet|PurchaseOrderLineGroupRet"
        return {
            **super().derived(books, record),
            "IsFullyReceived": "true" if is_fulfilled(books, record) else "false",
            key: shown_lines(record.fields.get(key, ()), received),
        }


class BillRules(PurchaseRules):
    """Bills credit accounts payable. Bill payments and credits settle them."""

    total = "AmountDue"

    def complete_due_date(self, books: Books, draft: Draft) -> None:
        """Compute the due date from the terms. A bill without terms is due after ten days."""
        fields = draft.fields
        if "DueDate" not in fields and not draft.reference("TermsRef"):
            fields["DueDate"] = (
                date.fromisoformat(fields["TxnDate"]) + timedelta(days=_DAYS_BILLS_ARE_DUE)
            ).isoformat()
        super().complete_due_date(books, draft)

    def derived(self, books: Books, record: Record) -> Fields:
        """Return the open amount, and whether the bill is paid."""
        left = books.ledger.open_amount(record.id)
        return {
            **super().derived(books, record),
            "IsPending": "false",
            "OpenAmount": money(left),
            "IsPaid": "true" if left <= 0 else "false",
        }


class ItemReceiptRules(PurchaseRules):
    """Items that arrived without a bill."""

    total = "TotalAmount"


class VendorCreditRules(PurchaseRules):
    """Credits of vendors reverse the postings of a bill."""

    sign = -1
    total = "CreditAmount"

    def derived(self, books: Books, record: Record) -> Fields:
        """Return the unused amount of the credit."""
        return {**super().derived(books, record), "OpenAmount": money(books.ledger.open_amount(record.id))}


class CheckRules(PurchaseRules):
    """Checks credit a bank account. They can refund a customer's credit."""

    entity = "PayeeEntityRef"
    account = "AccountRef"

    def complete(self, books: Books, draft: Draft) -> None:
        """Check the transactions that the check is applied to. Raises `RequestError` 3120 or 3210."""
        super().complete(books, draft)
        fields = draft.fields
        fields.setdefault("IsToBePrinted", "false")
        if fields["IsToBePrinted"] == "true" and draft.before is None and "RefNumber" not in draft.fields_set:
            fields.pop("RefNumber", None)
        if "ApplyCheckToTxnAdd" in draft.extra:
            fields["ApplyCheckToTxnAdd"] = draft.extra["ApplyCheckToTxnAdd"]
        applied = fields.get("ApplyCheckToTxnAdd", ())
        if applied:
            own = draft.before.id if draft.before is not None else ""
            total = settle_any(books, applied, CREDITS, own)
            open_lines = (line for _, line in draft.lines() if line.get("IsOpen") == "true")
            if total > sum((decimal(line, "Amount") for line in open_lines), ZERO):
                raise refused("ApplyCheckToTxnAdd amount", money(total), "Enter a line to accounts receivable first.")

    def derived(self, books: Books, record: Record) -> Fields:
        """Return that the check is not pending, because QuickBooks keeps only checks of other programs pending."""
        return {**super().derived(books, record), "IsPending": "false"}

    def next_ref_number(self, books: Books, draft: Draft) -> str:
        """Return the number after the last check of the account, '' for a check that is to be printed."""
        return next_check_number(books, self.number_series(draft.kind, draft.fields), draft)

    def number_series(self, kind: Kind, fields: Fields) -> str:  # noqa: ARG002
        """Return the series of the bank account."""
        return check_series(fields, "AccountRef")


class CreditCardChargeRules(PurchaseRules):
    """Charges to a credit card."""

    entity = "PayeeEntityRef"
    account = "AccountRef"


class CreditCardCreditRules(CreditCardChargeRules):
    """Credits to a credit card."""

    sign = -1
