"""Fields take accounts, parties and amounts of the right kind: one case for each rule of the tables."""

from __future__ import annotations

from typing import Any

import pytest

from simulator.books import KINDS
from simulator.rules.requirements import ACCOUNT_TYPES, NOT_NEGATIVE, PARTIES, REQUIRED_ACCOUNTS
from simulator.tests.bookkeeping import Bookkeeper

RENT = {"AccountRef": "Rent", "Amount": "5.00"}
BACK = {"AccountRef": "Rent", "Amount": "-5.00"}
STOCK = {"IncomeAccountRef": "Sales", "COGSAccountRef": "Cost of Goods Sold", "AssetAccountRef": "Inventory Asset"}


def entry(debit: dict[str, Any], credit: dict[str, Any], amount: str = "5.00") -> dict[str, Any]:
    return {
        name: {
            field: value
            for field, value in (
                ("AccountRef", line["AccountRef"]),
                ("Amount", amount),
                ("EntityRef", line.get("EntityRef")),
            )
            if value
        }
        for name, line in (("JournalDebitLine", debit), ("JournalCreditLine", credit))
    }


OF_ADA = {"AccountRef": "Accounts Receivable", "EntityRef": "Ada"}
OF_SUPPLIER = {"AccountRef": "Accounts Payable", "EntityRef": "Supplier"}

CASES: dict[str, tuple[str, dict[str, Any], str]] = {
    "an invoice to a bank account": ("Invoice", {"CustomerRef": "Ada", "ARAccountRef": "Checking"}, "3210"),
    "a credit memo to payables": (
        "CreditMemo",
        {
            "CustomerRef": "Ada",
            "ARAccountRef": "Accounts Payable",
            "CreditMemoLineAdd": [{"ItemRef": "Work", "Rate": "5"}],
        },
        "3210",
    ),
    "a bill to receivables": (
        "Bill",
        {"VendorRef": "Supplier", "APAccountRef": "Accounts Receivable", "ExpenseLineAdd": [RENT]},
        "3210",
    ),
    "a bill with a non-posting account": (
        "Bill",
        {"VendorRef": "Supplier", "ExpenseLineAdd": [{**RENT, "AccountRef": "Estimates"}]},
        "3210",
    ),
    "a check from a credit card": ("Check", {"AccountRef": "Card", "ExpenseLineAdd": [RENT]}, "3210"),
    "a charge to a bank account": ("CreditCardCharge", {"AccountRef": "Checking", "ExpenseLineAdd": [RENT]}, "3210"),
    "a payment into income": (
        "ReceivePayment",
        {"CustomerRef": "Ada", "TotalAmount": "5.00", "DepositToAccountRef": "Sales", "IsAutoApply": False},
        "3210",
    ),
    "a deposit into an expense": (
        "Deposit",
        {"DepositToAccountRef": "Rent", "DepositLineAdd": [{"AccountRef": "Sales", "Amount": "5.00"}]},
        "3210",
    ),
    "a deposit from a non-posting account": (
        "Deposit",
        {"DepositToAccountRef": "Checking", "DepositLineAdd": [{"AccountRef": "Estimates", "Amount": "5.00"}]},
        "3210",
    ),
    "a transfer to income": (
        "Transfer",
        {"TransferFromAccountRef": "Checking", "TransferToAccountRef": "Sales", "Amount": "5.00"},
        "3210",
    ),
    "a transfer from an expense": (
        "Transfer",
        {"TransferFromAccountRef": "Rent", "TransferToAccountRef": "Checking", "Amount": "5.00"},
        "3210",
    ),
    "a transfer of less than nothing": (
        "Transfer",
        {"TransferFromAccountRef": "Card", "TransferToAccountRef": "Checking", "Amount": "-5.00"},
        "3180",
    ),
    "an entry to a non-posting account": (
        "JournalEntry",
        entry({"AccountRef": "Estimates"}, {"AccountRef": "Sales"}),
        "3210",
    ),
    "an entry with negative amounts": (
        "JournalEntry",
        entry({"AccountRef": "Rent"}, {"AccountRef": "Sales"}, "-5.00"),
        "3180",
    ),
    "an entry with two receivables lines": ("JournalEntry", entry(OF_ADA, OF_ADA), "3180"),
    "an entry with a receivables and a payables line": ("JournalEntry", entry(OF_ADA, OF_SUPPLIER), "3180"),
    "an entry to receivables without a customer": (
        "JournalEntry",
        entry({"AccountRef": "Accounts Receivable"}, {"AccountRef": "Sales"}),
        "3180",
    ),
    "a transfer out of receivables": (
        "Transfer",
        {"TransferFromAccountRef": "Accounts Receivable", "TransferToAccountRef": "Checking", "Amount": "5.00"},
        "3180",
    ),
    "a transfer to payables": (
        "Transfer",
        {"TransferFromAccountRef": "Checking", "TransferToAccountRef": "Accounts Payable", "Amount": "5.00"},
        "3180",
    ),
    "cash back to receivables": (
        "Deposit",
        {
            "DepositToAccountRef": "Checking",
            "CashBackInfoAdd": {"AccountRef": "Accounts Receivable", "Amount": "5.00"},
            "DepositLineAdd": [{"AccountRef": "Sales", "Amount": "9.00"}],
        },
        "3180",
    ),
    "a deposit from receivables of a vendor": (
        "Deposit",
        {
            "DepositToAccountRef": "Checking",
            "DepositLineAdd": [{"EntityRef": "Supplier", "AccountRef": "Accounts Receivable", "Amount": "5.00"}],
        },
        "3180",
    ),
    "a check to receivables without a name": (
        "Check",
        {"AccountRef": "Checking", "ExpenseLineAdd": [{**RENT, "AccountRef": "Accounts Receivable"}]},
        "3180",
    ),
    "a card charge to payables of a customer": (
        "CreditCardCharge",
        {
            "AccountRef": "Card",
            "PayeeEntityRef": "Ada",
            "ExpenseLineAdd": [{**RENT, "AccountRef": "Accounts Payable"}],
        },
        "3180",
    ),
    "a check with an item in receivables": (
        "Check",
        {
            "AccountRef": "Checking",
            "PayeeEntityRef": "Ada",
            "ItemLineAdd": [{"ItemRef": "Work", "Amount": "5.00", "OverrideItemAccountRef": "Accounts Receivable"}],
        },
        "3180",
    ),
    "a statement charge with income in receivables": (
        "Charge",
        {"CustomerRef": "Ada", "ItemRef": "Work", "OverrideItemAccountRef": "Accounts Receivable"},
        "3180",
    ),
    "an adjustment of stock in receivables": (
        "InventoryAdjustment",
        {
            "AccountRef": "Accounts Receivable",
            "CustomerRef": "Ada",
            "InventoryAdjustmentLineAdd": [{"ItemRef": "Hinge", "QuantityAdjustment": {"QuantityDifference": 1}}],
        },
        "3210",
    ),
    "a bill with an expense in receivables": (
        "Bill",
        {
            "VendorRef": "Supplier",
            "ExpenseLineAdd": [{**RENT, "AccountRef": "Accounts Receivable", "CustomerRef": "Ada"}],
        },
        "3180",
    ),
    "an invoice below zero": (
        "Invoice",
        {"CustomerRef": "Ada", "InvoiceLineAdd": [{"ItemRef": "Work", "Rate": "-5"}]},
        "3180",
    ),
    "a credit memo below zero": (
        "CreditMemo",
        {"CustomerRef": "Ada", "CreditMemoLineAdd": [{"ItemRef": "Work", "Rate": "-5"}]},
        "3180",
    ),
    "a sales receipt below zero": (
        "SalesReceipt",
        {"CustomerRef": "Ada", "SalesReceiptLineAdd": [{"ItemRef": "Work", "Rate": "-5"}]},
        "3180",
    ),
    "a bill below zero": ("Bill", {"VendorRef": "Supplier", "ExpenseLineAdd": [BACK]}, "3180"),
    "a vendor credit below zero": ("VendorCredit", {"VendorRef": "Supplier", "ExpenseLineAdd": [BACK]}, "3180"),
    "a check below zero": ("Check", {"AccountRef": "Checking", "ExpenseLineAdd": [BACK]}, "3180"),
    "a charge below zero": ("CreditCardCharge", {"AccountRef": "Card", "ExpenseLineAdd": [BACK]}, "3180"),
    "a billable line without a customer": (
        "Bill",
        {"VendorRef": "Supplier", "ExpenseLineAdd": [{**RENT, "BillableStatus": "Billable"}]},
        "3180",
    ),
    "sales tax paid to a customer": (
        "SalesTaxPaymentCheck",
        {
            "PayeeEntityRef": "Ada",
            "TxnDate": "2026-03-01",
            "BankAccountRef": "Checking",
            "IsToBePrinted": True,
            "SalesTaxPaymentCheckLineAdd": [{"ItemSalesTaxRef": "State", "Amount": "5.00"}],
        },
        "3210",
    ),
    "an item whose income is an asset": (
        "ItemInventory",
        {"Name": "Lock", **STOCK, "IncomeAccountRef": "Inventory Asset"},
        "3210",
    ),
    "an item whose cost is income": ("ItemInventory", {"Name": "Lock", **STOCK, "COGSAccountRef": "Sales"}, "3210"),
    "an item whose stock is an expense": (
        "ItemInventory",
        {"Name": "Lock", **STOCK, "AssetAccountRef": "Rent"},
        "3210",
    ),
    "an item without an asset account": (
        "ItemInventory",
        {"Name": "Lock", "IncomeAccountRef": "Sales", "COGSAccountRef": "Cost of Goods Sold"},
        "3150",
    ),
    "an account that nothing posts to": ("Account", {"Name": "Quotes", "AccountType": "NonPosting"}, "3210"),
    "a subaccount of another type": (
        "Account",
        {"Name": "Petty", "AccountType": "Expense", "ParentRef": "Checking"},
        "3130",
    ),
}


@pytest.fixture
def keeper() -> Bookkeeper:
    keeper = Bookkeeper()
    keeper.ask("SpecialAccountAddRq", {"SpecialAccountAdd": {"SpecialAccountType": "Estimates"}})
    keeper.invoice()
    keeper.add("Bill", VendorRef="Supplier", ExpenseLineAdd=[RENT])
    return keeper


@pytest.mark.parametrize("name", CASES)
def test_a_record_that_violates_a_rule_is_refused(keeper: Bookkeeper, name: str) -> None:
    kind, fields, status = CASES[name]

    assert keeper.refusal(kind, **fields)[0] == status


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        ("JournalEntry", entry(OF_ADA, {"AccountRef": "Sales"})),
        ("JournalEntry", entry({"AccountRef": "Rent"}, OF_SUPPLIER)),
        (
            "Deposit",
            {
                "DepositToAccountRef": "Checking",
                "DepositLineAdd": [{"EntityRef": "Ada", "AccountRef": "Accounts Receivable", "Amount": "5.00"}],
            },
        ),
        (
            "Check",
            {
                "AccountRef": "Checking",
                "PayeeEntityRef": "Supplier",
                "ExpenseLineAdd": [{**RENT, "AccountRef": "Accounts Payable"}],
            },
        ),
        ("Transfer", {"TransferFromAccountRef": "Checking", "TransferToAccountRef": "Card", "Amount": "5.00"}),
        ("Bill", {"VendorRef": "Supplier", "ExpenseLineAdd": [RENT, {**BACK, "Amount": "-4.00"}]}),
        (
            "Bill",
            {
                "VendorRef": "Supplier",
                "ExpenseLineAdd": [{**RENT, "CustomerRef": "Ada", "BillableStatus": "Billable"}],
            },
        ),
        ("Invoice", {"CustomerRef": "Ada"}),
        ("ItemInventory", {"Name": "Lock", **STOCK}),
        ("Account", {"Name": "Petty", "AccountType": "Bank", "ParentRef": "Checking"}),
    ],
)
def test_a_record_that_keeps_the_rules_is_added(keeper: Bookkeeper, kind: str, fields: dict[str, Any]) -> None:
    assert keeper.try_to_add(kind, **fields).get("statusCode") == "0"


def test_a_mod_keeps_the_rules_too(keeper: Bookkeeper) -> None:
    transfer = keeper.add(
        "Transfer", TransferFromAccountRef="Checking", TransferToAccountRef="Card", Amount="5.00"
    )  # fmt: skip
    identity = {"TxnID": transfer.findtext("TxnID"), "EditSequence": transfer.findtext("EditSequence")}

    response = keeper.ask("TransferModRq", {"TransferMod": {**identity, "TransferToAccountRef": "Sales"}})

    assert response.get("statusCode") == "3210"


def test_a_mod_moves_no_money_to_receivables_without_a_name(keeper: Bookkeeper) -> None:
    transfer = keeper.add(
        "Transfer", TransferFromAccountRef="Checking", TransferToAccountRef="Card", Amount="5.00"
    )  # fmt: skip
    identity = {"TxnID": transfer.findtext("TxnID"), "EditSequence": transfer.findtext("EditSequence")}

    response = keeper.ask("TransferModRq", {"TransferMod": {**identity, "TransferToAccountRef": "Accounts Receivable"}})

    assert response.get("statusCode") == "3170"
    assert keeper.balance("Accounts Receivable") == keeper.balance_of("Ada")


def test_amounts_of_two_customers_in_one_deposit_are_noted(keeper: Bookkeeper) -> None:
    keeper.company.strict = True
    lines = [
        {"EntityRef": name, "AccountRef": "Accounts Receivable", "Amount": "5.00"} for name in ("Ada", "Ada:Kitchen")
    ]
    keeper.add("Deposit", DepositToAccountRef="Checking", DepositLineAdd=lines)
    assert "open_lines_of_several_names" not in keeper.company.simplifications

    lines[1]["EntityRef"] = "Bruno"
    keeper.add("Deposit", DepositToAccountRef="Checking", DepositLineAdd=lines)

    assert keeper.company.simplifications["open_lines_of_several_names"] == 1


TYPE_CHANGES: list[tuple[str, str, str]] = [
    # account, new type, status or what strict mode names
    ("Accounts Receivable", "OtherCurrentAsset", "3210"),
    ("Accounts Payable", "OtherCurrentLiability", "3210"),
    ("Rent", "AccountsReceivable", "3210"),
    ("Unused", "AccountsPayable", "3210"),
    ("Unused", "NonPosting", "3210"),
    ("Estimates", "Expense", "3210"),
    ("Undeposited Funds", "Bank", "3210"),
    ("Checking", "Expense", "3210"),  # with a check
    ("Checking", "OtherCurrentAsset", "3210"),
    ("Savings", "Expense", "3210"),  # with a journal entry
    ("Card", "OtherCurrentLiability", "0"),  # without a transaction
    ("Sales", "Expense", "3210"),  # of items in stock
    ("Inventory Asset", "Expense", "3210"),
    ("Parent", "OtherExpense", "3210"),  # with a subaccount
    ("Parent:Child", "OtherExpense", "3130"),
    ("Unused", "Income", "0"),
    ("Unused", "Bank", "0"),
    ("Rent", "CostOfGoodsSold", "0"),
    ("Rent", "OtherExpense", "0"),
    ("Rent", "Equity", "used_account_of_another_type"),
    ("Loan", "LongTermLiability", "used_account_of_another_type"),
    ("Loan", "Income", "used_account_of_another_type"),
]


@pytest.mark.parametrize(("name", "account_type", "expected"), TYPE_CHANGES)
def test_an_account_changes_its_type_where_quickbooks_allows_it(
    keeper: Bookkeeper, name: str, account_type: str, expected: str
) -> None:
    for account, kind in (("Unused", "Expense"), ("Savings", "Bank"), ("Parent", "Expense"), ("Loan", "Equity")):
        keeper.add("Account", Name=account, AccountType=kind)
    keeper.add("Account", Name="Child", AccountType="Expense", ParentRef="Parent")
    keeper.ask("SpecialAccountAddRq", {"SpecialAccountAdd": {"SpecialAccountType": "UndepositedFunds"}})
    keeper.add("Check", AccountRef="Checking", ExpenseLineAdd=[RENT])
    keeper.add("JournalEntry", **entry({"AccountRef": "Savings"}, {"AccountRef": "Loan"}))
    record = keeper.get(name, "Account")
    keeper.company.strict = True
    identity = {"ListID": record.findtext("ListID"), "EditSequence": record.findtext("EditSequence")}

    response = keeper.ask("AccountModRq", {"AccountMod": {**identity, "AccountType": account_type}})

    noted = "used_account_of_another_type" in keeper.company.simplifications
    assert (response.get("statusCode"), noted) == (("0", True) if expected.startswith("used") else (expected, False)), (
        response.get("statusMessage")
    )
    if len(response):
        assert response.findtext("AccountRet/AccountType") == account_type


@pytest.mark.parametrize("kind", ACCOUNT_TYPES)
def test_every_field_of_the_tables_exists(kind: str) -> None:
    model = KINDS[kind].fields
    names = [*ACCOUNT_TYPES[kind], *REQUIRED_ACCOUNTS.get(kind, ()), *PARTIES.get(kind, ())[:1]]
    for name in names:
        line, _, field = name.rpartition("/")
        assert field in (model[line].content if line else model), name
    assert NOT_NEGATIVE.get(kind, "TxnID") in (*model.elements, "TxnID", "Amount", "TotalAmount")
