"""Every kind of list and transaction: the query for each, and whether a company can do without it."""

# ruff: noqa: SIM905 - a list of words is read as a line of text, not as a page of literals
from __future__ import annotations

CORE = (
    "Account Customer Vendor Employee OtherName ItemService ItemNonInventory ItemOtherCharge ItemDiscount ItemSubtotal "
    "ItemPayment ItemGroup ItemFixedAsset StandardTerms DateDrivenTerms PaymentMethod ShipMethod CustomerMsg "
    "CustomerType VendorType JobType SalesRep Invoice SalesReceipt CreditMemo ReceivePayment Bill BillPaymentCheck "
    "BillPaymentCreditCard VendorCredit Check CreditCardCharge CreditCardCredit Deposit JournalEntry Transfer"
).split()
"""The kinds that every company has, the most used of lists and of transactions first."""

SWITCHED = (
    "ItemInventory SalesTaxCode ItemSalesTax Class Estimate SalesOrder PurchaseOrder ItemReceipt InventoryAdjustment "
    "TimeTracking Charge ItemSalesTaxGroup ItemInventoryAssembly BuildAssembly PriceLevel Currency PayrollItemWage "
    "PayrollItemNonWage SalesTaxPaymentCheck ARRefundCreditCard ToDo UnitOfMeasureSet BillingRate Vehicle "
    "VehicleMileage WorkersCompCode TransferInventory InventorySite Template Lead"
).split()
"""The kinds that depend on the edition or on a preference. QuickBooks may refuse them with 3250."""

UNLIMITED = {"InventorySite", "Template"}
"""The kinds whose queries do not have MaxReturned. Their lists are short."""

OBJECTS = 3
"""How many objects of each kind are read."""


def query_of(kind: str) -> str:
    """Return the query for a kind."""
    limit = "" if kind in UNLIMITED else f"<MaxReturned>{OBJECTS}</MaxReturned>"
    return f"<{kind}QueryRq>{limit}</{kind}QueryRq>"
