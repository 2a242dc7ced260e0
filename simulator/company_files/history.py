"""One year of transactions, day by day: sales, purchases, receipts and payments.

The rules for requests complete and post every transaction, so the books add up. Later steps of a business
process are planned for their day: a sales order is shipped and invoiced, an invoice is paid, payments are deposited on
Fridays. Steps that are planned for a day after the end of the year do not happen.
"""

from __future__ import annotations

from collections import defaultdict
from datetime import date, timedelta
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Any

from simulator.books.records import reference_id
from simulator.rules.inventory import can_build
from simulator.schema.values import money

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

    from simulator.books import Fields, Record
    from simulator.company_files.maker import Maker
    from simulator.company_files.wholesale import Lists

YEAR = 2025
FIRST_DAY, LAST_DAY = date(YEAR, 1, 1), date(YEAR, 12, 31)
FRIDAY = 4
SATURDAY = 5
MAX_DEPOSIT_LINES = 40
USUAL_SALES_ORDERS = 300
CHECKING, UNDEPOSITED, CARD = "Checking", "Undeposited Funds", "Company Card"

# Probabilities of events, from 0 to 1.
ESTIMATED, ACCEPTED, SHIPPED, GROUPED, DISCOUNTED = 0.12, 0.7, 0.85, 0.04, 0.05
UNPAID, PAID_IN_PART, RETURNED, BY_CARD = 0.07, 0.05, 0.04, 0.12
RECEIVED_FIRST, SENT_BACK = 0.15, 0.05

_MONTHLY_CHECKS = (
    (1, "Rent", "2400.00"),
    (5, "Utilities:Electricity", "310.00"),
    (6, "Telephone", "145.00"),
    (12, "Insurance", "260.00"),
)
_CARD_DAYS = {4, 11, 18, 26}
_MIDDLE_OF_MONTH, _TAX_DAY, _UPDATE_DAY, _PAYDAY = 15, 20, 22, 27
_AFTER_A_QUARTER = {1, 4, 7, 10}
_CARD_CHARGES = ("Vehicle Costs:Fuel", "Office Supplies", "Postage", "Travel and Meals")


class Year:
    """Generates the year. `sales_orders` is the number of sales orders, and everything else is in proportion."""

    def __init__(self, maker: Maker, lists: Lists, random: Random, sales_orders: int) -> None:
        self._maker = maker
        self._books = maker.books
        self._lists = lists
        self._random = random
        self._sales_orders = sales_orders
        self._plan: defaultdict[date, list[Callable[[], object]]] = defaultdict(list)
        self._numbers: defaultdict[str, int] = defaultdict(int)
        self._to_deposit: list[Record] = []
        self._bills: list[tuple[str, Record]] = []
        self._buyers = [customer for customer in lists.customers if customer.is_active] or lists.customers
        self._on_order: set[str] = set()
        self._credits: defaultdict[str, list[Record]] = defaultdict(list)
        self._today, self._date = FIRST_DAY, FIRST_DAY.isoformat()

    def play(self) -> None:
        """Add the transactions of the year."""
        self._at(FIRST_DAY, self._open_books)
        for _ in range(self._sales_orders):
            self._at(self._some_day(), self._order)
            if self._random.random() < ESTIMATED:
                self._at(self._some_day(), self._estimate)
            if self._random.random() < 0.8:  # noqa: PLR2004 - four direct invoices for five orders
                self._at(self._some_day(), lambda: self._invoice(self._buyer(), self._sales_lines("Invoice")))
            if self._random.random() < 0.2:  # noqa: PLR2004 - one cash sale for five orders
                self._at(self._some_day(), self._cash_sale)
        days = [FIRST_DAY + timedelta(days=offset) for offset in range((LAST_DAY - FIRST_DAY).days + 1)]
        for day in days:
            self._plan_routine(day)
        for day in days:
            self._today, self._date = day, day.isoformat()
            self._maker.open_day(day)
            for action in self._plan[day]:  # an action can plan another one for the same day
                action()
                if day == FIRST_DAY:
                    self._maker.open_day(day)  # the books begin with transactions of one time

    # The calendar

    def _at(self, day: date, action: Callable[[], object]) -> None:
        """Plan an action for a day, or for the Monday after a weekend. Nothing happens after the year."""
        while day.weekday() >= SATURDAY:
            day += timedelta(days=1)
        if day <= LAST_DAY:
            self._plan[day].append(action)

    def _after(self, days: int, action: Callable[[], object]) -> None:
        self._at(self._today + timedelta(days=days), action)

    def _some_day(self) -> date:
        return FIRST_DAY + timedelta(days=self._random.randrange(1, 364))

    def _plan_routine(self, day: date) -> None:
        """Plan the actions of a day of the month, of the week, or after a quarter."""
        actions: list[Callable[[], object]] = [
            partial(self._check, account, amount) for number, account, amount in _MONTHLY_CHECKS if number == day.day
        ]
        if day.weekday() == 0:
            actions.append(self._reorder)
        if day.weekday() == FRIDAY:
            actions += (self._deposit, self._pay_bills)
        if day.day in _CARD_DAYS:
            actions.append(self._charge_card)
        if day.day == _MIDDLE_OF_MONTH:
            actions += (self._build, self._statement_charge, self._track_time, self._drive)
        if day.day == _UPDATE_DAY:
            actions.append(self._update_lists)
        if day.day == _PAYDAY:
            actions += (self._pay_wages, self._depreciate, self._save, self._pay_card)
        if day.month in _AFTER_A_QUARTER and day.day == _TAX_DAY:
            actions += (self._pay_sales_tax, self._count_stock)
        for action in actions:
            self._at(day, action)

    # Helpers

    def _add(self, kind: str, fields: Fields, **extra: object) -> Record:
        return self._maker.add(kind, {"TxnDate": self._date, **fields}, **extra)

    def _number(self, name: str, start: int) -> str:
        self._numbers[name] += 1
        return str(start + self._numbers[name])

    def _account(self, name: str) -> Fields:
        return self._maker.account(name)

    def _some(self, low: int, high: int) -> str:
        """Return a random amount between two numbers of dollars."""
        return f"{self._random.randint(low * 100, high * 100) / 100:.2f}"

    def _in_proportion(self, amount: str) -> str:
        """Scale a cost of a company with 300 sales orders to this company."""
        return money((Decimal(amount) * max(self._sales_orders, 1) / USUAL_SALES_ORDERS).quantize(Decimal("0.01")))

    def _buyer(self) -> Record:
        return self._random.choice(self._buyers)

    # Sales

    def _sales_lines(self, kind: str) -> list[list[Any]]:
        random, lists = self._random, self._lists
        lines: list[list[Any]] = []
        for _ in range(random.randint(1, 4)):
            share = random.random()
            items = lists.goods if share < 0.7 else lists.services if share < 0.85 else lists.not_in_stock  # noqa: PLR2004
            item = random.choice(items)
            lines.append([f"{kind}LineRet", {"ItemRef": item.reference(), "Quantity": str(random.randint(1, 6))}])
        if kind == "Invoice":
            if random.random() < GROUPED:
                group = {"ItemGroupRef": self._maker.reference("ItemGroup", "Sink set"), "Quantity": "1"}
                lines.append(["InvoiceLineGroupRet", group])
            if random.random() < DISCOUNTED:
                for name in ("Subtotal", "Trade discount"):
                    lines += [[f"{kind}LineRet", {"ItemRef": self._maker.reference("ItemSubtotal", name)}]]
            if random.random() < GROUPED:
                lines.append([f"{kind}LineRet", {"ItemRef": self._maker.reference("ItemOtherCharge", "Freight")}])
        return lines

    def _form(self, kind: str, customer: Record, lines: list[list[Any]]) -> Fields:
        return {"CustomerRef": customer.reference(), f"{kind}LineRet|{kind}LineGroupRet": lines}

    def _estimate(self) -> None:
        customer = self._buyer()
        fields = self._form("Estimate", customer, self._sales_lines("Estimate"))
        estimate = self._add("Estimate", {**fields, "RefNumber": self._number("E", 100)})
        if self._random.random() < ACCEPTED:
            self._after(self._random.randint(2, 15), lambda: self._invoice(customer, [], [estimate.id]))

    def _order(self) -> None:
        customer = self._buyer()
        self._numbers["SO"] += 1
        number = self._numbers["SO"]
        shipping_day = self._today + timedelta(days=self._random.randint(2, 12))
        order = self._add(
            "SalesOrder",
            {
                **self._form("SalesOrder", customer, self._sales_lines("SalesOrder")),
                # Every tenth number has letters, because RefNumber filters treat those differently.
                "RefNumber": f"SO-{number}" if number % 10 == 0 else str(1000 + number),
                "ShipDate": shipping_day.isoformat(),
            },
        )
        if self._random.random() < SHIPPED:
            self._at(shipping_day, lambda: self._invoice(customer, [], [order.id]))

    def _invoice(self, customer: Record, lines: list[list[Any]], orders: list[str] | None = None) -> None:
        invoice = self._add(
            "Invoice",
            {**self._form("Invoice", customer, lines), "RefNumber": self._number("I", 5000), "IsToBePrinted": "false"},
            LinkToTxnID=orders or [],
        )
        if self._random.random() < RETURNED:
            self._after(self._random.randint(3, 10), lambda: self._credit(customer, invoice))
        share = self._random.random()
        if share < UNPAID:
            return
        day = date.fromisoformat(invoice.fields["DueDate"])
        delay = self._random.randint(-25, 20)
        part = share < UNPAID + PAID_IN_PART
        self._at(max(day + timedelta(days=delay), self._today), lambda: self._receive(customer, invoice, part=part))

    def _credit(self, customer: Record, invoice: Record) -> None:
        """Write a credit memo for one line of an invoice."""
        line = next((line for name, line in invoice.lines() if name == "InvoiceLineRet" and "Quantity" in line), None)
        if line is not None:
            returned = {"ItemRef": line["ItemRef"], "Quantity": "1", "Rate": line.get("Rate", "0.00")}
            fields = self._form("CreditMemo", customer, [["CreditMemoLineRet", returned]])
            memo = self._add("CreditMemo", {**fields, "RefNumber": self._number("CM", 800)})
            self._credits[customer.id].append(memo)

    def _receive(self, customer: Record, invoice: Record, *, part: bool) -> None:
        ledger = self._books.ledger
        due = ledger.open_amount(invoice.id)
        if due <= 0:
            return
        amount = (due / 2).quantize(Decimal("0.01")) if part else due
        applied: Fields = {"TxnID": invoice.id, "PaymentAmount": money(amount)}
        if part:
            self._after(30, lambda: self._receive(customer, invoice, part=False))
        else:
            amount = self._settle(customer, invoice, applied, due)
        method = self._random.choice(("Check", "Check", "Bank transfer", "Visa"))
        payment = self._add(
            "ReceivePayment",
            {
                "CustomerRef": customer.reference(),
                "RefNumber": self._number("P", 7000),
                "TotalAmount": money(amount),
                "PaymentMethodRef": self._maker.reference("PaymentMethod", method),
                "AppliedToTxnRet": [applied],
            },
        )
        if amount:
            self._to_deposit.append(payment)

    def _settle(self, customer: Record, invoice: Record, applied: Fields, due: Decimal) -> Decimal:
        """Apply an open credit of the customer and an early-payment discount. Return the amount to pay."""
        ledger = self._books.ledger
        memos = self._credits[customer.id]
        if memos and ledger.open_amount(memos[0].id) <= due:
            memo = memos.pop(0)
            amount = ledger.open_amount(memo.id)
            applied["SetCredit"] = [{"CreditTxnID": memo.id, "AppliedAmount": money(amount)}]
            due -= amount
        elif invoice.fields.get("TermsRef") == self._maker.reference("StandardTerms", "2% 10 Net 30"):
            discount_days = 10
            if (self._today - date.fromisoformat(invoice.fields["TxnDate"])).days <= discount_days:
                discount = (due * Decimal("0.02")).quantize(Decimal("0.01"))
                applied |= {"DiscountAmount": money(discount), "DiscountAccountRef": self._account("Sales Discounts")}
                due -= discount
        applied["PaymentAmount"] = money(due)
        return due

    def _cash_sale(self) -> None:
        receipt = self._add(
            "SalesReceipt",
            {
                **self._form("SalesReceipt", self._buyer(), self._sales_lines("SalesReceipt")),
                "RefNumber": self._number("SR", 300),
                "PaymentMethodRef": self._maker.reference("PaymentMethod", self._random.choice(("Cash", "Visa"))),
            },
        )
        self._to_deposit.append(receipt)

    def _statement_charge(self) -> None:
        self._add(
            "Charge",
            {
                "CustomerRef": self._buyer().reference(),
                "ItemRef": self._random.choice(self._lists.services).reference(),
                "Quantity": "1",
                "RefNumber": self._number("FC", 50),
            },
        )

    # Purchases

    def _reorder(self) -> None:
        """Order items that are low in stock, with one purchase order to each vendor."""
        low: defaultdict[str, list[Record]] = defaultdict(list)
        for item in self._lists.goods:
            on_hand = self._books.ledger.stock(item.id).quantity
            if item.id not in self._on_order and on_hand < int(item.fields["ReorderPoint"]):
                low[reference_id(item.fields, "PrefVendorRef")].append(item)
        for vendor_id, items in low.items():
            self._purchase(self._books.lists[vendor_id], items)

    def _purchase(self, vendor: Record, items: list[Record]) -> None:
        lines = []
        for item in items:
            point = int(item.fields["ReorderPoint"])
            missing = max(point - int(self._books.ledger.stock(item.id).quantity), 0)
            self._on_order.add(item.id)
            lines.append(
                ["PurchaseOrderLineRet", {"ItemRef": item.reference(), "Quantity": str(2 * point + 2 * missing)}]
            )
        order = self._add(
            "PurchaseOrder",
            {
                "VendorRef": vendor.reference(),
                "RefNumber": self._number("PO", 3000),
                "PurchaseOrderLineRet|PurchaseOrderLineGroupRet": lines,
            },
        )
        self._after(self._random.randint(2, 8), lambda: self._take_delivery(vendor, items, order))

    def _take_delivery(self, vendor: Record, items: list[Record], order: Record) -> None:
        self._on_order.difference_update(item.id for item in items)
        fields = {"VendorRef": vendor.reference(), "RefNumber": f"{vendor.full_name[:3]}-{self._number('B', 100)}"}
        if self._random.random() < RECEIVED_FIRST:
            self._add("ItemReceipt", fields, LinkToTxnID=[order.id])
            return
        bill = self._add("Bill", fields, LinkToTxnID=[order.id])
        self._bills.append((bill.fields["DueDate"], bill))
        if self._random.random() < SENT_BACK:
            self._after(3, lambda: self._send_back(vendor, items[0]))

    def _send_back(self, vendor: Record, item: Record) -> None:
        self._add(
            "VendorCredit",
            {
                "VendorRef": vendor.reference(),
                "RefNumber": self._number("VC", 900),
                "ItemLineRet|ItemGroupLineRet": [
                    ["ItemLineRet", {"ItemRef": item.reference(), "Quantity": "1", "Cost": item.fields["PurchaseCost"]}]
                ],
            },
        )

    def _pay_bills(self) -> None:
        """Pay the bills that are due within a week, with one check or card payment to each vendor."""
        limit = (self._today + timedelta(days=7)).isoformat()
        due: defaultdict[str, list[Record]] = defaultdict(list)
        for day, bill in self._bills:
            if day <= limit:
                due[reference_id(bill.fields, "VendorRef")].append(bill)
        self._bills = [row for row in self._bills if row[0] > limit]
        for vendor_id, bills in due.items():
            fields: Fields = {
                "PayeeEntityRef": {"ListID": vendor_id},
                "AppliedToTxnRet": [
                    {"TxnID": bill.id, "PaymentAmount": money(self._maker.books.ledger.open_amount(bill.id))}
                    for bill in bills
                ],
            }
            if self._random.random() < BY_CARD:
                card = {"CreditCardAccountRef": self._account(CARD), "RefNumber": self._number("BC", 400)}
                self._add("BillPaymentCreditCard", {**fields, **card})
            else:
                check = {"BankAccountRef": self._account(CHECKING), "RefNumber": self._number("check", 2000)}
                self._add("BillPaymentCheck", {**fields, **check})

    # Stock

    def _build(self) -> None:
        assembly = self._maker.reference("ItemInventoryAssembly", "Base unit")
        record = self._books.lists[assembly["ListID"]]
        quantity = min(int(can_build(self._books, record, self._date)), 5)
        if quantity:
            self._add("BuildAssembly", {"ItemInventoryAssemblyRef": assembly, "QuantityToBuild": str(quantity)})

    def _count_stock(self) -> None:
        counted = self._random.sample(self._lists.goods, 3)
        lines = [
            {"ItemRef": item.reference(), "QuantityAdjustment": {"QuantityDifference": difference}}
            for item, difference in zip(counted, ("-1", "-2", "-1"), strict=True)
        ]
        self._add(
            "InventoryAdjustment",
            {
                "AccountRef": self._account("Inventory Shrinkage"),
                "RefNumber": self._number("IA", 10),
                "Memo": "Stock count",
                "InventoryAdjustmentLineRet": lines,
            },
        )

    # Money

    def _open_books(self) -> None:
        """Start the year with money in the bank, equipment and a loan."""
        self._journal(
            "Opening balances",
            [(CHECKING, "60000.00"), ("Savings", "15000.00"), ("Furniture and Equipment", "14500.00")],
            [("Bank Loan", "25000.00"), ("Owner's Capital", "64500.00")],
        )

    def _journal(self, memo: str, debits: list[tuple[str, str]], credits_: list[tuple[str, str]]) -> None:
        lines = [
            [f"Journal{side}Line", {"AccountRef": self._account(account), "Amount": amount, "Memo": memo}]
            for side, rows in (("Debit", debits), ("Credit", credits_))
            for account, amount in rows
        ]
        self._add("JournalEntry", {"RefNumber": self._number("J", 0), "JournalDebitLine|JournalCreditLine": lines})

    def _pay_wages(self) -> None:
        wages, taxes, paid = (self._in_proportion(amount) for amount in ("15200.00", "1162.80", "12100.00"))
        withheld = money(Decimal(wages) + Decimal(taxes) - Decimal(paid))
        self._journal(
            "Payroll",
            [("Payroll:Wages", wages), ("Payroll:Taxes", taxes)],
            [(CHECKING, paid), ("Payroll Liabilities:Withholding", withheld)],
        )
        self._check("Payroll Liabilities:Withholding", withheld)

    def _depreciate(self) -> None:
        self._journal("Depreciation", [("Depreciation", "241.67")], [("Accumulated Depreciation", "241.67")])

    def _save(self) -> None:
        self._add(
            "Transfer",
            {
                "TransferFromAccountRef": self._account(CHECKING),
                "TransferToAccountRef": self._account("Savings"),
                "Amount": "500.00",
            },
        )

    def _check(self, account: str, amount: str) -> None:
        self._add(
            "Check",
            {
                "AccountRef": self._account(CHECKING),
                "RefNumber": self._number("check", 2000),
                "ExpenseLineRet": [{"AccountRef": self._account(account), "Amount": amount}],
            },
        )

    def _charge_card(self) -> None:
        kind = "CreditCardCredit" if self._random.random() < 0.05 else "CreditCardCharge"  # noqa: PLR2004 - a refund
        account = self._random.choice(_CARD_CHARGES)
        self._add(
            kind,
            {
                "AccountRef": self._account(CARD),
                "RefNumber": self._number("CC", 600),
                "ExpenseLineRet": [{"AccountRef": self._account(account), "Amount": self._some(15, 160)}],
            },
        )

    def _pay_card(self) -> None:
        owed = -self._books.ledger.accounts[self._account(CARD)["ListID"]]
        if owed > 0:
            self._check(CARD, money(owed))

    def _deposit(self) -> None:
        """Deposit the payments and cash sales of the week."""
        waiting, self._to_deposit = self._to_deposit, []
        for start in range(0, len(waiting), MAX_DEPOSIT_LINES):
            lines = [
                {"PaymentTxnID": waiting_record.id} for waiting_record in waiting[start : start + MAX_DEPOSIT_LINES]
            ]
            self._add("Deposit", {"DepositToAccountRef": self._account(CHECKING), "DepositLineRet": lines})

    def _pay_sales_tax(self) -> None:
        """Pay each agency the amount that the ledger shows."""
        payable = self._account("Sales Tax Payable")["ListID"]
        for item in self._books["ItemSalesTax"]:
            agency = reference_id(item.fields, "TaxVendorRef")
            owed = -self._books.ledger.entities[agency, payable]
            if owed > 0 and Decimal(item.fields["TaxRate"]):
                self._add(
                    "SalesTaxPaymentCheck",
                    {
                        "PayeeEntityRef": {"ListID": agency},
                        "BankAccountRef": self._account(CHECKING),
                        "RefNumber": self._number("check", 2000),
                        "SalesTaxPaymentCheckLineRet": [{"ItemSalesTaxRef": item.reference(), "Amount": money(owed)}],
                    },
                )

    # Lists

    def _update_lists(self) -> None:
        """Change the telephone number of a few customers and the cost of one item."""
        random, customers = self._random, self._lists.customers
        for customer in random.sample(customers, min(len(customers) // 20 + 1, len(customers))):
            self._maker.change(customer, Phone=f"555-{random.randint(0, 9999):04d}")
        item = random.choice(self._lists.goods)
        cost = (Decimal(item.fields["PurchaseCost"]) * Decimal("1.02")).quantize(Decimal("0.01"))
        self._maker.change(item, PurchaseCost=money(cost))

    # Work

    def _track_time(self) -> None:
        """Record the hours of the installers. Hours for a job are billable."""
        installation = next(service for service in self._lists.services if service.full_name == "Installation")
        for employee in self._lists.employees[-2:]:
            job = self._random.choice(self._lists.jobs) if self._lists.jobs else None
            self._add(
                "TimeTracking",
                {
                    "EntityRef": employee.reference(),
                    "Duration": f"PT{self._random.randint(2, 8)}H0M0S",
                    "ItemServiceRef": installation.reference(),
                    **({"CustomerRef": job.reference(), "BillableStatus": "Billable"} if job else {}),
                },
            )

    def _drive(self) -> None:
        self._maker.add(
            "VehicleMileage",
            {
                "VehicleRef": self._maker.reference("Vehicle", "Van 1"),
                "TripStartDate": self._today.isoformat(),
                "TripEndDate": self._today.isoformat(),
                "TotalMiles": str(self._random.randint(20, 180)),
            },
        )
