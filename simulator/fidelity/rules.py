"""The rules of the simulated QuickBooks, each with its source: the table behind FIDELITY.md and strict mode.

`python -m simulator.fidelity` prints the page, and a test compares it with the file. Other tests find handlers, rules
and messages without a row.

The table is an allow-list. `facts` are what a rule covers, in the form of `simulator.fidelity.facts` and
`simulator.fidelity.situations`; `pattern_of` reads them. A fact rests on the first rule that names it, and it warns if
no rule does. To add a rule, enter what its source says and nothing more: what is left out warns. Statuses 3151 to
3153, 3205, 3220 and 3261 have no rule, because the documents do not say when QuickBooks answers them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from simulator.basics.sources import CAPTURED, DOUBLE_ENTRY, GUIDE, REFERENCE, REPORTED, RESTATED, SCHEMA, Basis, Source
from simulator.books.kinds import GROUPS
from simulator.rules.preferences import PREFERENCES
from simulator.schema import schema

if TYPE_CHECKING:
    from collections.abc import Mapping

TEXTS = "texts_of_refusals"


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule, and where the knowledge about it comes from.

    `subjects` are the modules, classes and functions with the rule: `rules.sales`, `rules.sales:InvoiceRules`,
    `requests.delete:void`. `facts` are what rests on the rule. `kinds` and `covers` are the requests, elements and
    values that rest on an assumed rule wherever they are, in the form of `Coverage.add`. With `is_noted`, the rule
    itself finds out whether a request rests on it, and calls `Books.assume`.
    """

    about: str
    sources: tuple[Source, ...]
    subjects: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    covers: tuple[str, ...] = ()
    is_noted: bool = False

    @property
    def is_assumed(self) -> bool:
        """Return whether one of its sources is an assumption."""
        return not all(source.is_known for source in self.sources)

    @property
    def warns(self) -> bool:
        """Return whether a request can rest on an assumption of the rule."""
        return self.is_assumed and bool(self.facts or self.kinds or self.covers or self.is_noted)


def _capture(pair: str) -> Source:
    """Return the source of a rule that a pair of the corpus shows."""
    return Source(Basis.CAPTURE, pair)


def _document(text: str) -> Source:
    return Source(Basis.DOCUMENT, text)


def _assumed(text: str = "") -> Source:
    return Source(Basis.ASSUMED, text)


def _report_types() -> set[str]:
    """Return the types of all reports."""
    requests = (model.content for name, model in schema().requests.items() if name.endswith("ReportQueryRq"))
    elements = (element for content in requests for element in content.elements.values())
    return {value for element in elements if element.name.endswith("ReportType") for value in element.values}


_FORM = "{Invoice,SalesReceipt,CreditMemo,Estimate,SalesOrder}"
_SALE = "{Invoice,SalesReceipt,CreditMemo}"
_PURCHASE = "{Bill,Check,CreditCardCharge,CreditCardCredit,ItemReceipt,VendorCredit}"
_ITEM = "{ItemService,ItemNonInventory,ItemInventory,ItemInventoryAssembly,ItemOtherCharge}"
_POSTING = "{Bank,CreditCard,Equity,FixedAsset,OtherAsset,OtherCurrentAsset,OtherCurrentLiability,LongTermLiability}"
_RESULT = "{Income,OtherIncome,Expense,OtherExpense,CostOfGoodsSold}"

RULES: Mapping[str, Rule] = {
    # requests
    "schema": Rule(
        "Order, enumerations, attributes, lengths, versions and editions of elements are checked. A field that an"
        " edition does not have is left out with 530. Texts, dates and whole numbers are stored as they are sent.",
        (SCHEMA,),
        ("requests.editions", "requests.reading", "requests.responses"),
        ("*Rq/IncludeRetElement", "*/OwnerID", "*@iterator={Start,Continue,Stop}", "*@metaData=*"),
    ),
    "add": Rule(
        "An Add fills in defaults, checks names and references, and returns the record.",
        (REFERENCE,),
        ("requests.add:add",),
        ("*/{IsActive,IsToBePrinted,IsToBeEmailed}=*",),
    ),
    "mod": Rule(
        "A Mod needs the current EditSequence. What it leaves out stays, an empty element clears, and lines that it"
        " does not name are removed.",
        (REFERENCE,),
        ("requests.mod:mod",),
        ("change of */{IsActive,IsToBePrinted,IsToBeEmailed,IsPending} from *",),
    ),
    "cleared_status": Rule(
        "ClearedStatusMod sets the status of a transaction or of a line.",
        (REFERENCE,),
        ("requests.mod:set_cleared_status",),
        ("ClearedStatusModRq", "ClearedStatus/ClearedStatus=*", "ClearedStatus: TxnID"),
    ),
    "queries": Rule(
        "Filters, IncludeRetElement, OwnerID, metaData and lists of ids; 1 without a match, 500 with the objects that"
        " exist.",
        (REFERENCE, CAPTURED),
        ("requests.query:query", "requests.filters", "requests.shown"),
        (
            f"{{{','.join(GROUPS)}}}QueryRq",
            "*Query/{ListID,FullName,Name,TxnID,RefNumber,RefNumberCaseSensitive,MaxReturned,IncludeRetElement}",
            "*Query/{FromModifiedDate,ToModifiedDate}",
            "*Query/{ActiveStatus,IncludeLineItems,IncludeLinkedTxns,PaidStatus,AccountType}=*",
            "*Filter/{FromModifiedDate,ToModifiedDate,FromTxnDate,ToTxnDate,ListID,FullName,RefNumber,Name}",
            "*Filter/{FromRefNumber,ToRefNumber,FromName,ToName,ListIDWithChildren,FullNameWithChildren}",
            "*Filter/{DateMacro,MatchCriterion,Operator}=*",
        ),
    ),
    "iterators": Rule(
        "An iterator has the records that matched when it started, as they are when their page is read. One that was"
        " deleted meanwhile is still on its page. The iterator ends with its session.",
        (_assumed("Status 3000 for an iterator that ended is reported by integrators."),),
        ("requests.query",),
    ),
    "inactive_references": Rule("A reference to an inactive record is 3140.", (_assumed(),), ("requests.reading",)),
    "macros": Rule(
        "defMacro and useMacro name ids within a message set. Errors are 9100 and 9101.",
        (_assumed(),),
        ("requests.macros",),
        ("a macro",),
    ),
    "deletion": Rule(
        "An object that others refer to is not deleted. Deletions are found for 90 days.",
        (REFERENCE,),
        (
            "requests.delete:delete_list_object",
            "requests.delete:delete_transaction",
            "requests.delete:deleted",
        ),
        (
            "{ListDel,TxnDel,ListDeletedQuery,TxnDeletedQuery}Rq",
            "{ListDel,TxnDel,ListDeletedQuery,TxnDeletedQuery}/{ListDelType,TxnDelType}=*",
            "{ListDel,TxnDel}/{ListID,TxnID}",
            "TxnDel: TxnID",
            "DeletedDateRangeFilter/{FromDeletedDate,ToDeletedDate}",
        ),
    ),
    "void": Rule(
        "A void transaction keeps its number with amounts of zero and VOID: in its memo. Payments of it become unused.",
        (REFERENCE, REPORTED),
        ("requests.delete:void",),
        ("TxnVoidRq", "TxnVoid/TxnVoidType=*", "TxnVoid/TxnID", "TxnVoid: TxnID"),
    ),
    "merge": Rule(
        "Every kind that ListMerge takes can be merged; references move to the other object. QuickBooks refuses some"
        " merges with 3500 and gives no reason.",
        (_assumed(),),
        ("requests.delete:merge",),
        covers=("ListMergeRq",),
    ),
    "message_sets": Rule(
        "Responses are stored until they are cleared, by application and company file; a refused write is stored, too.",
        (GUIDE, _assumed("Intuit does not say which responses are stored, and for how long.")),
        ("company.message_sets",),
    ),
    "custom_fields": Rule(
        "Definitions are assigned to kinds of objects; values are checked against their type.",
        (REFERENCE,),
        (
            "requests.data_extensions:add_definition",
            "requests.data_extensions:change_definition",
            "requests.data_extensions:delete_definition",
            "requests.data_extensions:query_definitions",
            "requests.data_extensions:set_value",
            "requests.data_extensions:delete_value",
        ),
        ("DataExt{Add,Mod,Del}Rq", "DataExtDef{Add,Mod,Del,Query}Rq", "DataExt*/*", "DataExt: TxnID?", "DataExtDel*"),
    ),
    "special_objects": Rule(
        "SpecialAccountAdd and SpecialItemAdd make what QuickBooks needs, once.",
        (REFERENCE,),
        ("requests.special:add_account", "requests.special:add_item"),
        ("Special{Account,Item}AddRq", "Special{Account,Item}/Special{Account,Item}Type=*"),
    ),
    "company_facts": Rule(
        "HostQuery, CompanyQuery and PreferencesQuery have the fields of captured first calls of a session, with the"
        " same 16 services.",
        (CAPTURED,),
        (
            "requests.company:host",
            "requests.company:company",
            "requests.company:preferences",
            "requests.facts",
        ),
        ("{Host,Company,Preferences}QueryRq", "{Host,Company,Preferences}Query/IncludeRetElement"),
    ),
    "company_history": Rule(
        "The file was never condensed, and no data event was lost.",
        (_assumed(),),
        ("requests.company:activity", "requests.company:nothing_to_do"),
        covers=("CompanyActivityQueryRq", "DataEventRecoveryInfoDelRq", "DataEventRecoveryInfoQueryRq"),
    ),
    "empty_queries": Rule(
        "Payroll periods and tax returns are never found.",
        (_assumed(),),
        ("requests.company:nothing_recorded",),
        covers=("PayrollLastPeriodQueryRq", "SalesTaxReturnQueryRq", "SalesTaxReturnLineQueryRq"),
    ),
    "tax_lines": Rule(
        "The income tax form has eight lines, with names of our own.",
        (_assumed(),),
        ("requests.company:tax_lines",),
        covers=("AccountTaxLineInfoQueryRq", "TaxLineID"),
    ),
    "form_1099": Rule(
        "An account belongs to one box of the form 1099, and every threshold is 600.00 unless the request sets it.",
        (_assumed(),),
        ("requests.company:form_1099", "requests.company:change_form_1099"),
        covers=("Form1099CategoryAccountMappingQueryRq", "Form1099CategoryAccountMappingModRq"),
    ),
    "user_interface": Rule(
        "Requests that open a form of QuickBooks are refused with 3250.",
        (_assumed(),),
        ("requests.company:needs_user_interface",),
        covers=("ListDisplayAddRq", "ListDisplayModRq", "TxnDisplayAddRq", "TxnDisplayModRq"),
    ),
    "computed_queries": Rule(
        "Open bills, undeposited payments, sales tax owed, bar codes and transactions of all kinds follow from the"
        " books.",
        (REFERENCE,),
        (
            "requests.derived:bills_to_pay",
            "requests.derived:payments_to_deposit",
            "requests.derived:sales_tax_payable",
            "requests.derived:bar_codes",
            "requests.derived:transactions",
            "requests.derived:assemblies_that_can_be_built",
        ),
        (
            "{BillToPay,ReceivePaymentToDeposit,SalesTaxPayable,BarCode,Transaction,ItemAssembliesCanBuild}QueryRq",
            "{PayeeEntityRef,APAccountRef,ItemInventoryAssemblyRef}/{ListID,FullName}",
            "{BillToPay,SalesTaxPayable,BarCode,ItemAssembliesCanBuild}Query/*",
            "Transaction*Filter/*",
            "TransactionQuery/Transaction*=*",
        ),
    ),
    "stock_by_site": Rule(
        "Stock is not counted by site: ItemSitesQuery has one row for each item, and a transfer moves no stock.",
        (_assumed(),),
        ("requests.derived:item_sites", "rules.inventory:TransferInventoryRules"),
        kinds=("TransferInventory",),
        covers=("ItemSitesQueryRq", "InventorySiteRef", "InventorySiteLocationRef"),
    ),
    # lists
    "lists": Rule(
        "Names are unique without regard to case, over customers, vendors, employees and other names together. A list"
        " has five levels.",
        (REFERENCE, CAPTURED),
        (
            "rules.lists:ListRules",
            "rules.lists:CustomerRules",
            "rules.lists:VendorRules",
            "rules.lists:EmployeeRules",
            "rules.lists:AccountRules",
            "rules.entry",
        ),
        (
            "{Account,Class,Customer,CustomerMsg,CustomerType,Employee,JobType,OtherName,PaymentMethod}{Add,Mod}Rq",
            "{SalesRep,SalesTaxCode,ShipMethod,StandardTerms,DateDrivenTerms,ToDo,Vehicle,Vendor,VendorType}{Add,Mod}Rq",
            f"{_ITEM}{{Add,Mod}}Rq",
            "Item{Discount,FixedAsset,Group,Payment,SalesTax,SalesTaxGroup,Subtotal}{Add,Mod}Rq",
            "*/{ClassRef=Class,SalesRepRef=SalesRep,ShipMethodRef=ShipMethod,TemplateRef=Template}",
            "*/{TermsRef=StandardTerms,TermsRef=DateDrivenTerms,CustomerMsgRef=CustomerMsg,JobTypeRef=JobType}",
            "*/{PaymentMethodRef=PaymentMethod,PreferredPaymentMethodRef=PaymentMethod,PriceLevelRef=PriceLevel}",
            "*/{CustomerTypeRef=CustomerType,VendorTypeRef=VendorType,PrefVendorRef=Vendor,TaxVendorRef=Vendor}",
            "*/{SalesTaxCodeRef=SalesTaxCode,CustomerSalesTaxCodeRef=SalesTaxCode,SalesRepEntityRef=*}",
            "{Class,Customer,CustomerType,Item*,JobType,VendorType}/ParentRef=*",
            "Account/AccountType=*",
            "{Customer,Vendor}: CreditLimit?",
            "{Account,Employee,OtherName}:",
            "StandardTerms: DiscountPct?",
            "DateDrivenTerms: DiscountPct?",
            "Customer/JobStatus=*",
            "{Customer,Vendor}/{CreditLimit of zero,PreferredDeliveryMethod=*}",
            "PaymentMethod/PaymentMethodType=*",
            "Vendor/IsVendorEligibleFor1099=*",
            "SalesTaxCode/IsTaxable=*",
            "{Customer,Vendor}/SalesTaxCountry=*",
            "change of {Customer,Vendor,Employee,OtherName}/* in use",
        ),
    ),
    "items": Rule(
        "An item has a price and an account, or sales and purchase information; a stock item has three accounts.",
        (REFERENCE, CAPTURED),
        ("rules.items",),
        (
            "SalesOrPurchase: Price?",
            "SalesOrPurchase: PricePercent",
            "SalesAndPurchase: SalesPrice? PurchaseCost?",
            "{SalesOrPurchase,SalesAndPurchase,Item*}/{Price,SalesPrice,PurchaseCost,DiscountRate} of zero",
            "SalesOrPurchase/AccountRef={Income,OtherIncome,Expense,CostOfGoodsSold,OtherCurrentLiability}",
            "SalesAndPurchase/IncomeAccountRef={Income,OtherIncome}",
            "SalesAndPurchase/ExpenseAccountRef={Expense,CostOfGoodsSold,OtherExpense}",
            "{ItemInventory,ItemInventoryAssembly}/IncomeAccountRef={Income,OtherIncome}",
            "{ItemInventory,ItemInventoryAssembly}/COGSAccountRef=CostOfGoodsSold",
            "{ItemInventory,ItemInventoryAssembly}/AssetAccountRef=OtherCurrentAsset",
            "ItemInventory: SalesPrice? PurchaseCost? ReorderPoint? Max?",
            "ItemInventoryAssembly: SalesPrice? PurchaseCost? BuildPoint? Max?",
            "ItemInventoryAssemblyLine: Quantity?",
            "ItemInventoryAssemblyLine/ItemInventoryRef=*",
            "ItemDiscount: DiscountRate",
            "ItemDiscount: DiscountRatePercent",
            "ItemDiscount/AccountRef={Income,OtherIncome,Expense}",
            "ItemPayment/{DepositToAccountRef=Bank,DepositToAccountRef=OtherCurrentAsset}",
            "ItemSalesTax: TaxRate?",
            "ItemSalesTax/TaxRate of zero",
            "ItemSalesTaxGroup/ItemSalesTaxRef=ItemSalesTax",
            "ItemGroup/IsPrintItemsInGroup=*",
            "ItemGroupLine: Quantity?",
            f"ItemGroupLine/ItemRef={_ITEM}",
            "Item{Group,Payment,SalesTaxGroup,Service,NonInventory,OtherCharge,Subtotal}:",
            "change of Item*/{SalesOrPurchase,SalesAndPurchase,SalesPrice,PurchaseCost,PrefVendorRef} in use",
            "change of Item*/{ReorderPoint,Max,BuildPoint,SalesTaxCodeRef,ParentRef} in use",
        ),
    ),
    "types_of_accounts": Rule(
        "No account changes to or from receivables, payables or NonPosting; none with subaccounts, that QuickBooks"
        " made, or whose transactions and items need the former type. Which status refuses it is our reading.",
        (
            _document(
                'Intuit, "Change an account type"; Solarsys, "Change of account type in QuickBooks Desktop"; Conductor'
            ),
        ),
        ("rules.requirements",),
        ("change of Account/AccountType from *",),
    ),
    "used_account_of_another_type": Rule(
        "An account with transactions changes its type, and they are in other sections of the reports from then on. No"
        " document lists what QuickBooks allows, but for costs and expenses.",
        (_assumed(),),
        ("rules.requirements",),
        is_noted=True,
    ),
    "opening_balance_forms": Rule(
        "The OpenBalance of a customer makes an invoice without an item, described as `Opening balance` and posted to"
        " Uncategorized Income, and that of a vendor a bill of Uncategorized Expenses. Nobody published a response with"
        " one: its number, terms, tax code and template are those of other forms.",
        (
            _document(
                'Intuit, "Fix a customer\'s opening balance"; Insightful Accountant, "Add/Edit Multiple List Entry for'
                ' opening balances"'
            ),
            _assumed("the other fields"),
        ),
        ("rules.lists",),
        ("Customer: OpenBalance CreditLimit?", "Vendor: CreditLimit? OpenBalance"),
    ),
    "opening_balances": Rule(
        "OpenBalance makes an invoice, a bill or a journal entry; QuantityOnHand makes an adjustment. Receivables,"
        " payables, income and expenses open without a balance.",
        (REFERENCE,),
        ("rules.lists", "rules.items:StockItemRules"),
        (
            "Account: OpenBalance",
            "{Customer,Vendor,Account}/OpenBalanceDate",
            "{Customer,Vendor,Account}/OpenBalance of zero",
            "ItemInventory: SalesPrice? PurchaseCost? ReorderPoint? Max? QuantityOnHand TotalValue?",
            "ItemInventoryAssembly: SalesPrice? PurchaseCost? BuildPoint? Max? QuantityOnHand TotalValue?",
            "{ItemInventory,ItemInventoryAssembly}/{QuantityOnHand of zero,TotalValue of zero,InventoryDate}",
        ),
    ),
    "sales_tax_codes": Rule(
        "A code that a transaction has, and the two codes that a file begins with, stay taxable or not. A tax is paid"
        " to its own agency. Which status refuses the rest is our reading.",
        (_document('Intuit, "Change sales tax code information"'), RESTATED),
        ("rules.lists:SalesTaxCodeRules",),
        ("change of SalesTaxCode/IsTaxable from *",),
    ),
    "changed_opening_balance": Rule(
        "The OpenBalance of an AccountMod changes nothing.",
        (_assumed(),),
        ("rules.requirements",),
        is_noted=True,
    ),
    "rates": Rule(
        "Price levels and billing rates change a price by percentage or by item.",
        (REFERENCE,),
        (
            "rules.rates:PriceLevelRules",
            "rules.rates:BillingRateRules",
            "rules.rates:WorkersCompCodeRules",
        ),
        (
            "{PriceLevel,BillingRate}{Add,Mod}Rq",
            "PriceLevel: PriceLevelFixedPercentage",
            "PriceLevel:",
            "PriceLevelPerItem: CustomPrice",
            "PriceLevelPerItem/ItemRef=*",
            "BillingRate: FixedBillingRate",
        ),
    ),
    # transactions
    "numbers": Rule(
        "A number continues the last one of its kind, and checks those of their bank account. Where it starts, and"
        " how it continues after a manual change, is our reading.",
        (_document("QuickBooks continues the last number."), _assumed("the first number")),
        ("rules.common",),
        ("first number of a *",),
    ),
    "sales": Rule(
        "Forms copy their customer's defaults; rate, amount, discount, subtotal, group and percentage follow the"
        " lines.",
        (REFERENCE, CAPTURED),
        (
            "rules.sales:InvoiceRules",
            "rules.sales:SalesReceiptRules",
            "rules.sales:CreditMemoRules",
            "rules.sales:EstimateRules",
            "rules.sales:SalesOrderRules",
        ),
        (
            f"{_FORM}{{Add,Mod}}Rq",
            f"{_FORM}/CustomerRef=Customer",
            f"{_FORM}:",
            "{Invoice,SalesReceipt,CreditMemo,SalesOrder}/{IsPending,IsManuallyClosed}=*",
            "{Invoice,CreditMemo}/ARAccountRef=AccountsReceivable",
            "SalesReceipt/DepositToAccountRef={Bank,OtherCurrentAsset}",
            f"{_FORM}Line/ItemRef={_ITEM[:-1]},ItemDiscount,ItemSubtotal}}",
            f"{_FORM}LineGroup/ItemGroupRef=ItemGroup",
            f"{_FORM}LineGroup: Quantity?",
            f"{_FORM}Line: Quantity? Rate?",
            f"{_FORM}Line: Quantity? Amount",
            f"{_FORM}Line: RatePercent",
            f"{_FORM}Line/{{Rate,Amount}} of zero",
            f"{_FORM}Line/{{Rate,Amount}} below zero",
            "ItemDiscount after {ItemService,ItemNonInventory,ItemInventory,ItemInventoryAssembly,ItemOtherCharge}",
            "ItemDiscount after ItemSubtotal",
            "ItemOtherCharge after {ItemService,ItemNonInventory,ItemInventory,ItemInventoryAssembly,ItemSubtotal}",
            f"ItemSubtotal after {_ITEM[:-1]},ItemDiscount}}",
            "{Invoice,CreditMemo} posts AccountsReceivable for Customer",
            f"{_SALE} posts {{Income,OtherIncome,OtherCurrentLiability,CostOfGoodsSold,OtherCurrentAsset}}",
            "SalesReceipt posts Bank",
        ),
    ),
    "charges": Rule(
        "A charge is a line of a statement: it posts its item's account and receivables.",
        (REFERENCE,),
        ("rules.charges:ChargeRules",),
        (
            "Charge{Add,Mod}Rq",
            "Charge/CustomerRef=Customer",
            f"Charge/ItemRef={_ITEM}",
            "Charge: Quantity? Rate?",
            "Charge: Quantity? Amount",
            "Charge/ARAccountRef=AccountsReceivable",
            "Charge posts AccountsReceivable for Customer",
            "Charge posts {Income,OtherIncome}",
        ),
    ),
    "lines_without_account": Rule(
        "An amount without an item, or with an item without an account, posts to Uncategorized Income or Expenses. The"
        ' message "Missing posting account" (3270) is answered for lines that name accounts themselves.',
        (_assumed(),),
        ("rules.items",),
        ("posts Uncategorized{Income,Expenses}",),
    ),
    "discount_over_mixed_tax": Rule(
        "A taxable discount over lines of which only a part is taxable reduces what is taxed in proportion. Intuit says"
        " so of amounts, other sources say that they apply to the line above, and none says it of percentages.",
        (_document('Intuit, "Use discount and subtotal items on an invoice"'), _assumed("percentages")),
        ("rules.tax",),
        ("{ItemDiscount,ItemOtherCharge} over taxable and other lines",),
        is_noted=True,
    ),
    "sales_tax": Rule(
        "The tax of a form is the sum of its items' percentages of the taxable lines.",
        (REFERENCE,),
        ("rules.tax",),
        ("*/ItemSalesTaxRef={ItemSalesTax,ItemSalesTaxGroup}",),
    ),
    "rounding_of_tax": Rule(
        "Tax is rounded half up for each tax item. Intuit does not say how QuickBooks rounds it.",
        (_assumed(),),
        ("rules.tax",),
        ("tax depends on its rounding",),
    ),
    "purchases": Rule(
        "Bills, checks, card charges, receipts and vendor credits post expenses and items.",
        (REFERENCE,),
        (
            "rules.purchases:BillRules",
            "rules.purchases:CheckRules",
            "rules.purchases:CreditCardChargeRules",
            "rules.purchases:CreditCardCreditRules",
            "rules.purchases:ItemReceiptRules",
            "rules.purchases:VendorCreditRules",
            "rules.purchases:PurchaseOrderRules",
        ),
        (
            f"{_PURCHASE[:-1]},PurchaseOrder}}{{Add,Mod}}Rq",
            "{Bill,ItemReceipt,VendorCredit,PurchaseOrder}/VendorRef=Vendor",
            "{Check,CreditCardCharge,CreditCardCredit}/PayeeEntityRef=*",
            "Check/AccountRef=Bank",
            "{CreditCardCharge,CreditCardCredit}/AccountRef=CreditCard",
            "{Bill,ItemReceipt,VendorCredit}/APAccountRef=AccountsPayable",
            f"{_PURCHASE[:-1]},PurchaseOrder}}:",
            "PurchaseOrder/{ShipToEntityRef=*,IsManuallyClosed=*}",
            "ExpenseLine: Amount",
            "ExpenseLine/Amount {of,below} zero",
            f"ExpenseLine/AccountRef={_RESULT}",
            f"ExpenseLine/AccountRef={_POSTING}",
            "{ExpenseLine,ItemLine,PurchaseOrderLine}/CustomerRef=Customer",
            "{ExpenseLine,ItemLine}/BillableStatus=*",
            "billable {ExpenseLine,ItemLine} with CustomerRef{, ItemRef}",
            f"{{ItemLine,PurchaseOrderLine}}/ItemRef={_ITEM}",
            "{ItemGroupLine,PurchaseOrderLineGroup}/ItemGroupRef=ItemGroup",
            "{ItemGroupLine,PurchaseOrderLineGroup}: Quantity?",
            "ItemLine: Quantity? Cost?",
            "ItemLine: Quantity? Amount",
            "PurchaseOrderLine: Quantity? Rate?",
            "PurchaseOrderLine: Quantity? Amount",
            "{ItemLine,PurchaseOrderLine}/{Cost,Rate,Amount} of zero",
            "{Bill,ItemReceipt,VendorCredit} posts AccountsPayable for Vendor",
            f"{_PURCHASE} posts {_RESULT}",
            f"{_PURCHASE} posts {_POSTING}",
        ),
    ),
    "bills_due": Rule(
        "A bill without terms is due after ten days.", (_assumed(),), ("rules.purchases",), ("Bill without terms",)
    ),
    "orders": Rule(
        "A link copies the open lines of an order, and closes it when they are used up. No request links to an order or"
        " to a line of it twice. A line links to no estimate.",
        (REFERENCE, RESTATED),
        ("rules.orders",),
        (
            "Invoice/LinkToTxnID={SalesOrder,Estimate}",
            "{Bill,ItemReceipt}/LinkToTxnID=PurchaseOrder",
            "{Invoice,Bill,ItemReceipt}: LinkToTxnID",
            "LinkToTxn/TxnID={SalesOrder,PurchaseOrder}",
            "LinkToTxn: TxnID",
            "InvoiceLine: Quantity? LinkToTxn",
            "ItemLine: Quantity? LinkToTxn",
        ),
    ),
    "more_than_ordered": Rule(
        "A linked line keeps a larger quantity than is open, and the order shows it as invoiced or received.",
        (RESTATED, _assumed("what the order shows")),
        ("rules.orders",),
        is_noted=True,
    ),
    "payments": Rule(
        "Payments settle debts oldest first or as requested, with discounts and credits, and never more than is due.",
        (REFERENCE, REPORTED),
        (
            "rules.payments:ReceivePaymentRules",
            "rules.payments:BillPaymentCheckRules",
            "rules.payments:BillPaymentCreditCardRules",
            "rules.payments:RefundRules",
        ),
        (
            "{ReceivePayment,BillPaymentCheck}{Add,Mod}Rq",
            "{BillPaymentCreditCard,ARRefundCreditCard}AddRq",
            "{ReceivePayment,ARRefundCreditCard}/CustomerRef=Customer",
            "{ReceivePayment,ARRefundCreditCard}/ARAccountRef=AccountsReceivable",
            "ReceivePayment/DepositToAccountRef={Bank,OtherCurrentAsset}",
            "ReceivePayment/IsAutoApply=*",
            "ReceivePayment: TotalAmount?",
            "{BillPaymentCheck,BillPaymentCreditCard}/PayeeEntityRef=Vendor",
            "{BillPaymentCheck,BillPaymentCreditCard}/APAccountRef=AccountsPayable",
            "BillPaymentCheck/BankAccountRef=Bank",
            "BillPaymentCreditCard/CreditCardAccountRef=CreditCard",
            "BillPayment{Check,CreditCard}:",
            "ReceivePayment: AppliedToTxn",
            "AppliedToTxn: TxnID PaymentAmount DiscountAmount?",
            "AppliedToTxn: TxnID PaymentAmount SetCredit DiscountAmount?",
            "AppliedToTxn/TxnID={Invoice,Bill,Charge}",
            "AppliedToTxn/DiscountAccountRef={Income,Expense}",
            "SetCredit: CreditTxnID AppliedAmount",
            "SetCredit/CreditTxnID={CreditMemo,VendorCredit,ReceivePayment}",
            "ReceivePayment posts {Bank,OtherCurrentAsset,Income,Expense}",
            "ReceivePayment posts AccountsReceivable for Customer",
            "BillPayment{Check,CreditCard} posts {Bank,CreditCard,Income,Expense}",
            "BillPayment{Check,CreditCard} posts AccountsPayable for Vendor",
        ),
    ),
    "banking": Rule(
        "Deposits take payments out of undeposited funds; transfers and payments of sales tax move money.",
        (REFERENCE, DOUBLE_ENTRY),
        (
            "rules.banking:DepositRules",
            "rules.banking:TransferRules",
            "rules.banking:SalesTaxPaymentRules",
        ),
        (
            "{Deposit,Transfer,SalesTaxPaymentCheck}{Add,Mod}Rq",
            "Deposit/DepositToAccountRef=Bank",
            "Deposit:",
            "DepositLine: PaymentTxnID",
            "DepositLine: PaymentTxnID PaymentTxnLineID",
            "DepositLine/PaymentTxnID={ReceivePayment,SalesReceipt}",
            "DepositLine: Amount",
            f"DepositLine/AccountRef={_RESULT[:-1]},Bank,Equity,OtherCurrentAsset,OtherCurrentLiability}}",
            "DepositLine/EntityRef=*",
            "CashBackInfo: Amount",
            "CashBackInfo/AccountRef=Bank",
            f"Transfer/Transfer{{From,To}}AccountRef={_POSTING}",
            "Transfer: Amount",
            "SalesTaxPaymentCheck/PayeeEntityRef=Vendor",
            "SalesTaxPaymentCheck/BankAccountRef=Bank",
            "SalesTaxPaymentCheck:",
            "SalesTaxPaymentCheckLine: Amount",
            "SalesTaxPaymentCheckLine/ItemSalesTaxRef=ItemSalesTax",
            f"{{Deposit,Transfer}} posts {_POSTING}",
            f"Deposit posts {_RESULT}",
            "SalesTaxPaymentCheck posts {Bank,OtherCurrentLiability}",
        ),
    ),
    "broken_links": Rule(
        "A change that breaks a link is 3210. A deletion or a void releases payments and credits.",
        (_assumed(),),
        ("rules.settling",),
        ("Txn{Del,Void} of a linked *",),
    ),
    "open_accounts": Rule(
        "An amount in receivables has a customer, one in payables a vendor, and a transaction posts to one such"
        " account. Which status refuses the rest is our reading.",
        (RESTATED, _document('QBGarage, "Journal entries to A/R and A/P accounts"')),
        ("rules.requirements:check_open_postings",),
    ),
    "open_lines_of_several_names": Rule(
        "A transaction with amounts in receivables or payables of several customers or vendors is one open amount.",
        (_assumed(),),
        ("rules.requirements:check_open_postings",),
        is_noted=True,
    ),
    "journal": Rule(
        "A journal entry balances, and has one line at most to receivables or payables, with a name.",
        (DOUBLE_ENTRY, REFERENCE),
        ("rules.journal:JournalEntryRules",),
        (
            "JournalEntry{Add,Mod}Rq",
            "JournalEntry:",
            "JournalEntry/IsAdjustment=*",
            "Journal{Debit,Credit,}Line: Amount",
            f"Journal{{Debit,Credit,}}Line/AccountRef={_POSTING}",
            f"Journal{{Debit,Credit,}}Line/AccountRef={_RESULT}",
            "Journal{Debit,Credit,}Line/AccountRef={AccountsReceivable,AccountsPayable}",
            "Journal{Debit,Credit,}Line/EntityRef=*",
            "JournalLine/JournalLineType=*",
            f"JournalEntry posts {_POSTING}",
            f"JournalEntry posts {_RESULT}",
            "JournalEntry posts AccountsReceivable for Customer",
            "JournalEntry posts AccountsPayable for Vendor",
        ),
    ),
    "requirements": Rule(
        "Account types, parties and signs follow the forms of QuickBooks and double entry. Which status refuses which"
        " of them is our reading.",
        (DOUBLE_ENTRY, _assumed("the statuses")),
        ("rules.requirements",),
    ),
    "average_cost": Rule(
        "Stock is valued at its average cost by date, and a later receipt corrects earlier sales.",
        (_document("the sources in books/costing.py"),),
        (
            "books.costing",
            "rules.inventory:InventoryAdjustmentRules",
            "rules.inventory:BuildAssemblyRules",
        ),
        (
            "{InventoryAdjustment,BuildAssembly}{Add,Mod}Rq",
            "InventoryAdjustment:",
            "InventoryAdjustmentLine:",
            f"InventoryAdjustment/AccountRef={_RESULT[:-1]},Equity}}",
            "InventoryAdjustment/CustomerRef=Customer",
            "InventoryAdjustmentLine/ItemRef={ItemInventory,ItemInventoryAssembly}",
            "QuantityAdjustment: NewQuantity",
            "QuantityAdjustment: QuantityDifference",
            "QuantityAdjustment/{NewQuantity of,QuantityDifference below} zero",
            "ValueAdjustment: NewQuantity? NewValue",
            f"InventoryAdjustment posts {_RESULT[:-1]},Equity,OtherCurrentAsset}}",
            "BuildAssembly/ItemInventoryAssemblyRef=ItemInventoryAssembly",
            "BuildAssembly: QuantityToBuild",
            "BuildAssembly posts OtherCurrentAsset",
        ),
    ),
    "builds": Rule(
        "A build takes the stock of its date. Without enough it is refused or pending, and pending until RemovePending."
        " A build whose components go missing becomes pending.",
        (_document('Intuit, "Pending build"; C. Russell, QuickBooks and Beyond, on the dates of builds'), RESTATED),
        ("rules.inventory:hold_short_builds",),
        ("BuildAssembly/{MarkPendingIfRequired,RemovePending}=*",),
    ),
    "several_short_builds": Rule(
        "If a component of several builds goes missing, the build that was entered last becomes pending first.",
        (_assumed(),),
        ("rules.inventory:hold_short_builds",),
        is_noted=True,
    ),
    "build_of_a_changed_assembly": Rule(
        "A changed build keeps the components with which it was entered, unless its quantity changes. QuickBooks asks"
        " its user.",
        (_document('Intuit, "Mark an inventory assembly build as pending"'), _assumed("the components")),
        ("rules.inventory:BuildAssemblyRules",),
        is_noted=True,
    ),
    "negative_stock": Rule(
        "After units were sold before they were received, the average is the cost of the next receipt, even if it does"
        " not cover all of them. A return to the vendor takes units out at the average.",
        (_assumed(),),
        ("books.costing",),
        ("stock below zero",),
        covers=("VendorCredit/ItemLineAdd", "VendorCredit/ItemLineMod"),
    ),
    "time_and_mileage": Rule(
        "Time and mileage post nothing. Time is of an employee, a vendor or another name. Billable time has a customer"
        " and a service item. Seconds of a duration are not kept.",
        (REFERENCE, RESTATED),
        ("rules.inventory:TimeTrackingRules", "rules.inventory:VehicleMileageRules"),
        (
            "TimeTracking{Add,Mod}Rq",
            "VehicleMileageAddRq",
            "TimeTracking/EntityRef={Employee,Vendor,OtherName}",
            "TimeTracking/{CustomerRef=Customer,ItemServiceRef=ItemService,BillableStatus=*}",
            "billable TimeTracking with CustomerRef ItemServiceRef",
            "TimeTracking/Duration with seconds",
            "TimeTracking:",
            "VehicleMileage/{VehicleRef=Vehicle,CustomerRef=Customer}",
            "VehicleMileage: TotalMiles",
        ),
    ),
    "serial_numbers": Rule(
        "Serial and lot numbers are stored and not checked against stock.",
        (_assumed(),),
        ("rules.inventory",),
        covers=("SerialNumber", "LotNumber"),
    ),
    "problems": Rule("The inspection API finds books that break their laws.", (DOUBLE_ENTRY,), ("rules.problems",)),
    # preferences
    "preferences": Rule(
        "What is off is refused with 3250 and left out of responses. QuickBooks documents the switches, and not what"
        " it does with each field.",
        (_assumed(),),
        ("rules.preferences",),
        ("preference {classes,inventory,estimates,price_levels}=off",),
    ),
    "company_without_sales_tax": Rule(
        "A company without sales tax has no tax items, and no tax codes of customers.",
        (CAPTURED,),
        ("rules.preferences",),
        ("preference sales_tax=off",),
    ),
    "permissions": Rule(
        "The permissions of the user and of the application only refuse.",
        (REFERENCE,),
        ("rules.preferences",),
        ("preference {single_user_mode,reports_permitted,personal_data_permitted,writes_permitted}=off",),
    ),
    "multi_currency": Rule(
        "The ledger, balances and reports do not convert foreign amounts. Rates are 1 unless the request names one.",
        (_assumed(),),
        ("rules.currency",),
        ("preference multi_currency=on",),
        kinds=("Currency",),
        covers=PREFERENCES["multi_currency"].covers,
    ),
    "sites": Rule(
        "Stock that names no site is at the default site.",
        (_assumed(),),
        ("rules.preferences",),
        ("preference sites=on",),
    ),
    "editions": Rule(
        "The editions of the other countries compute tax as the US edition does.",
        (_assumed(),),
        ("rules.tax",),
        ("edition *",),
    ),
    "closing_date": Rule(
        "Everybody is refused in a closed period. In QuickBooks it depends on permissions and the password.",
        (Source(Basis.DOCUMENT, f"{REFERENCE.text}, TxnVoid"),),
        ("rules.common",),
        ("preference closing_date=on",),
    ),
    "tax_code_of_stock_items": Rule(
        "A new stock item is taxable unless its request says otherwise, if sales tax is on.",
        (_capture("item-inventory-add"),),
        ("rules.items:StockItemRules",),
    ),
    "address_with_a_gap": Rule(
        "An address whose request leaves out a line is printed with the gap and returned without it.",
        (_capture("sales-receipt-add"),),
        ("requests.shown:address_block",),
    ),
    # reports
    "retained_earnings": Rule(
        "Every new file has the account for retained earnings. On the balance sheet it shows the earnings of former"
        " years, under the name that it has.",
        (_capture("account-query-apotema-1"), _capture("balance-sheet")),
        ("reports.statements:retained_earnings",),
    ),
    "balance_sheet": Rule(
        "The headings, totals and column title of the balance sheet, and the places of retained earnings and income. An"
        " account whose postings add up to nothing has a row in it, as in the other statements.",
        (_capture("balance-sheet"), _document("commentfran.com on Display Rows, Non-zero")),
        ("reports.statements:balance_sheet",),
        (
            "GeneralSummaryReportQueryRq",
            "BalanceSheetStandard/GeneralSummaryReportType=BalanceSheetStandard",
            "BalanceSheetStandard/ReportDateMacro=Today",
            "BalanceSheetStandard/DisplayReport=false",
        ),
    ),
    "stock_status": Rule(
        "The columns of the stock status by item.",
        (_capture("general-summary-report-query-consolibyte-1"),),
        ("reports.stock",),
        (
            "InventoryStockStatusByItem/GeneralSummaryReportType=InventoryStockStatusByItem",
            "InventoryStockStatusByItem/DisplayReport=false",
        ),
    ),
    "job_reports": Rule(
        "The columns of the estimates and actuals of a job.",
        (_capture("job-report-query-apotema-1"),),
        ("reports.jobs",),
        (
            "JobReportQueryRq",
            "JobEstimatesVsActualsDetail/JobReportType=JobEstimatesVsActualsDetail",
            "JobEstimatesVsActualsDetail/{DisplayReport=false,ListID,FullName}",
        ),
    ),
    "inventory_valuation": Rule(
        "The columns of the inventory valuation summary, but for the one for units.",
        (_document("Intuit, Inventory valuation summary report (INF13183)"), _assumed("the column for units")),
        ("reports.stock:inventory_valuation",),
        ("InventoryValuationSummary/*",),
    ),
    "empty_report_period": Rule(
        "A ReportPeriod without dates is the fiscal year to date.",
        (Source(Basis.DOCUMENT, f"{REFERENCE.text}, ReportPeriod"),),
        ("reports.selection:Selection",),
        ("*/ReportPeriod is empty",),
    ),
    "report_titles": Rule(
        "Subtitles and column titles of periods are those of the reports on QuickBooks' screen: `February 1 - 4, 2011`"
        " and `Mar 20, 25` are in captures; `January through March 2026`, `Jan - Mar 26` and `% Change` are not.",
        (CAPTURED, _assumed("the periods that no capture has, and the percentage of a change from nothing")),
        ("reports.selection:Period",),
    ),
    "reports": Rule(
        "Reports follow from the ledger. Titles and columns are those of captured reports where there is one, and our"
        " reading where not. ReturnRows and ReturnColumns choose the rows and columns of a summary: those with"
        " postings, those with amounts, or all. By default there is a column for each part of the period, and otherwise"
        " the rows and columns with amounts. A job has a column, and its customer none for the sum.",
        (
            DOUBLE_ENTRY,
            _document("Redmond Accounting and Intuit on purchases by vendor and on the profit of jobs"),
            _assumed("titles, columns and options"),
        ),
        (
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
        ),
        (
            "*ReportQueryRq",
            f"{{{','.join(sorted(_report_types()))}}}/*",
        ),
    ),
    "order_of_accounts": Rule(
        "Accounts are in the order of the chart of accounts: by type, then by name. QuickBooks lets a user sort it.",
        (_assumed(),),
        ("books.accounts",),
    ),
    "cash_basis": Rule(
        "On a cash basis, a payment counts for the lines of its invoice in proportion.",
        (_assumed(),),
        ("reports.cash",),
        covers=("ReportBasis=Cash",),
    ),
    "payroll": Rule(
        "The company pays nobody with QuickBooks: reports on payroll are empty.", (_assumed(),), ("reports",)
    ),
    TEXTS: Rule(
        'The reason after "QuickBooks error message:" is our wording, and so are the texts that FIDELITY.md marks.',
        (_assumed(),),
        ("basics.statuses",),
    ),
}
"""The rules by name."""
