"""The lists that a company has before its first customer: accounts, terms, taxes, payment methods, templates."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from simulator.company_files.maker import Maker
    from simulator.company_files.words import Place

ACCOUNTS = (
    ("Checking", "Bank"),
    ("Savings", "Bank"),
    ("Accounts Receivable", "AccountsReceivable"),
    ("Undeposited Funds", "OtherCurrentAsset"),
    ("Inventory Asset", "OtherCurrentAsset"),
    ("Prepaid Insurance", "OtherCurrentAsset"),
    ("Furniture and Equipment", "FixedAsset"),
    ("Vehicles", "FixedAsset"),
    ("Accumulated Depreciation", "FixedAsset"),
    ("Security Deposits", "OtherAsset"),
    ("Accounts Payable", "AccountsPayable"),
    ("Company Card", "CreditCard"),
    ("Sales Tax Payable", "OtherCurrentLiability"),
    ("Payroll Liabilities", "OtherCurrentLiability"),
    ("Payroll Liabilities:Withholding", "OtherCurrentLiability"),
    ("Payroll Liabilities:Pension", "OtherCurrentLiability"),
    ("Bank Loan", "LongTermLiability"),
    ("Opening Balance Equity", "Equity"),
    ("Owner's Capital", "Equity"),
    ("Owner's Draw", "Equity"),
    ("Retained Earnings", "Equity"),
    ("Sales", "Income"),
    ("Sales:Goods", "Income"),
    ("Sales:Services", "Income"),
    ("Sales:Shipping", "Income"),
    ("Sales Discounts", "Income"),
    ("Finance Charges", "Income"),
    ("Cost of Goods Sold", "CostOfGoodsSold"),
    ("Freight In", "CostOfGoodsSold"),
    ("Subcontractors", "CostOfGoodsSold"),
    ("Advertising", "Expense"),
    ("Bank Charges", "Expense"),
    ("Bad Debts", "Expense"),
    ("Depreciation", "Expense"),
    ("Insurance", "Expense"),
    ("Inventory Shrinkage", "Expense"),
    ("Office Supplies", "Expense"),
    ("Payroll", "Expense"),
    ("Payroll:Wages", "Expense"),
    ("Payroll:Taxes", "Expense"),
    ("Postage", "Expense"),
    ("Professional Fees", "Expense"),
    ("Rent", "Expense"),
    ("Repairs", "Expense"),
    ("Telephone", "Expense"),
    ("Travel and Meals", "Expense"),
    ("Utilities", "Expense"),
    ("Utilities:Electricity", "Expense"),
    ("Utilities:Water", "Expense"),
    ("Vehicle Costs", "Expense"),
    ("Vehicle Costs:Fuel", "Expense"),
    ("Vehicle Costs:Service", "Expense"),
    ("Interest Earned", "OtherIncome"),
    ("Interest Paid", "OtherExpense"),
    ("Purchase Orders", "NonPosting"),
    ("Sales Orders", "NonPosting"),
    ("Estimates", "NonPosting"),
)
"""The chart of accounts: full name and type."""

_SPECIAL = {
    "Accounts Payable": "AccountsPayable",
    "Accounts Receivable": "AccountsReceivable",
    "Cost of Goods Sold": "CostOfGoodsSold",
    "Estimates": "Estimates",
    "Inventory Asset": "InventoryAssets",
    "Opening Balance Equity": "OpeningBalanceEquity",
    "Purchase Orders": "PurchaseOrders",
    "Retained Earnings": "RetainedEarnings",
    "Sales Orders": "SalesOrders",
    "Sales Tax Payable": "SalesTaxPayable",
    "Undeposited Funds": "UndepositedFunds",
}
"""The accounts that QuickBooks uses by itself, by their SpecialAccountType."""

_TERMS = (
    {"Name": "Due on receipt", "StdDueDays": "0"},
    {"Name": "Net 15", "StdDueDays": "15"},
    {"Name": "Net 30", "StdDueDays": "30"},
    {"Name": "2% 10 Net 30", "StdDueDays": "30", "StdDiscountDays": "10", "DiscountPct": "2.00"},
)
_DATE_DRIVEN_TERMS = {"Name": "Due 15th", "DayOfMonthDue": "15", "DueNextMonthDays": "5"}
_NAMED = {
    "CustomerType": ("Commercial", "Residential", "Trade"),
    "VendorType": ("Supplier", "Service provider", "Tax agency"),
    "ShipMethod": ("Courier", "Freight", "Pick-up"),
    "JobType": ("New work", "Repair"),
    "CustomerMsg": ("Thank you for your business.", "Please remit to the address above."),
}
_TEMPLATES = {
    "Intuit Product Invoice": "Invoice",
    "Custom Sales Order": "SalesOrder",
    "Retail Estimate": "Estimate",
    "Custom Sales Receipt": "SalesReceipt",
    "Custom Credit Memo": "CreditMemo",
    "Custom Purchase Order": "PurchaseOrder",
}
_PAYMENT_METHODS = {"Cash": "Cash", "Check": "Check", "Visa": "Visa", "Bank transfer": "Other"}


def add_standard_lists(maker: Maker, place: Place) -> None:
    """Add the lists that every company of a country has."""
    for full_name, account_type in ACCOUNTS:
        special = _SPECIAL.get(full_name)
        maker.add(
            "Account",
            {
                **maker.named("Account", full_name),
                "AccountType": account_type,
                **({"SpecialAccountType": special} if special else {}),
            },
        )
    for terms in _TERMS:
        maker.add("StandardTerms", {**terms})
    maker.add("DateDrivenTerms", {**_DATE_DRIVEN_TERMS})
    for kind, names in _NAMED.items():
        for name in names:
            maker.add(kind, {"Name": name})
    for name, method_type in _PAYMENT_METHODS.items():
        maker.add("PaymentMethod", {"Name": name, "PaymentMethodType": method_type})
    for name, template_type in _TEMPLATES.items():
        maker.add("Template", {"Name": name, "TemplateType": template_type})
    _add_taxes(maker, place)


def _add_taxes(maker: Maker, place: Place) -> None:
    """Add the agencies, tax items and tax codes, and make the tax the default of new forms."""
    for agency in dict.fromkeys(tax.agency for tax in (*place.taxes, place.no_tax)):
        maker.add("Vendor", {"Name": agency, "VendorTypeRef": maker.reference("VendorType", "Tax agency")})
    for tax in (*place.taxes, place.no_tax):
        vendor = maker.reference("Vendor", tax.agency)
        maker.add("ItemSalesTax", {"Name": tax.name, "TaxRate": tax.rate, "TaxVendorRef": vendor})
    if place.tax_group:
        members = [maker.reference("ItemSalesTax", tax.name) for tax in place.taxes]
        maker.add("ItemSalesTaxGroup", {"Name": place.tax_group, "ItemSalesTaxRef": members})
    for (name, description), taxable in ((place.taxable_code, "true"), (place.exempt_code, "false")):
        maker.add("SalesTaxCode", {"Name": name, "Desc": description, "IsTaxable": taxable})
    maker.books.preferences["DefaultItemSalesTaxRef"] = maker.reference("ItemSalesTax", place.tax_item)
