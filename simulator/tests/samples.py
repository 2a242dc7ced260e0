"""Requests, and the responses that QuickBooks installations gave to them: the status and the fields in their order.

The texts of the requests are our own. `python -m tools.qbxml_schema.samples` compares them with recorded responses.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from simulator.tests.bookkeeping import xml

LIST = "ListID TimeCreated TimeModified EditSequence Name"
NAMED = f"{LIST} FullName IsActive"
TXN = "TxnID TimeCreated TimeModified EditSequence TxnNumber"
OK = ("0 Info",)
NO_MATCH = ("1 Info",)
PARTIAL = ("500 Warn",)


@dataclass(frozen=True, slots=True)
class Sample:
    """Requests in a version of qbXML, the statuses of their responses, and the shapes of the records in those.

    `before` are requests that prepare the company, in one step or several. `{id}` and `{sequence}` in a step and in the
    request are the id and the EditSequence of the last record in the step before.
    `refusal` is a status and a message that a fault gives. `message_set` holds attributes of QBXMLMsgsRq.
    """

    request: str
    shapes: tuple[str, ...] = ()
    status: tuple[str, ...] = OK
    before: str | tuple[str, ...] = ""
    version: str = "7.0"
    refusal: tuple[int, str] | None = None
    message_set: str = ""
    company: dict[str, Any] = field(default_factory=dict)


def add(kind: str, **content: Any) -> str:
    """Write an Add request."""
    return xml({f"{kind}AddRq": {f"{kind}Add": content}})


def query(kind: str, **content: Any) -> str:
    """Write a query."""
    return xml({f"{kind}QueryRq": content})


def included(text: str) -> dict[str, list[str]]:
    """Ask for some fields only."""
    return {"IncludeRetElement": text.split()}


def numbered(number: str, **content: str) -> str:
    """Give the last account a number and a description."""
    account = {"ListID": "{id}", "EditSequence": "{sequence}", "AccountNumber": number, "Desc": "Special", **content}
    return xml({"AccountModRq": {"AccountMod": account}})


BUYER = {"CustomerRef": "Buyer"}
MAKER = {"VendorRef": "Maker"}
SALE = {"Price": "111.111", "AccountRef": "Sales"}
STREET = {"Addr1": "1 Street", "Addr2": "Floor 2"}
STATE = {"State": "CA", "PostalCode": "94001", "Country": "US"}
HINGE = {"ItemInventoryRef": "Hardware:Brass hinges", "Quantity": "2"}

PREPARATION = "".join(
    [
        add("Account", Name="Overdraft", AccountType="Bank", AccountNumber="61", Desc="Bank"),
        add("Customer", Name="Buyer"),
        add("Customer", Name="Job", ParentRef="Buyer"),
        add("Vendor", Name="Maker"),
        add("Vendor", Name="Packer", CompanyName="Co", VendorAddress=STREET),
        add("SalesTaxCode", Name="Ex", IsTaxable="false", Desc="Export"),
        add("CustomerMsg", Name="See you soon."),
        add(
            "UnitOfMeasureSet",
            Name="By the box",
            UnitOfMeasureType="Count",
            BaseUnit={"Name": "box", "Abbreviation": "bx"},
        ),
        add("ItemService", Name="Carbon", SalesOrPurchase={"Desc": "Carbon fibre", **SALE}),
        add("ItemService", Name="Repair", SalesOrPurchase=SALE),
        add(
            "ItemNonInventory",
            Name="Pencil",
            SalesOrPurchase={"Desc": "Pencils", "Price": "0.00", "AccountRef": "Sales"},
        ),
        add(
            "ItemInventoryAssembly",
            Name="Parts",
            IncomeAccountRef="Sales",
            COGSAccountRef="Cost of Goods Sold",
            AssetAccountRef="Inventory Asset",
        ),
        add(
            "ItemInventoryAssembly",
            Name="Door",
            ParentRef="Parts",
            UnitOfMeasureSetRef="By the box",
            SalesTaxCodeRef="Non",
            SalesDesc="A door",
            SalesPrice="13.00",
            IncomeAccountRef="Sales",
            PurchaseDesc="Parts of a door",
            PurchaseCost="2.69",
            COGSAccountRef="Cost of Goods Sold",
            AssetAccountRef="Inventory Asset",
            ItemInventoryAssemblyLine=[HINGE],
        ),
    ]
)

ACCOUNT = f"AccountRet({NAMED} Sublevel AccountType {{}}Balance TotalBalance {{}}CashFlowClassification)"
TAX_LINE = "TaxLineInfoRet(TaxLineID TaxLineName) "
SOLD = "Sublevel {}SalesOrPurchase({}Price AccountRef)"
INVOICE = (
    f"InvoiceRet({TXN} CustomerRef ARAccountRef TemplateRef TxnDate RefNumber"
    " BillAddress(Addr1 Addr2) BillAddressBlock(Addr1 Addr2) IsPending IsFinanceCharge DueDate ShipDate Subtotal"
    " SalesTaxPercentage SalesTaxTotal AppliedAmount BalanceRemaining IsPaid IsToBePrinted IsToBeEmailed"
    " InvoiceLineRet(TxnLineID ItemRef Desc Rate Amount SalesTaxCodeRef))"
)
BILL = f"BillRet({TXN} VendorRef APAccountRef TxnDate DueDate AmountDue IsPaid {{}}OpenAmount)"
ORDER = (
    f"PurchaseOrderRet({TXN} VendorRef {{}}TemplateRef TxnDate RefNumber VendorAddress(Addr1 Addr2)"
    " VendorAddressBlock(Addr1 Addr2) ShipAddress({}) ShipAddressBlock({}) DueDate ExpectedDate TotalAmount"
    " IsManuallyClosed IsFullyReceived IsToBePrinted IsToBeEmailed{})"
)
CUSTOMER = f"CustomerRet({NAMED} Sublevel Balance TotalBalance JobStatus PreferredDeliveryMethod)"
HOST = "HostRet(ProductName MajorVersion MinorVersion Country SupportedQBXMLVersion IsAutomaticLogin QBFileMode)"
PREFERENCES = (
    "PreferencesRet(AccountingPreferences(IsUsingAccountNumbers IsRequiringAccounts IsUsingClassTracking"
    " IsUsingAuditTrail IsAssigningJournalEntryNumbers)"
    " FinanceChargePreferences(AnnualInterestRate MinFinanceCharge GracePeriod IsAssessingForOverdueCharges"
    " CalculateChargesFrom IsMarkedToBePrinted)"
    " JobsAndEstimatesPreferences(IsUsingEstimates IsUsingProgressInvoicing IsPrintingItemsWithZeroAmounts)"
    " MultiCurrencyPreferences(IsMultiCurrencyOn)"
    " MultiLocationInventoryPreferences(IsMultiLocationInventoryAvailable IsMultiLocationInventoryEnabled)"
    " PurchasesAndVendorsPreferences(IsUsingInventory DaysBillsAreDue IsAutomaticallyUsingDiscounts)"
    " ReportsPreferences(AgingReportBasis SummaryReportBasis)"
    " SalesAndCustomersPreferences(IsTrackingReimbursedExpensesAsIncome IsAutoApplyingPayments"
    " PriceLevels(IsUsingPriceLevels IsRoundingSalesPriceUp))"
    " TimeTrackingPreferences(FirstDayOfWeek)"
    " CurrentAppAccessRights(IsAutomaticLoginAllowed {}IsPersonalDataAccessAllowed)"
    " ItemsAndInventoryPreferences(EnhancedInventoryReceivingEnabled IsTrackingSerialOrLotNumber FIFOEnabled{}))"
)
COMPANY = (
    "CompanyRet(IsSampleCompany CompanyName LegalCompanyName {} Phone {}FirstMonthFiscalYear FirstMonthIncomeTaxYear"
    " CompanyType {}TaxForm SubscribedServices(Service(Name Domain ServiceStatus))"
    " AccountantCopy(AccountantCopyExists) DataExtRet(OwnerID DataExtName DataExtType DataExtValue))"
)
FILE_OWNER = "{11111111-2222-3333-4444-555555555555}"

SAMPLES: dict[str, Sample] = {
    "an account": Sample(
        add("Account", Name="Travel", AccountType="Expense", AccountNumber="62", Desc="Trips", TaxLineID="8"),
        (ACCOUNT.format("AccountNumber Desc ", TAX_LINE),),
    ),
    "an account number that is too long": Sample(
        add("Account", Name="A", AccountType="Bank", AccountNumber="a5ad6d73"), status=("3070 Error",)
    ),
    "accounts": Sample(
        query("Account"),
        (
            ACCOUNT.format("SpecialAccountType AccountNumber Desc ", ""),
            ACCOUNT.format("AccountNumber Desc ", ""),
            ACCOUNT.format("AccountNumber Desc ", TAX_LINE),
            ACCOUNT.format("SpecialAccountType AccountNumber Desc ", TAX_LINE),
            ACCOUNT.format("AccountNumber BankNumber Desc ", TAX_LINE),
            ACCOUNT.format("AccountNumber ", TAX_LINE),
        ),
        before=(
            xml({"SpecialAccountAddRq": {"SpecialAccountAdd": {"SpecialAccountType": "PayrollExpenses"}}}),
            numbered("66"),
            xml({"SpecialAccountAddRq": {"SpecialAccountAdd": {"SpecialAccountType": "PettyCash"}}}),
            numbered("67", TaxLineID="8"),
            add("Account", Name="Card", AccountType="CreditCard", AccountNumber="63", TaxLineID="8")
            + add(
                "Account",
                Name="Gold",
                AccountType="CreditCard",
                AccountNumber="64",
                BankNumber="5",
                Desc="Gold",
                TaxLineID="8",
            )
            + add("Account", Name="Fees", AccountType="Expense", AccountNumber="65", Desc="Fees", TaxLineID="8"),
        ),
    ),
    "bills": Sample(
        query("Bill"),
        (BILL.format(""),),
        before=add("Bill", **MAKER, ExpenseLineAdd=[{"AccountRef": "Office Supplies", "Amount": "5.00"}]),
    ),
    "bills with lines": Sample(
        query("Bill", IncludeLineItems=True),
        (
            BILL.format("ExpenseLineRet(TxnLineID AccountRef Amount CustomerRef BillableStatus) "),
            BILL.format("ExpenseLineRet(TxnLineID AccountRef Amount) ItemLineRet(TxnLineID ItemRef Cost Amount) "),
        ),
        before=add(
            "Bill",
            **MAKER,
            ExpenseLineAdd=[{"AccountRef": "Office Supplies", "Amount": "5.00", **BUYER, "BillableStatus": "Billable"}],
        )
        + add(
            "Bill",
            **MAKER,
            ExpenseLineAdd=[{"AccountRef": "Office Supplies", "Amount": "5.00"}] * 2,
            ItemLineAdd=[{"ItemRef": "Repair", "Cost": "20.00", "Amount": "20.00"}],
        ),
    ),
    "a build": Sample(
        xml(
            {
                "BuildAssemblyAddRq": {
                    "BuildAssemblyAdd": {
                        "ItemInventoryAssemblyRef": "Parts:Door",
                        "RefNumber": "B1",
                        "Memo": "Batch",
                        "QuantityToBuild": "1",
                    },
                    **included(
                        "TxnID TimeCreated TimeModified EditSequence TxnDate RefNumber Memo ItemInventoryAssemblyRef"
                        " QuantityToBuild QuantityCanBuild QuantityOnHand"
                    ),
                }
            }
        ),
        (
            (
                "BuildAssemblyRet(TxnID TimeCreated TimeModified EditSequence ItemInventoryAssemblyRef TxnDate"
                " RefNumber Memo QuantityToBuild QuantityCanBuild QuantityOnHand)"
            ),
        ),
        before=add(
            "InventoryAdjustment",
            AccountRef="Cost of Goods Sold",
            InventoryAdjustmentLineAdd=[
                {"ItemRef": "Hardware:Brass hinges", "QuantityAdjustment": {"QuantityDifference": "500"}}
            ],
        ),
        version="13.0",
    ),
    "a build without enough parts": Sample(
        add("BuildAssembly", ItemInventoryAssemblyRef="Parts:Door", QuantityToBuild="99999999"),
        status=("3180 Error",),
    ),
    "a customer with a name alone": Sample(
        add("Customer", Name="New"),
        (f"CustomerRet({NAMED} Sublevel Balance TotalBalance JobStatus)",),
    ),
    "a job": Sample(
        add("Customer", Name="Job 2", ParentRef="Buyer"),
        (f"CustomerRet({NAMED} ParentRef Sublevel Balance TotalBalance JobStatus)",),
    ),
    "a customer with a number": Sample(
        add("Customer", Name="New", Email="a@example.com", AccountNumber="7"),
        (f"CustomerRet({NAMED} Sublevel Email Balance TotalBalance AccountNumber JobStatus)",),
    ),
    "a customer with an address": Sample(
        add(
            "Customer",
            Name="New",
            CompanyName="Co",
            Salutation="Ms",
            FirstName="A",
            LastName="B",
            BillAddress={"Addr1": "1 Street", "City": "Town", "State": "CA", "PostalCode": "94001"},
            Email="a@example.com",
            AccountNumber="7",
            CreditLimit="5.00",
        ),
        version="5.0",
        shapes=(
            (
                f"CustomerRet({NAMED} Sublevel CompanyName Salutation FirstName LastName"
                " BillAddress(Addr1 City State PostalCode) Email Balance TotalBalance AccountNumber CreditLimit"
                " JobStatus)"
            ),
        ),
    ),
    "a change that QuickBooks cannot lock": Sample(
        xml({"CustomerModRq": {"CustomerMod": {"ListID": "80000001-1", "EditSequence": "1"}}}),
        status=("3170 Error",),
        refusal=(3170, "There was an error when modifying a customer."),
    ),
    "a query that is refused because a record does not exist": Sample(
        query("Customer", ListID="80000001-1"),
        status=("3120 Error",),
        refusal=(3120, 'Object "80000001-1" specified in the request cannot be found.'),
    ),
    "a change of an old record": Sample(
        xml({"CustomerModRq": {"CustomerMod": {"ListID": "{id}", "EditSequence": "1"}}}),
        status=("3200 Error",),
        before=add("Customer", Name="New"),
    ),
    "a customer that does not exist": Sample(query("Customer", FullName="bleech"), status=PARTIAL),
    "two customers, one of them missing": Sample(
        query("Customer", FullName=["Buyer", "bleech"]), (CUSTOMER,), PARTIAL, version="13.0"
    ),
    "no customer that matches": Sample(
        query("Customer", NameFilter={"MatchCriterion": "Contains", "Name": "bleech"}), status=NO_MATCH
    ),
    "a page of customers": Sample(
        '<CustomerQueryRq requestID="1" iterator="Start"><MaxReturned>2</MaxReturned><NameFilter><MatchCriterion>'
        "StartsWith</MatchCriterion><Name>Page</Name></NameFilter></CustomerQueryRq>",
        (CUSTOMER,),
        before="".join(add("Customer", Name=f"Page {number} & Söne") for number in range(3)),
        version="13.0",
    ),
    "customers": Sample(query("Customer", FullName="Buyer"), (CUSTOMER,), version="13.0"),
    "the count of customers": Sample('<CustomerQueryRq metaData="MetaDataOnly" />', version="13.0"),
    "a name that is in use, and a request after it": Sample(
        add("Customer", Name="Buyer") + query("Customer"), status=("3100 Error", "3231 Error")
    ),
    "a definition of a data extension": Sample(
        query("DataExtDef", OwnerID="0", **included("OwnerID DataExtName DataExtType AssignToObject")),
        ("DataExtDefRet(OwnerID DataExtName DataExtType AssignToObject)",),
        version="13.0",
    ),
    "an estimate": Sample(
        add("Estimate", **BUYER, EstimateLineAdd=[{"ItemRef": "Carbon"}]),
        (
            (
                f"EstimateRet({TXN} CustomerRef TemplateRef TxnDate RefNumber IsActive DueDate Subtotal"
                " SalesTaxPercentage SalesTaxTotal TotalAmount IsToBeEmailed"
                " EstimateLineRet(TxnLineID ItemRef Desc Rate Amount SalesTaxCodeRef))"
            ),
        ),
    ),
    "estimates": Sample(
        query("Estimate"),
        (
            (
                f"EstimateRet({TXN} CustomerRef TemplateRef TxnDate RefNumber BillAddress(Addr1 Addr2)"
                " BillAddressBlock(Addr1 Addr2) IsActive DueDate Subtotal SalesTaxPercentage SalesTaxTotal TotalAmount"
                " Memo CustomerMsgRef IsToBeEmailed)"
            ),
        ),
        before=add(
            "Estimate",
            **BUYER,
            BillAddress=STREET,
            Memo="Good work",
            CustomerMsgRef="See you soon.",
            EstimateLineAdd=[{"ItemRef": "Carbon"}],
        ),
    ),
    "an invoice": Sample(
        add("Invoice", **BUYER, BillAddress=STREET, InvoiceLineAdd=[{"ItemRef": "Carbon"}]), (INVOICE,)
    ),
    "some fields of invoices": Sample(
        query("Invoice", IncludeLineItems=True, **included("TxnID InvoiceLineRet")),
        ("InvoiceRet(TxnID InvoiceLineRet(TxnLineID ItemRef Desc Rate Amount SalesTaxCodeRef))",),
        before=add("Invoice", **BUYER, InvoiceLineAdd=[{"ItemRef": "Carbon"}]),
    ),
    "a discount": Sample(
        add("ItemDiscount", Name="New", DiscountRate="5.00", AccountRef="Sales"),
        (f"ItemDiscountRet({NAMED} Sublevel DiscountRate AccountRef)",),
    ),
    "a group": Sample(
        add("ItemGroup", Name="New", ItemDesc="Some"),
        (f"ItemGroupRet({LIST} IsActive ItemDesc IsPrintItemsInGroup)",),
    ),
    "some fields of stock items": Sample(
        query(
            "ItemInventory",
            **included(f"{NAMED} QuantityOnHand AverageCost"),
        ),
        (f"ItemInventoryRet({NAMED} QuantityOnHand AverageCost)",),
    ),
    "an item that is not in stock": Sample(
        add("ItemNonInventory", Name="New", SalesOrPurchase=SALE),
        (f"ItemNonInventoryRet({NAMED} {SOLD.format('', '')})",),
    ),
    "another charge": Sample(
        add("ItemOtherCharge", Name="New", SalesOrPurchase=SALE),
        (f"ItemOtherChargeRet({NAMED} {SOLD.format('', '')})",),
    ),
    "a payment item": Sample(
        add("ItemPayment", Name="New", DepositToAccountRef="Checking"),
        (f"ItemPaymentRet({LIST} IsActive DepositToAccountRef)",),
    ),
    "a service": Sample(
        add("ItemService", Name="New", SalesOrPurchase=SALE), (f"ItemServiceRet({NAMED} {SOLD.format('', '')})",)
    ),
    "a subtotal": Sample(
        add("ItemSubtotal", Name="New", ItemDesc="Sum"), (f"ItemSubtotalRet({LIST} IsActive ItemDesc)",)
    ),
    "items": Sample(
        query("Item"),
        (
            f"ItemServiceRet({NAMED} {SOLD.format('', '')})",
            f"ItemServiceRet({NAMED} {SOLD.format('', 'Desc ')})",
            f"ItemNonInventoryRet({NAMED} {SOLD.format('', 'Desc ')})",
            f"ItemNonInventoryRet({NAMED} ParentRef {SOLD.format('', '')})",
            f"ItemNonInventoryRet({NAMED} ParentRef {SOLD.format('SalesTaxCodeRef ', '')})",
            f"ItemOtherChargeRet({NAMED} {SOLD.format('', 'Desc ')})",
            (
                f"ItemOtherChargeRet({NAMED} Sublevel SalesAndPurchase(SalesDesc SalesPrice IncomeAccountRef"
                " PurchaseDesc PurchaseCost ExpenseAccountRef PrefVendorRef))"
            ),
            (
                f"ItemInventoryAssemblyRet({NAMED} ParentRef Sublevel UnitOfMeasureSetRef SalesTaxCodeRef SalesDesc"
                " SalesPrice IncomeAccountRef PurchaseDesc PurchaseCost COGSAccountRef AssetAccountRef QuantityOnHand"
                " AverageCost QuantityOnOrder QuantityOnSalesOrder"
                " ItemInventoryAssemblyLine(ItemInventoryRef Quantity))"
            ),
            f"ItemSubtotalRet({LIST} IsActive)",
            f"ItemDiscountRet({NAMED} Sublevel ItemDesc SalesTaxCodeRef DiscountRate AccountRef)",
            f"ItemPaymentRet({LIST} IsActive ItemDesc DepositToAccountRef PaymentMethodRef)",
            f"ItemGroupRet({LIST} IsActive ItemDesc IsPrintItemsInGroup ItemGroupLine(ItemRef Quantity))",
        ),
        before="".join(
            [
                add("ItemNonInventory", Name="Red", ParentRef="Pencil", SalesOrPurchase=SALE),
                add("ItemNonInventory", Name="Blue", ParentRef="Pencil", SalesTaxCodeRef="Non", SalesOrPurchase=SALE),
                add("ItemOtherCharge", Name="Fee", SalesOrPurchase={"Desc": "A fee", **SALE}),
                add(
                    "ItemOtherCharge",
                    Name="Copper",
                    SalesAndPurchase={
                        "SalesDesc": "Copper",
                        "SalesPrice": "10.00",
                        "IncomeAccountRef": "Sales",
                        "PurchaseDesc": "Copper",
                        "PurchaseCost": "8.00",
                        "ExpenseAccountRef": "Office Supplies",
                        "PrefVendorRef": "Maker",
                    },
                ),
                add("ItemSubtotal", Name="Sum"),
                add(
                    "ItemDiscount",
                    Name="Less",
                    ItemDesc="Less",
                    SalesTaxCodeRef="Non",
                    DiscountRate="5.00",
                    AccountRef="Sales",
                ),
                add(
                    "ItemPayment",
                    Name="Cash down",
                    ItemDesc="Cash",
                    DepositToAccountRef="Checking",
                    PaymentMethodRef="Cash",
                ),
                add("ItemGroup", Name="Set", ItemDesc="Set", ItemGroupLine=[{"ItemRef": "Carbon", "Quantity": "1"}]),
            ]
        ),
    ),
    "services": Sample(
        query("ItemService"),
        (
            f"ItemServiceRet({NAMED} {SOLD.format('', 'Desc ')})",
            f"ItemServiceRet({NAMED} ParentRef {SOLD.format('', '')})",
        ),
        before=add("ItemService", Name="Wall", ParentRef="Carbon", SalesOrPurchase=SALE),
    ),
    "some fields of services": Sample(
        query("ItemService", **included("ListID Name")), ("ItemServiceRet(ListID Name)",)
    ),
    "the estimates and actuals of a job": Sample(
        query(
            "JobReport",
            JobReportType="JobEstimatesVsActualsDetail",
            DisplayReport=False,
            ReportEntityFilter={"FullName": "Buyer"},
        ),
        (
            (
                "ReportRet(ReportTitle ReportSubtitle ReportBasis NumRows NumColumns NumColTitleRows"
                " ColDesc[STRTYPE Label] ColDesc[AMTTYPE Est. Cost Amount] ColDesc[AMTTYPE Act. Cost Amount]"
                " ColDesc[AMTTYPE ($) Diff. AmountDifference] ColDesc[AMTTYPE Est. Revenue Amount]"
                " ColDesc[AMTTYPE Act. Revenue Amount] ColDesc[AMTTYPE ($) Diff. AmountDifference])"
            ),
            "ReportData(DataRow(RowData ColData))",
            "ReportData(SubtotalRow(ColData))",
            "ReportData(SubtotalRow(RowData ColData))",
            "ReportData(TextRow)",
            "ReportData(TotalRow(ColData))",
        ),
        before=add("ItemService", Name="Roof", ParentRef="Carbon", SalesOrPurchase=SALE)
        + add("Estimate", **BUYER, EstimateLineAdd=[{"ItemRef": name} for name in ("Carbon", "Carbon:Roof")]),
    ),
    "the stock by item": Sample(
        query("GeneralSummaryReport", GeneralSummaryReportType="InventoryStockStatusByItem", DisplayReport=False),
        (
            (
                "ReportRet(ReportTitle ReportSubtitle ReportBasis NumRows NumColumns NumColTitleRows"
                " ColDesc[STRTYPE Blank] ColDesc[STRTYPE Item Description ItemDesc]"
                " ColDesc[STRTYPE Pref Vendor ItemVendor] ColDesc[QUANTYPE Reorder Pt ReorderPoint]"
                " ColDesc[QUANTYPE On Hand QuantityOnHand] ColDesc[BOOLTYPE Order SuggestedReorder]"
                " ColDesc[QUANTYPE On PO QuantityOnOrder] ColDesc[DATETYPE Next Deliv EarliestReceiptDate]"
                " ColDesc[QUANTYPE Sales/Week SalesPerWeek])"
            ),
            "ReportData(DataRow(RowData ColData))",
            "ReportData(SubtotalRow(RowData ColData))",
            "ReportData(TextRow)",
        ),
    ),
    "some fields of a journal entry": Sample(
        xml(
            {
                "JournalEntryAddRq": {
                    "JournalEntryAdd": {
                        "JournalDebitLine": {"AccountRef": "Checking", "Amount": "5.00"},
                        "JournalCreditLine": {"AccountRef": "Sales", "Amount": "5.00"},
                    },
                    **included("TxnID"),
                }
            }
        ),
        ("JournalEntryRet(TxnID)",),
    ),
    "a journal entry that does not balance": Sample(
        add("JournalEntry", JournalDebitLine={"AccountRef": "Checking", "Amount": "5.00"}), status=("3180 Error",)
    ),
    "a deleted list object": Sample(
        xml({"ListDelRq": {"ListDelType": "Account", "ListID": "{id}"}}),
        ("ListDelRs(ListDelType ListID TimeDeleted FullName)",),
        before=add("Account", Name="Wrong", AccountType="Bank"),
    ),
    "a purchase order": Sample(
        add(
            "PurchaseOrder",
            VendorRef="Packer",
            RefNumber="45SKY",
            ShipAddress={**STREET, "Addr3": "Door 3", "City": "Town", "PostalCode": "94001"},
            PurchaseOrderLineAdd=[{"ItemRef": "Pencil"}],
        ),
        (
            ORDER.format(
                "",
                "Addr1 Addr2 Addr3 City PostalCode",
                "Addr1 Addr2 Addr3 Addr4",
                " PurchaseOrderLineRet(TxnLineID ItemRef Desc Rate Amount ReceivedQuantity IsManuallyClosed)",
            ),
        ),
    ),
    "purchase orders": Sample(
        query("PurchaseOrder"),
        (ORDER.format("ShipToEntityRef ", "Addr1 Addr2", "Addr1 Addr2", ""),),
        before=add(
            "PurchaseOrder",
            VendorRef="Packer",
            ShipToEntityRef="Packer",
            PurchaseOrderLineAdd=[{"ItemRef": "Pencil"}],
        ),
    ),
    "no purchase order that matches": Sample(
        query("PurchaseOrder", RefNumberFilter={"MatchCriterion": "Contains", "RefNumber": "none"}), status=NO_MATCH
    ),
    "a payment above the open amount": Sample(
        add(
            "ReceivePayment",
            **BUYER,
            TotalAmount="500.00",
            AppliedToTxnAdd=[{"TxnID": "{id}", "PaymentAmount": "500.00"}],
        ),
        status=("3210 Error",),
        before=add("Invoice", **BUYER, InvoiceLineAdd=[{"ItemRef": "Carbon"}]),
    ),
    "a deleted transaction": Sample(
        xml({"TxnDelRq": {"TxnDelType": "Bill", "TxnID": "{id}"}}),
        ("TxnDelRs(TxnDelType TxnID TimeDeleted)",),
        before=add("Bill", **MAKER, ExpenseLineAdd=[{"AccountRef": "Office Supplies", "Amount": "5.00"}]),
    ),
    "a transaction that does not exist": Sample(
        xml({"TxnDelRq": {"TxnDelType": "Invoice", "TxnID": "99-1"}}), status=("3120 Error",)
    ),
    "an inactive vendor": Sample(
        add("Vendor", Name="New", IsActive="false", CompanyName="Co", Salutation="Mr", Email="a@example.com"),
        (f"VendorRet({LIST} IsActive CompanyName Salutation Email IsVendorEligibleFor1099 Balance)",),
    ),
    "vendors": Sample(
        query("Vendor"),
        (
            f"VendorRet({LIST} IsActive IsVendorEligibleFor1099 Balance)",
            (
                f"VendorRet({LIST} IsActive CompanyName FirstName LastName"
                " VendorAddress(Addr1 Addr2 Addr3 Addr4 City State PostalCode)"
                " VendorAddressBlock(Addr1 Addr2 Addr3 Addr4 Addr5)"
                " Phone AltPhone Fax Email Contact IsVendorEligibleFor1099 Balance)"
            ),
            (
                f"VendorRet({LIST} IsActive CompanyName Salutation FirstName MiddleName LastName"
                " VendorAddress(Addr1 Addr2) VendorAddressBlock(Addr1 Addr2) Phone Email Contact NameOnCheck"
                " IsVendorEligibleFor1099 Balance)"
            ),
        ),
        before=add(
            "Vendor",
            Name="Timber",
            CompanyName="Timber",
            FirstName="Joe",
            LastName="Wood",
            VendorAddress={
                "Addr1": "Timber",
                "Addr2": "1 Street",
                "Addr3": "2 Street",
                "Addr4": "3 Street",
                "City": "Town",
                "State": "CA",
                "PostalCode": "94001",
            },
            Phone="1",
            AltPhone="2",
            Fax="3",
            Email="a@example.com",
            Contact="Joe",
        )
        + add(
            "Vendor",
            Name="Cosmos",
            CompanyName="Cosmos",
            Salutation="Dr",
            FirstName="Carl",
            MiddleName="M",
            LastName="Star",
            VendorAddress=STREET,
            Phone="1",
            Email="a@example.com",
            Contact="Carl",
            NameOnCheck="Cosmos",
        ),
    ),
    "a message set that is not stored": Sample(
        query("Host"), status=(), message_set=' newMessageSetID="" oldMessageSetID="none"'
    ),
    "the first questions of a session": Sample(
        query("Host") + query("Company", OwnerID=FILE_OWNER) + query("Preferences"),
        status=OK * 3,
        shapes=(
            HOST,
            COMPANY.format(
                (
                    "Address(City State PostalCode Country) AddressBlock(Addr1 Addr2)"
                    " LegalAddress(Addr1 City State PostalCode Country)"
                ),
                "Email ",
                "EIN ",
            ),
            PREFERENCES.format("", " IsRSBEnabled IsBarcodeEnabled"),
        ),
        version="13.0",
        company={
            "private_fields": {FILE_OWNER: {"FileID": "1"}},
            "details": {
                "Address": {"City": "P.O. Box 1", **STATE},
                "AddressBlock": {"Addr1": "P.O. Box 1", "Addr2": "CA 94001"},
                "LegalAddress": {"Addr1": "P.O. Box 1", "City": "Town", **STATE},
            },
        },
    ),
    "the first questions of a session in an older QuickBooks": Sample(
        query("Host") + query("Company", OwnerID=FILE_OWNER) + query("Preferences"),
        status=OK * 3,
        shapes=(
            HOST,
            COMPANY.format("Address(PostalCode Country) AddressBlock(Addr1) LegalAddress(PostalCode Country)", "", ""),
            PREFERENCES.format("AutomaticLoginUserName ", ""),
        ),
        version="11.0",
        company={
            "private_fields": {FILE_OWNER: {"FileID": "1"}},
            "details": {
                "Address": {"PostalCode": "94001", "Country": "US"},
                "AddressBlock": {"Addr1": "94001"},
                "LegalAddress": {"PostalCode": "94001", "Country": "US"},
                "Email": "",
                "EIN": "",
                "CurrentAppAccessRights": {
                    "IsAutomaticLoginAllowed": "true",
                    "AutomaticLoginUserName": "Admin",
                    "IsPersonalDataAccessAllowed": "false",
                },
            },
        },
    ),
}
"""The samples by what they return."""
