"""The rules of each kind: the only place that names them all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.books.kinds import KINDS
from simulator.rules import banking, charges, inventory, items, journal, lists, payments, purchases, rates, sales
from simulator.rules.common import TransactionRules
from simulator.rules.lists import ListRules

if TYPE_CHECKING:
    from simulator.books.kinds import Kind
    from simulator.books.store import Rules

RULES: dict[str, Rules] = {
    **{kind.name: ListRules() if kind.is_list else TransactionRules() for kind in KINDS.values()},
    "Account": lists.AccountRules(),
    "ARRefundCreditCard": payments.RefundRules(),
    "Bill": purchases.BillRules(),
    "BillingRate": rates.BillingRateRules(),
    "BillPaymentCheck": payments.BillPaymentCheckRules(),
    "BillPaymentCreditCard": payments.BillPaymentCreditCardRules(),
    "BuildAssembly": inventory.BuildAssemblyRules(),
    "Charge": charges.ChargeRules(),
    "Check": purchases.CheckRules(),
    "CreditCardCharge": purchases.CreditCardChargeRules(),
    "CreditCardCredit": purchases.CreditCardCreditRules(),
    "CreditMemo": sales.CreditMemoRules(),
    "Customer": lists.CustomerRules(),
    "Deposit": banking.DepositRules(),
    "Employee": lists.EmployeeRules(),
    "Estimate": sales.EstimateRules(),
    "InventoryAdjustment": inventory.InventoryAdjustmentRules(),
    "Invoice": sales.InvoiceRules(),
    "ItemInventory": items.StockItemRules(),
    "ItemInventoryAssembly": items.StockItemRules(),
    "ItemReceipt": purchases.ItemReceiptRules(),
    "JournalEntry": journal.JournalEntryRules(),
    "PriceLevel": rates.PriceLevelRules(),
    "PurchaseOrder": purchases.PurchaseOrderRules(),
    "ReceivePayment": payments.ReceivePaymentRules(),
    "SalesOrder": sales.SalesOrderRules(),
    "SalesReceipt": sales.SalesReceiptRules(),
    "SalesTaxCode": lists.SalesTaxCodeRules(),
    "SalesTaxPaymentCheck": banking.SalesTaxPaymentRules(),
    "TimeTracking": inventory.TimeTrackingRules(),
    "Transfer": banking.TransferRules(),
    "TransferInventory": inventory.TransferInventoryRules(),
    "VehicleMileage": inventory.VehicleMileageRules(),
    "Vendor": lists.VendorRules(),
    "VendorCredit": purchases.VendorCreditRules(),
    "WorkersCompCode": rates.WorkersCompCodeRules(),
}
"""The rules by kind. A kind without a class of its own has those of all lists or of all transactions."""


def rules_of(kind: Kind) -> Rules:
    """Return the rules of a kind."""
    return RULES[kind.name]
