"""The preferences of a company file: switches for features and permissions, and the closing date.

What a preference that is off covers is refused and is not in responses. Records keep what they have: it is
there again when the preference is on. `PREFERENCES` declares what each of them covers.

A company that charges no sales tax still has sales tax codes of items and lines, and taxes of 0.00. That is how genuine
responses of such a company look. The README lists them.

A table, because a branch is easily forgotten for one field of one request. An off preference is refused with 3250
before any rule runs. Names of elements alone would not do: genuine responses of a company without sales tax have no
`SalesTaxCodeRef` of customers, but those of items and lines. A change on or before the closing date is 3171, and a
deletion 3161; which of them a void gets is our reading.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

from simulator.books.kinds import KINDS
from simulator.schema import schema

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from simulator.books.records import Fields
    from simulator.books.store import Books

ON, OFF = "on", "off"
CLOSING_DATE = "closing_date"
HOME_CURRENCY = "HomeCurrencyRef"
"""The key of the home currency in the preferences of the books."""


@dataclass(frozen=True, slots=True)
class Preference:
    """A switch, and what is refused and left out while it is off.

    `kinds` and `covers` name them in the form of `simulator.requests.coverage`: kinds of records; requests, elements
    (`ClassRef`), elements of one kind of record (`Customer/SalesTaxCodeRef`) and values (`IncludeColumn=Class`).
    `flags` are the elements of PreferencesRet that show it. `status` is the one that refuses.
    """

    about: str
    default: str = ON
    kinds: tuple[str, ...] = ()
    covers: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    status: int = 3250


PREFERENCES: Mapping[str, Preference] = {
    "sales_tax": Preference(
        "The company charges sales tax.",
        kinds=("ItemSalesTax", "ItemSalesTaxGroup", "SalesTaxCode", "SalesTaxPaymentCheck"),
        covers=(
            "SalesTaxPayableQueryRq",
            "SalesTaxPreferences",
            "CustomerSalesTaxCodeRef",
            "ItemSalesTaxRef",
            "Customer/SalesTaxCodeRef",
            "IncludeColumn=SalesTaxCode",
            "SummarizeColumnsBy=SalesTaxCode",
            "SummarizeRowsBy=SalesTaxCode",
            "GeneralSummaryReportType=SalesTaxLiability",
            "GeneralSummaryReportType=SalesTaxRevenueSummary",
        ),
    ),
    "classes": Preference(
        "Transactions have classes.",
        kinds=("Class",),
        covers=(
            "ClassRef",
            "OverrideClassRef",
            "DiscountClassRef",
            "AssignClassesTo",
            "ClassFilter",
            "TransactionClassFilter",
            "ReportClassFilter",
            "IncludeColumn=Class",
            "SummarizeColumnsBy=Class",
            "SummarizeRowsBy=Class",
            "SummarizeBudgetColumnsBy=Class",
            "SummarizeBudgetRowsBy=Class",
            "GeneralSummaryReportType=BalanceSheetByClass",
            "GeneralSummaryReportType=ProfitAndLossByClass",
        ),
        flags=("AccountingPreferences/IsUsingClassTracking",),
    ),
    "multi_currency": Preference(
        "Customers, vendors and accounts have currencies.",
        default=OFF,
        kinds=("Currency",),
        covers=(
            "CurrencyRef",
            "ExchangeRate",
            "CurrencyFilter",
            "HomeCurrencyRef",
            "IsAmountsEnteredInHomeCurrency",
            "IsHomeCurrencyAdjustment",
            "*InHomeCurrency",
            "IncludeColumn=Currency",
        ),
        flags=("MultiCurrencyPreferences/IsMultiCurrencyOn",),
    ),
    "sites": Preference(
        "Stock is kept at several inventory sites.",
        default=OFF,
        kinds=("InventorySite", "TransferInventory"),
        covers=(
            "InventorySiteRef",
            "InventorySiteLocationRef",
            "SiteFilter",
            "GeneralSummaryReportType=InventoryValuationSummaryBySite",
            "GeneralSummaryReportType=LotNumberInStockBySite",
            "GeneralSummaryReportType=SerialNumberInStockBySite",
        ),
        flags=(
            "MultiLocationInventoryPreferences/IsMultiLocationInventoryAvailable",
            "MultiLocationInventoryPreferences/IsMultiLocationInventoryEnabled",
        ),
    ),
    "inventory": Preference(
        "The company keeps stock and orders from vendors.",
        kinds=(
            "ItemInventory",
            "ItemInventoryAssembly",
            "InventoryAdjustment",
            "BuildAssembly",
            "PurchaseOrder",
            "ItemReceipt",
        ),
        covers=("ItemAssembliesCanBuildQueryRq", "ItemSitesQueryRq"),
        flags=("PurchasesAndVendorsPreferences/IsUsingInventory",),
    ),
    "estimates": Preference(
        "The company writes estimates.",
        kinds=("Estimate",),
        flags=("JobsAndEstimatesPreferences/IsUsingEstimates",),
    ),
    "price_levels": Preference(
        "Customers can have prices of their own.",
        kinds=("PriceLevel",),
        covers=("PriceLevelRef",),
        flags=("SalesAndCustomersPreferences/PriceLevels/IsUsingPriceLevels",),
    ),
    "single_user_mode": Preference(
        "The company file is open in single-user mode.",
        covers=("ListMergeRq",),
        status=3162,
    ),
    "reports_permitted": Preference(
        "The QuickBooks user may see reports.",
        covers=tuple(name for name in schema().requests if name.endswith("ReportQueryRq")),
        status=3260,
    ),
    "personal_data_permitted": Preference(
        "The application may access personal data.",
        covers=("SSN",),
        flags=("CurrentAppAccessRights/IsPersonalDataAccessAllowed",),
        status=3262,
    ),
    "writes_permitted": Preference(
        "The application may change the company.",
        covers=tuple(name for name in schema().requests if not name.endswith("QueryRq")),
        status=3263,
    ),
    CLOSING_DATE: Preference(
        "The books are closed up to this day: a date, or off.",
        default=OFF,
        flags=("AccountingPreferences/ClosingDate",),
    ),
}
"""The preferences by name."""

_CURRENCIES = {
    "AUD": "Australian Dollar",
    "CAD": "Canadian Dollar",
    "CHF": "Swiss Franc",
    "CNY": "Chinese Yuan Renminbi",
    "EUR": "Euro",
    "GBP": "British Pound Sterling",
    "HKD": "Hong Kong Dollar",
    "JPY": "Japanese Yen",
    "MXN": "Mexican Peso",
    "USD": "US Dollar",
}
"""The currencies that a file has when it uses several: names by code. QuickBooks has more, most of them inactive."""
_HOME_CURRENCIES = {"US": "USD", "CA": "CAD", "UK": "GBP", "AU": "AUD"}
_FIRST_SITE = "Unspecified Site"
_WITHOUT_SITES = ("CA", "UK")
"""The countries whose QuickBooks has no inventory sites."""
_DATE = re.compile(r"\d{4}-\d\d-\d\d")


def value_of(books: Books, name: str) -> str:
    """Return the value of a preference: `on`, `off`, or the closing date."""
    return str(books.preferences.get(name) or PREFERENCES[name].default)


def is_on(books: Books, name: str) -> bool:
    """Return whether a preference is on."""
    return value_of(books, name) != OFF


def values(books: Books) -> dict[str, str]:
    """Return the values of all preferences."""
    return {name: value_of(books, name) for name in PREFERENCES}


def change(books: Books, name: str, value: str, country: str = "US") -> None:
    """Set a preference as an administrator does in QuickBooks. Raises `ValueError` for a wrong name or value.

    The first time that several currencies or sites are used, QuickBooks creates the currencies or a first site.
    """
    if name not in PREFERENCES:
        raise ValueError(f"There is no preference {name!r}. The preferences are {', '.join(PREFERENCES)}.")
    if name == CLOSING_DATE:
        if value != OFF and not _is_date(value):
            raise ValueError(f"{name} must be a date (2025-12-31) or {OFF}, not {value!r}.")
    elif value not in {ON, OFF}:
        raise ValueError(f"{name} must be {ON} or {OFF}, not {value!r}.")
    if name == "sites" and value == ON and country in _WITHOUT_SITES:
        raise ValueError(f"QuickBooks has no inventory sites in the country {country}.")
    books.preferences[name] = value
    if name == "multi_currency" and value == ON and HOME_CURRENCY not in books.preferences:
        for code, title in _CURRENCIES.items():
            fields: Fields = {"Name": title, "IsActive": "true", "CurrencyCode": code, "IsUserDefinedCurrency": "false"}
            currency = books.named(title, ("Currency",)) or books.add(KINDS["Currency"], fields)
            if code == _HOME_CURRENCIES[country]:
                books.preferences[HOME_CURRENCY] = currency.reference()
    if name == "sites" and value == ON and not len(books["InventorySite"]):
        fields = {"Name": _FIRST_SITE, "IsActive": "true", "IsDefaultSite": "true"}
        books.add(KINDS["InventorySite"], fields)


def _is_date(text: str) -> bool:
    try:
        return bool(_DATE.fullmatch(text) and date.fromisoformat(text))
    except ValueError:
        return False


def flags(books: Books) -> Iterator[tuple[list[str], str]]:
    """Yield the path of each element of PreferencesRet that shows a preference, and its text."""
    for name, preference in PREFERENCES.items():
        value = value_of(books, name)
        texts = {OFF: ""} if name == CLOSING_DATE else {ON: "true", OFF: "false"}
        for path in preference.flags:
            yield path.split("/"), texts.get(value, value)
