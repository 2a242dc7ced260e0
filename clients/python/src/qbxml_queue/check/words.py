"""The words of QuickBooks that an archive keeps. A word that is not here could be one of the company's books."""

# ruff: noqa: SIM905 - a list of words is read as text, not as a page of literals
from __future__ import annotations

MESSAGE = frozenset(
    """
    a about access account action add added adding address after all allowed already also amount amounts an and any
    application applied are argument as at attempt available balance be because been before being bill blank books
    boolean but by can cannot change changed changes characters chars check class clear cleared closed closing code
    codes company completed contain contains control converting corresponding could create created currency
    currently customer data database date dates decimal decimals default defmacro delete deleted deleting deletion
    deposit deposited did different discount do does duplicate during each edit edition editsequence either element
    elements employee empty enabled end ended enough entry enum error exceeds exchange exist existing exists failed
    false feature field fields file find first follow following for format found from full fully further general
    given greater group has have hresult id if implementation in inactive include incorrect information insufficient
    integrated internal interval invalid inventory invoice invoiced invoices is issue it item items iterator its job
    journal kind large last later length less level line lines link linked list listid listmerge lists lock locked
    long longer made main match matching max maximum maxreturned merge merged message missing mod mode modified
    modify modifying more multi must name names negative new no not note notes nothing number numbers object objects
    of off ok on one only open operation option or order original other out over own paid parent parse parsing part
    payment percentage perform period permission personal place please positive possibly post posting preference
    price process processed processing provided purchase qbxml quantities quantity query quickbooks range rate read
    reason receivable recommended record records reference refers related report reports represent request requested
    requestid requests required response result return returned row rule s sale sales same save saved saving
    selected sequence service ship should single site spec specified ssn start status stored stream string
    successfully such sufficient supported system tax template terms text than that the their them there these they
    this time to too total transaction transactions true try turn type unable unit unknown until unused update use
    used usemacro user using valid value values vendor version void voided voiding warning was were what when where
    which while will with without xml you your zero
    """.split()
)
"""The words of messages of statuses. Other words are replaced, and so is everything in quotation marks."""

LABELS = frozenset(
    line.strip()
    for line in """
    ASSETS
    Current Assets
    Checking/Savings
    Accounts Receivable
    Other Current Assets
    Fixed Assets
    Other Assets
    TOTAL ASSETS
    LIABILITIES & EQUITY
    Liabilities
    Current Liabilities
    Accounts Payable
    Credit Cards
    Other Current Liabilities
    Long Term Liabilities
    Equity
    Net Income
    TOTAL LIABILITIES & EQUITY
    Ordinary Income/Expense
    Income
    Cost of Goods Sold
    COGS
    Gross Profit
    Expense
    Net Ordinary Income
    Other Income/Expense
    Other Income
    Other Expense
    Net Other Income
    TOTAL
    Inventory
    Inventory Assembly
    Assembly
    Service
    Parts
    Other Charges
    Discounts
    Current
    1 - 30
    31 - 60
    61 - 90
    > 90
    """.splitlines()
    if line.strip()
)
"""The labels of rows and columns that are words of QuickBooks. They are those of the simulator's corpus."""

TITLES = frozenset(
    line.strip()
    for line in """
    A/R Aging Summary
    Accrual Basis
    All Transactions
    Amount
    Balance
    Balance Sheet
    Date
    Memo
    Name
    Num
    Profit & Loss
    Type
    """.splitlines()
    if line.strip()
)
"""Titles of reports and of columns that are words of QuickBooks. A date in a title is kept as a date."""
