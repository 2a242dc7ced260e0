"""The facts about QuickBooks in the first call of every session: host, company and preferences."""

# ruff: noqa: SIM905 - a list of words is read as a line of text, not as a page of literals
from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from simulator.rules.preferences import HOME_CURRENCY, flags
from simulator.rules.tax import tax_preferences

if TYPE_CHECKING:
    from simulator.books import Books, Fields

SUPPORTED_VERSIONS = (
    "1.0 1.1 2.0 2.1 3.0 4.0 4.1 5.0 6.0 7.0 8.0 9.0 10.0 11.0 12.0 13.0 14.0 15.0 16.0 17.0"
).split()  # fmt: skip
"""The qbXML versions that there are, oldest first."""

OFFERED_VERSIONS = SUPPORTED_VERSIONS[SUPPORTED_VERSIONS.index("2.0") : SUPPORTED_VERSIONS.index("16.0") + 1]
"""The highest qbXML versions that a company file of the simulator can have."""

_EDITIONS = {"CA": "QBCA", "UK": "QBUK", "AU": "QBAU"}
_PREFIXES = ("CA", "UK")
_PREFIXED_VERSIONS = ("2.0", "3.0")
_SERVICES = {
    "QuickBooks Online Banking": "banking.qb",
    "QuickBooks Online Billing": "billing.qb",
    "QuickBooks Online Billing Level 1 Service": "qbob1.qbn",
    "QuickBooks Online Billing Level 2 Service": "qbob2.qbn",
    "QuickBooks Online Billing Payment Service": "qbobpay.qbn",
    "QuickBooks Bill Payment": "billpay.qb",
    "QuickBooks Online Billing Paper Mailing Service": "qbobpaper.qbn",
    "QuickBooks Payroll Service": "payroll.qb",
    "QuickBooks Basic Payroll Service": "payrollbsc.qb",
    "QuickBooks Basic Disk Payroll Service": "payrollbscdisk.qb",
    "QuickBooks Deluxe Payroll Service": "payrolldlx.qb",
    "QuickBooks Premier Payroll Service": "payrollprm.qb",
    "Basic Plus Federal": "basic_plus_fed.qb",
    "Basic Plus Federal and State": "basic_plus_fed_state.qb",
    "Basic Plus Direct Deposit": "basic_plus_dd.qb",
    "Merchant Account Service": "mas.qbn",
}
"""The services that a file of QuickBooks Pro 2014 lists without using one (a captured first call): domains by name."""
_ADDRESS = {"Addr1": "1 Test Way", "City": "Bayfield", "State": "CA", "PostalCode": "94001", "Country": "US"}
_MONTHS = "January February March April May June July August September October November December".split()
_LISTS = (
    "Account BillingRate Class CustomerMsg CustomerType Entity Item JobType PaymentMethod PayrollItem PriceLevel "
    "SalesRep SalesTaxCode ShipMethod Template Terms ToDo Vehicle VendorType"
).split()


@dataclass(frozen=True, slots=True)
class Product:
    """The QuickBooks that is simulated. `highest_version` is the newest qbXML that it reads."""

    name: str = "QuickBooks Enterprise Solutions 2023"
    major_version: str = "33"
    country: str = "US"
    highest_version: str = "16.0"

    @property
    def edition(self) -> str:
        """The name of the edition in the schema: QBD is the US one."""
        return _EDITIONS.get(self.country, "QBD")

    @property
    def versions(self) -> list[str]:
        """The qbXML versions that it reads."""
        return SUPPORTED_VERSIONS[: SUPPORTED_VERSIONS.index(self.highest_version) + 1]

    def version_number(self, text: str) -> str | None:
        """Return the number of a version in a request, None if this QuickBooks does not read it.

        The Canadian and the British edition also read old versions with their country's prefix: "CA3.0".
        """
        number = text.removeprefix(self.country) if self.country in _PREFIXES else text
        is_known = number in (self.versions if number == text else _PREFIXED_VERSIONS)
        return number if is_known else None


class CompanyFacts(Protocol):
    """The facts about a company file. `private_fields` maps an OwnerID to names and values."""

    @property
    def name(self) -> str:
        """The company's name."""
        ...

    @property
    def product(self) -> Product:
        """The QuickBooks that has the file open."""
        ...

    @property
    def first_fiscal_month(self) -> int:
        """The month in which the fiscal year begins, from 1."""
        ...

    @property
    def private_fields(self) -> dict[str, dict[str, str]]:
        """The fields that applications stored in the company file."""
        ...

    @property
    def details(self) -> Fields:
        """Fields of CompanyRet and sections of PreferencesRet that differ from the defaults here."""
        ...


def host(product: Product, *, list_sizes: bool, file_mode: str = "SingleUser") -> Fields:
    """Return HostRet. `list_sizes` adds the capacity of each list (IncludeListMetaData)."""
    fields: Fields = {
        "ProductName": product.name,
        "MajorVersion": product.major_version,
        "MinorVersion": "0",
        "Country": product.country,
        "SupportedQBXMLVersion": product.versions,
        "IsAutomaticLogin": "false",
        "QBFileMode": file_mode,
    }
    if list_sizes:
        fields["ListMetaData"] = {f"{name}MetaData": {"MaxCapacity": "100000"} for name in _LISTS}
    return fields


def company(facts: CompanyFacts) -> Fields:
    """Return CompanyRet with the private fields of every owner."""
    name, private_fields = facts.name, facts.private_fields
    month = _MONTHS[facts.first_fiscal_month - 1]
    return {
        "IsSampleCompany": "false",
        "CompanyName": name,
        "LegalCompanyName": f"{name}, Inc.",
        "Address": _ADDRESS,
        "AddressBlock": {"Addr1": "1 Test Way", "Addr2": "Bayfield, CA 94001"},
        "LegalAddress": _ADDRESS,
        "Phone": "555-0100",
        "Email": "books@example.com",
        "FirstMonthFiscalYear": month,
        "FirstMonthIncomeTaxYear": month,
        "CompanyType": "GeneralProductBasedBusiness",
        "EIN": "00-0000000",
        "TaxForm": "Form1120",
        "SubscribedServices": {
            "Service": [
                {"Name": service, "Domain": domain, "ServiceStatus": "Never"} for service, domain in _SERVICES.items()
            ]
        },
        "AccountantCopy": {"AccountantCopyExists": "false"},
        "DataExtRet": [
            {"OwnerID": owner, "DataExtName": key, "DataExtType": "STR255TYPE", "DataExtValue": value}
            for owner, pairs in private_fields.items()
            for key, value in sorted(pairs.items())
        ],
        **facts.details,
    }


def preferences(facts: CompanyFacts, books: Books) -> Fields:
    """Return PreferencesRet: the preferences of the books, and the details of the company where they differ."""
    fields: Fields = {
        "AccountingPreferences": {
            "IsUsingAccountNumbers": "false",
            "IsRequiringAccounts": "true",
            "IsUsingAuditTrail": "true",
            "IsAssigningJournalEntryNumbers": "true",
        },
        "FinanceChargePreferences": {
            "AnnualInterestRate": "0.00",
            "MinFinanceCharge": "0.00",
            "GracePeriod": "0",
            "IsAssessingForOverdueCharges": "false",
            "CalculateChargesFrom": "DueDate",
            "IsMarkedToBePrinted": "false",
        },
        "JobsAndEstimatesPreferences": {
            "IsUsingProgressInvoicing": "false",
            "IsPrintingItemsWithZeroAmounts": "false",
        },
        "MultiCurrencyPreferences": {"HomeCurrencyRef": books.preferences.get(HOME_CURRENCY, {})},
        "MultiLocationInventoryPreferences": {},
        "PurchasesAndVendorsPreferences": {
            "DaysBillsAreDue": "10",
            "IsAutomaticallyUsingDiscounts": "false",
        },
        "ReportsPreferences": {"AgingReportBasis": "AgeFromDueDate", "SummaryReportBasis": "Accrual"},
        "SalesAndCustomersPreferences": {
            "IsTrackingReimbursedExpensesAsIncome": "false",
            "IsAutoApplyingPayments": "true",
            "PriceLevels": {"IsRoundingSalesPriceUp": "true"},
        },
        "SalesTaxPreferences": tax_preferences(books),
        "TimeTrackingPreferences": {"FirstDayOfWeek": "Monday"},
        "CurrentAppAccessRights": {"IsAutomaticLoginAllowed": "false"},
        "ItemsAndInventoryPreferences": {
            "EnhancedInventoryReceivingEnabled": "false",
            "IsTrackingSerialOrLotNumber": "None",
            "FIFOEnabled": "false",
            "IsRSBEnabled": "false",
            "IsBarcodeEnabled": "false",
            "IsInventoryExpirationDateEnabled": "false",
        },
    }
    for (*sections, name), text in flags(books):
        section = fields
        for part in sections:
            section = section[part]
        section[name] = text
    return {**fields, **facts.details}
