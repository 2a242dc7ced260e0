"""How far each behaviour of the simulated QuickBooks is that of the real one, for FIDELITY.md and `--strict`.

`python -m simulator.fidelity_page` prints the page. A test compares it with the file. Others find rules, requests and
messages without a row. A behaviour is "as in QuickBooks" only with a source.

A row names the requests, elements and values that depend on a simplification, so `--strict` finds them in a request;
what does not show there is on the page only. Statuses 3151 to 3153, 3205, 3220 and 3261 have no rule, because the
documents do not say when QuickBooks answers them. The fault `status` answers them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from simulator.basics.statuses import CAPTURED, OTHER_TEXTS, REPORTED, STATUSES, Basis, severity_of
from simulator.requests.coverage import Coverage
from simulator.rules.preferences import PREFERENCES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from xml.etree.ElementTree import Element as Node

    from simulator.requests.responses import Response
    from simulator.schema import Element

SCHEMA = "the schemas of qbXML 13.0 and 14.0, the request types and some responses of 16.0"
REFERENCE = "Intuit, QuickBooks Desktop API Reference"
GUIDE = "Intuit, QuickBooks Desktop Developer's Guide"
RESTATED = "Conductor, QuickBooks Desktop API reference, which restates Intuit's"
TEXTS = "texts_of_refusals"
_REASON = "QuickBooks error message:"
_QUICKBOOKS_REASONS = ("", "Invalid argument.  The specified record does not exist in the list.")
"""Reasons that are QuickBooks' own, and no reason."""


@dataclass(frozen=True, slots=True)
class Behaviour:
    """A behaviour, and how far it is that of QuickBooks.

    `subjects` are the modules, classes and functions with the rule: `rules.sales`, `rules.sales:InvoiceRules`,
    `requests.delete:void`. `kinds` and `covers` are what a request uses when it depends on a simplification, in the
    form of `Coverage.add`. With `is_noted`, the rule itself finds out whether a request depends on it, and calls
    `Books.assume`. A simplification without any of them does not depend on the request.
    """

    about: str
    basis: Basis
    source: str = ""
    subjects: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    covers: tuple[str, ...] = ()
    is_noted: bool = False

    @property
    def warns(self) -> bool:
        """Return whether `--strict` warns of requests that depend on it."""
        return bool(self.kinds or self.covers or self.is_noted)


def _same(about: str, source: str, *subjects: str) -> Behaviour:
    return Behaviour(about, Basis.QUICKBOOKS, source, subjects)


def _simple(
    about: str, *subjects: str, kinds: tuple[str, ...] = (), covers: tuple[str, ...] = (), source: str = ""
) -> Behaviour:
    return Behaviour(about, Basis.SIMPLIFIED, source, subjects, kinds, covers)


def _own(about: str, *subjects: str, source: str = "") -> Behaviour:
    return Behaviour(about, Basis.OURS, source, subjects)


def _noted(about: str, *subjects: str, source: str = "") -> Behaviour:
    return Behaviour(about, Basis.SIMPLIFIED, source, subjects, is_noted=True)


BEHAVIOURS: Mapping[str, Behaviour] = {
    # requests
    "schema": _same(
        "Order, enumerations, attributes, lengths, versions and editions of elements are checked. A field "
        "that an edition does not have is left out with 530.",
        SCHEMA,
        "requests.editions",
        "requests.reading",
        "requests.responses",
    ),
    "add": _same(
        "An Add fills in defaults, checks names and references, and returns the record.", REFERENCE, "requests.add:add"
    ),
    "mod": _same(
        "A Mod needs the current EditSequence. What it leaves out stays, an empty element clears, and lines "
        "that it does not name are removed.",
        REFERENCE,
        "requests.mod:mod",
    ),
    "cleared_status": _same(
        "ClearedStatusMod sets the status of a transaction or of a line.", REFERENCE, "requests.mod:set_cleared_status"
    ),
    "queries": _same(
        "Filters, IncludeRetElement, OwnerID, metaData and lists of ids; 1 without a match, 500 with the "
        "objects that exist.",
        f"{REFERENCE}; {CAPTURED}",
        "requests.query:query",
        "requests.filters",
        "requests.shown",
    ),
    "iterators": _own(
        "An iterator has the records that matched when it started, and ends with its session.",
        "requests.query",
        source="Status 3000 for an iterator that ended is reported by integrators.",
    ),
    "inactive_references": _own("A reference to an inactive record is 3140.", "requests.reading"),
    "macros": _own("defMacro and useMacro name ids within a message set. Errors are 9100 and 9101.", "requests.macros"),
    "deletion": _same(
        "An object that others refer to is not deleted. Deletions are found for 90 days.",
        REFERENCE,
        "requests.delete:delete_list_object",
        "requests.delete:delete_transaction",
        "requests.delete:deleted",
    ),
    "void": _same(
        "A void transaction keeps its number with amounts of zero and VOID: in its memo. Payments of it become unused.",
        f"{REFERENCE}; {REPORTED}",
        "requests.delete:void",
    ),
    "merge": _simple(
        "Every kind that ListMerge takes can be merged; references move to the other object. QuickBooks "
        "refuses some merges with 3500 and gives no reason.",
        "requests.delete:merge",
        covers=("ListMergeRq",),
    ),
    "message_sets": _own(
        "Responses are stored until they are cleared, by application and company file; a refused write is stored, too.",
        "company.message_sets",
        source=GUIDE,
    ),
    "custom_fields": _same(
        "Definitions are assigned to kinds of objects; values are checked against their type.",
        REFERENCE,
        "requests.data_extensions:add_definition",
        "requests.data_extensions:change_definition",
        "requests.data_extensions:delete_definition",
        "requests.data_extensions:query_definitions",
        "requests.data_extensions:set_value",
        "requests.data_extensions:delete_value",
    ),
    "special_objects": _same(
        "SpecialAccountAdd and SpecialItemAdd make what QuickBooks needs, once.",
        REFERENCE,
        "requests.special:add_account",
        "requests.special:add_item",
    ),
    "company_facts": _same(
        "HostQuery, CompanyQuery and PreferencesQuery have the fields of captured first calls of a session.",
        CAPTURED,
        "requests.company:host",
        "requests.company:company",
        "requests.company:preferences",
        "requests.facts",
    ),
    "company_history": _simple(
        "The file was never restored or condensed, and no data event was lost.",
        "requests.company:activity",
        "requests.company:nothing_to_do",
        covers=("CompanyActivityQueryRq", "DataEventRecoveryInfoDelRq", "DataEventRecoveryInfoQueryRq"),
    ),
    "empty_queries": _simple(
        "Payroll periods and tax returns are never found.",
        "requests.company:nothing_recorded",
        covers=("PayrollLastPeriodQueryRq", "SalesTaxReturnQueryRq", "SalesTaxReturnLineQueryRq"),
    ),
    "tax_lines": _simple(
        "The income tax form has eight lines, with names of our own.",
        "requests.company:tax_lines",
        covers=("AccountTaxLineInfoQueryRq", "TaxLineID"),
    ),
    "form_1099": _simple(
        "An account belongs to one box of the form 1099, and every threshold is 600.00 unless the request sets it.",
        "requests.company:form_1099",
        "requests.company:change_form_1099",
        covers=("Form1099CategoryAccountMappingQueryRq", "Form1099CategoryAccountMappingModRq"),
    ),
    "user_interface": _simple(
        "Requests that open a form of QuickBooks are refused with 3250.",
        "requests.company:needs_user_interface",
        covers=("ListDisplayAddRq", "ListDisplayModRq", "TxnDisplayAddRq", "TxnDisplayModRq"),
    ),
    "computed_queries": _same(
        "Open bills, undeposited payments, sales tax owed, bar codes and transactions of all kinds follow "
        "from the books.",
        REFERENCE,
        "requests.derived:bills_to_pay",
        "requests.derived:payments_to_deposit",
        "requests.derived:sales_tax_payable",
        "requests.derived:bar_codes",
        "requests.derived:transactions",
        "requests.derived:assemblies_that_can_be_built",
    ),
    "stock_by_site": _simple(
        "Stock is not counted by site: ItemSitesQuery has one row for each item, and a transfer moves no stock.",
        "requests.derived:item_sites",
        "rules.inventory:TransferInventoryRules",
        kinds=("TransferInventory",),
        covers=("ItemSitesQueryRq", "InventorySiteRef", "InventorySiteLocationRef"),
    ),
    # lists
    "lists": _same(
        "Names are unique without regard to case, over customers, vendors, employees and other names "
        "together. A list has five levels.",
        f"{REFERENCE}; {CAPTURED}",
        "rules.lists:ListRules",
        "rules.lists:CustomerRules",
        "rules.lists:VendorRules",
        "rules.lists:EmployeeRules",
        "rules.lists:AccountRules",
        "rules.entry",
    ),
    "types_of_accounts": _same(
        "No account changes to or from receivables, payables or NonPosting; none with subaccounts, that QuickBooks "
        "made, or whose transactions and items need the former type. Which status refuses it is our reading.",
        'Intuit, "Change an account type"; Solarsys, "Change of account type in QuickBooks Desktop"; Conductor',
        "rules.requirements",
    ),
    "used_account_of_another_type": _noted(
        "An account with transactions changes its type, and they are in other sections of the reports from then on. No "
        "document lists what QuickBooks allows, but for costs and expenses.",
        "rules.requirements",
    ),
    "opening_balances": _same(
        "OpenBalance makes an invoice, a bill or a journal entry; QuantityOnHand makes an adjustment.",
        REFERENCE,
        "rules.lists",
        "rules.items:StockItemRules",
    ),
    "rates": _same(
        "Price levels and billing rates change a price by percentage or by item.",
        REFERENCE,
        "rules.rates:PriceLevelRules",
        "rules.rates:BillingRateRules",
        "rules.rates:WorkersCompCodeRules",
    ),
    # transactions
    "numbers": _simple(
        "A number continues the last one of its kind, and checks those of their bank account.",
        "rules.common",
        source="QuickBooks continues the last number. Where it starts after a manual change is our reading.",
    ),
    "sales": _same(
        "Forms copy their customer's defaults; rate, amount, discount, subtotal, group and percentage follow "
        "the lines.",
        f"{REFERENCE}; {CAPTURED}",
        "rules.sales:InvoiceRules",
        "rules.sales:SalesReceiptRules",
        "rules.sales:CreditMemoRules",
        "rules.sales:EstimateRules",
        "rules.sales:SalesOrderRules",
        "rules.charges:ChargeRules",
    ),
    "lines_without_account": _simple(
        "An amount without an item, or with an item without an account, posts to Uncategorized Income or Expenses. The"
        ' message "Missing posting account" (3270) is answered for lines that name accounts themselves.',
        "rules.items",
    ),
    "discount_over_mixed_tax": _noted(
        "A taxable discount over lines of which only a part is taxable reduces what is taxed in proportion. Intuit "
        "says so of amounts, other sources say that they apply to the line above, and none says it of percentages.",
        "rules.tax",
        source='Intuit, "Use discount and subtotal items on an invoice"',
    ),
    "sales_tax": _simple(
        "The tax of a form is the sum of its items' percentages of the taxable lines, rounded half up for each item."
        " Intuit does not say how QuickBooks rounds it.",
        "rules.tax",
    ),
    "purchases": _same(
        "Bills, checks, card charges, receipts and vendor credits post expenses and items.",
        REFERENCE,
        "rules.purchases:BillRules",
        "rules.purchases:CheckRules",
        "rules.purchases:CreditCardChargeRules",
        "rules.purchases:CreditCardCreditRules",
        "rules.purchases:ItemReceiptRules",
        "rules.purchases:VendorCreditRules",
        "rules.purchases:PurchaseOrderRules",
    ),
    "bills_due": _simple("A bill without terms is due after ten days.", "rules.purchases"),
    "orders": _same(
        "A link copies the open lines of an order, and closes it when they are used up. No request links to an order or"
        " to a line of it twice. A line links to no estimate.",
        f"{REFERENCE}; {RESTATED}",
        "rules.orders",
    ),
    "more_than_ordered": _noted(
        "A linked line keeps a larger quantity than is open, and the order shows it as invoiced or received.",
        "rules.orders",
        source=f"{RESTATED}: a linked line can have any quantity. It does not say what the order shows then.",
    ),
    "payments": _same(
        "Payments settle debts oldest first or as requested, with discounts and credits, and never more than is due.",
        f"{REFERENCE}; {REPORTED}",
        "rules.payments:ReceivePaymentRules",
        "rules.payments:BillPaymentCheckRules",
        "rules.payments:BillPaymentCreditCardRules",
        "rules.payments:RefundRules",
    ),
    "broken_links": _own(
        "A change that breaks a link is 3210. A deletion or a void releases payments and credits.", "rules.settling"
    ),
    "banking": _same(
        "Deposits take payments out of undeposited funds; transfers and payments of sales tax move money.",
        REFERENCE,
        "rules.banking:DepositRules",
        "rules.banking:TransferRules",
        "rules.banking:SalesTaxPaymentRules",
    ),
    "open_accounts": _same(
        "An amount in receivables has a customer, one in payables a vendor, and a transaction posts to one such "
        "account. Which status refuses the rest is our reading.",
        f'{RESTATED}, for journal entries; QBGarage, "Journal entries to A/R and A/P accounts"',
        "rules.requirements:check_open_postings",
    ),
    "open_lines_of_several_names": _noted(
        "A transaction with amounts in receivables or payables of several customers or vendors is one open amount.",
        "rules.requirements:check_open_postings",
    ),
    "journal": _own(
        "A journal entry balances, and has one line at most to receivables or payables, with a name.",
        "rules.journal:JournalEntryRules",
        source="double entry",
    ),
    "requirements": _own(
        "Account types, parties and signs follow the forms of QuickBooks and double entry. Which status "
        "refuses which of them is our reading.",
        "rules.requirements",
    ),
    "average_cost": _same(
        "Stock is valued at its average cost by date, and a later receipt corrects earlier sales.",
        "the sources in books/costing.py",
        "books.costing",
        "rules.inventory:InventoryAdjustmentRules",
        "rules.inventory:BuildAssemblyRules",
    ),
    "builds": _same(
        "A build takes the stock of its date. Without enough it is refused or pending, and pending until RemovePending."
        " A build whose components go missing becomes pending.",
        f'Intuit, "Pending build"; {RESTATED}; C. Russell, QuickBooks and Beyond, on the dates of builds',
        "rules.inventory:hold_short_builds",
    ),
    "several_short_builds": _noted(
        "If a component of several builds goes missing, the build that was entered last becomes pending first.",
        "rules.inventory:hold_short_builds",
    ),
    "build_of_a_changed_assembly": _noted(
        "A changed build keeps the components with which it was entered, unless its quantity changes. QuickBooks asks "
        "its user.",
        "rules.inventory:BuildAssemblyRules",
        source='Intuit, "Mark an inventory assembly build as pending"',
    ),
    "negative_stock": _simple(
        "After units were sold before they were received, the average is the cost of the next receipt, even "
        "if it does not cover all of them. A return to the vendor takes units out at the average.",
        "books.costing",
        covers=("VendorCredit/ItemLineAdd", "VendorCredit/ItemLineMod"),
    ),
    "time_and_mileage": _same(
        "Time and mileage post nothing.",
        REFERENCE,
        "rules.inventory:TimeTrackingRules",
        "rules.inventory:VehicleMileageRules",
    ),
    "serial_numbers": _simple(
        "Serial and lot numbers are stored and not checked against stock.",
        "rules.inventory",
        covers=("SerialNumber", "LotNumber"),
    ),
    "problems": _own("The inspection API finds books that break their laws.", "rules.problems"),
    # preferences
    "preferences": _own(
        "What is off is refused with 3250 and left out of responses. QuickBooks documents the switches, and "
        "not what it does with each field.",
        "rules.preferences",
        source="A company without sales tax: captured responses.",
    ),
    "multi_currency": _simple(
        "The ledger, balances and reports do not convert foreign amounts. Rates are 1 unless the request names one.",
        "rules.currency",
        kinds=("Currency",),
        covers=PREFERENCES["multi_currency"].covers,
    ),
    "closing_date": _simple(
        "Everybody is refused in a closed period. In QuickBooks it depends on permissions and the password.",
        "rules.common",
        source=f"{REFERENCE}, TxnVoid",
    ),
    "tax_code_of_stock_items": _same(
        "A new stock item is taxable unless its request says otherwise, if sales tax is on.",
        f"{CAPTURED} (corpus: item-inventory-add)",
        "rules.items:StockItemRules",
    ),
    "address_with_a_gap": _same(
        "An address whose request leaves out a line is printed with the gap and returned without it.",
        f"{CAPTURED} (corpus: sales-receipt-add)",
        "requests.shown:address_block",
    ),
    # reports
    "balance_sheet": _same(
        "The headings, totals and column title of the balance sheet, and the places of retained earnings and income.",
        f"{CAPTURED} (corpus: balance-sheet)",
        "reports.statements:balance_sheet",
    ),
    "inventory_valuation": _same(
        "The columns of the inventory valuation summary, but for the one for units.",
        "Intuit, Inventory valuation summary report (INF13183)",
        "reports.stock:inventory_valuation",
    ),
    "order_of_accounts": _simple(
        "Accounts are in the order of the chart of accounts: by type, then by name. QuickBooks lets a user sort it.",
        "reports.selection:chart_of_accounts",
    ),
    "reports": _simple(
        "Reports follow from the ledger. Titles and columns are those of captured reports where there is one,"
        " and our reading where not.",
        "reports",
        "reports:respond",
        "reports.aging",
        "reports.columns",
        "reports.detail",
        "reports.jobs",
        "reports.selection",
        "reports.statements",
        "reports.stock",
        "reports.summary",
        "reports.table",
        "reports.taxes",
        "reports.tree",
        covers=tuple(name for name in PREFERENCES["reports_permitted"].covers),
    ),
    "cash_basis": _simple(
        "On a cash basis, a payment counts for the lines of its invoice in proportion.",
        "reports.cash",
        covers=("ReportBasis=Cash",),
    ),
    "payroll": _simple("The company pays nobody with QuickBooks: reports on payroll are empty.", "reports"),
    TEXTS: _own(
        'The reason after "QuickBooks error message:" is our wording, and so are the texts that FIDELITY.md marks.',
        "basics.statuses",
    ),
}
"""The behaviours by name."""


@cache
def _covered() -> Coverage:
    covered = Coverage()
    for name, behaviour in BEHAVIOURS.items():
        if behaviour.basis is Basis.SIMPLIFIED:
            covered.add(name, behaviour.kinds, behaviour.covers)
    return covered


def simplifications(request: Node, model: Element, response: Response, noted: Iterable[str]) -> tuple[str, ...]:
    """Return the names of the behaviours that a request depends on and that are not those of QuickBooks.

    `noted` are those that its rules noted.
    """
    names = dict.fromkeys((*(name for _, name in _covered().uses(request, model)), *sorted(noted)))
    if severity_of(response.code) == "Error" and not _is_text_of_quickbooks(response):
        names[TEXTS] = None
    return tuple(names)


def _is_text_of_quickbooks(response: Response) -> bool:
    """Return whether the whole message of a refusal is QuickBooks' own."""
    if response.message in OTHER_TEXTS.get(response.code, ()):
        return True
    text, _, reason = response.message.partition(_REASON)
    pattern = _pattern(response.code)
    return pattern is not None and bool(pattern.fullmatch(text.strip())) and reason.strip() in _QUICKBOOKS_REASONS


@cache
def _pattern(code: int) -> re.Pattern[str] | None:
    """Return a pattern of QuickBooks' text of a status with any values, None if the text is not QuickBooks'."""
    status = STATUSES.get(code)
    if status is None or status.basis is not Basis.QUICKBOOKS:
        return None
    return re.compile(".*".join(re.escape(part) for part in re.split(r"\{\w+\}", status.text)), re.DOTALL)
