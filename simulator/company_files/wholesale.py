"""The lists of a small wholesale company for kitchens and hardware: items of every kind, vendors, staff, customers."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal
from typing import TYPE_CHECKING

from simulator.company_files.words import FIRST_NAMES, JOBS, LAST_NAMES, STREETS, TRADES
from simulator.schema.values import money

if TYPE_CHECKING:
    from random import Random

    from simulator.books import Fields, Record
    from simulator.company_files.maker import Maker
    from simulator.company_files.words import Place

OWNER_OF_CUSTOM_FIELDS = "0"
CUSTOM_FIELDS = (("Region", "Customer"), ("Color", "Item"))
"""Name and object of the custom fields that the company defined in QuickBooks."""

CLASSES = ("Retail", "Retail:Web", "Wholesale")
INVENTORY_DAY = "2024-12-31"
"""The opening quantities were counted on this day, the last before the year of transactions."""

_EMPLOYEES = (
    ("Ada", "Lindqvist", "Owner", "AL"),
    ("Carl", "Zeller", "Sales", "CZ"),
    ("Mette", "Ørsted", "Sales", "MO"),
    ("Ruth", "Navarro", "Bookkeeper", ""),
    ("Ivo", "Brandão", "Installer", ""),
    ("Tessa", "Vogel", "Warehouse", ""),
)
"""First name, last name, job title, and initials as a sales representative."""

_SERVICES = (
    ("Consulting", "120.00"),
    ("Consulting:On site", "150.00"),
    ("Installation", "85.00"),
    ("Délivery", "25.00"),
)
_STOCK = (
    ("Cabinet", "340.00"),
    ("Cabinet:Light Pine", "1799.00"),
    ("Cabinet:Dark Oak", "2150.00"),
    ("Hardware", "12.50"),
    ("Hardware:Brass hinges", "3.00"),
    ("Hardware:Doorknobs Std", "30.00"),
    ("Hardware:Drawer slides", "18.40"),
    ("T-shirt", "19.90"),
    ("Worktop", "95.00"),
    ("Worktop:Granite", "410.00"),
    ("Sink", "189.00"),
    ("Tap", "74.50"),
)
_NOT_IN_STOCK = (("Timber ½ inch", "7.45"), ("Rußfilter", "44.10"))
_INACTIVE_ITEM = "T-shirt"
_RANGES = ("Handle", "Hinge", "Bracket", "Panel", "Shelf", "Lamp")
_SIZES = ("S", "M", "L", "XL")
COST_SHARE = Decimal("0.6")
"""The cost of a stock item as a share of its price."""

SHARE_OF_JOBS = 1 / 6
SHARE_OF_COMPANIES = 0.5
INACTIVE_EACH = 14
"""One in this number of customers is inactive."""


@dataclass(slots=True)
class Lists:
    """The records that transactions refer to. `goods` are the active stock items."""

    customers: list[Record] = field(default_factory=list)
    vendors: list[Record] = field(default_factory=list)
    services: list[Record] = field(default_factory=list)
    goods: list[Record] = field(default_factory=list)
    not_in_stock: list[Record] = field(default_factory=list)
    employees: list[Record] = field(default_factory=list)
    jobs: list[Record] = field(default_factory=list)


class Wholesale:
    """Adds the lists of the company for a number of customers, jobs included. Vendors and items are in proportion."""

    def __init__(self, maker: Maker, place: Place, random: Random) -> None:
        self._maker = maker
        self._place = place
        self._random = random
        self.lists = Lists()

    def add(self, customers: int) -> Lists:
        """Add all lists."""
        self._custom_fields()
        self._small_lists()
        self._employees()
        for number in range(1, max(customers // 8, 3) + 1):
            self.lists.vendors.append(self._vendor(number))
        self._items(customers)
        self._customers(customers)
        return self.lists

    def _custom_fields(self) -> None:
        self._maker.books.custom_fields = [
            {
                "OwnerID": OWNER_OF_CUSTOM_FIELDS,
                "DataExtID": str(number),
                "DataExtName": name,
                "DataExtType": "STR255TYPE",
                "AssignToObject": [carrier],
                "DataExtListRequire": "false",
                "DataExtTxnRequire": "false",
                "DataExtFormatString": "",
            }
            for number, (name, carrier) in enumerate(CUSTOM_FIELDS)
        ]

    def _small_lists(self) -> None:
        maker = self._maker
        maker.add_named("Class", CLASSES)
        for name, percent in (("Friends", "-5.00"), ("Trade", "-12.50")):
            maker.add(
                "PriceLevel",
                {"Name": name, "PriceLevelType": "FixedPercentage", "PriceLevelFixedPercentage": percent},
            )
        maker.add(
            "UnitOfMeasureSet",
            {
                "Name": "Count in packs",
                "UnitOfMeasureType": "Count",
                "BaseUnit": {"Name": "each", "Abbreviation": "ea"},
                "RelatedUnit": [{"Name": "pack", "Abbreviation": "pk", "ConversionRatio": "10"}],
                "DefaultUnit": [{"UnitUsedFor": "Sales", "Unit": "each"}],
            },
        )
        for name in ("Ada Brandt", "Corner Café"):
            maker.add("OtherName", {"Name": name})
        maker.add("Vehicle", {"Name": "Van 1", "Desc": "Delivery van"})

    def _employees(self) -> None:
        maker = self._maker
        wages = maker.account("Payroll:Wages")
        for name, kind in (("Salary", "SalaryRegular"), ("Hourly", "HourlyRegular")):
            maker.add("PayrollItemWage", {"Name": name, "WageType": kind, "ExpenseAccountRef": wages})
        for first, last, title, initials in _EMPLOYEES:
            employee = maker.add(
                "Employee",
                {
                    "Name": f"{first} {last}",
                    "FirstName": first,
                    "LastName": last,
                    "JobTitle": title,
                    "EmployeeType": "Owner" if title == "Owner" else "Regular",
                    "HiredDate": "2024-01-02",
                },
            )
            self.lists.employees.append(employee)
            if initials:
                maker.add("SalesRep", {"Initial": initials, "SalesRepEntityRef": employee.reference()})

    def _vendor(self, number: int) -> Record:
        name = f"{self._random.choice(LAST_NAMES)} {self._random.choice(TRADES)} Supply {number}"
        street = f"{self._random.randint(1, 199)} {self._random.choice(STREETS)}"
        return self._maker.add(
            "Vendor",
            {
                "Name": name,
                "IsActive": _bool(number % 9 != 0),
                "CompanyName": name,
                "VendorAddress": self._place.address(name[:41], street, self._random.choice(self._place.cities)),
                "VendorTypeRef": self._maker.reference("VendorType", "Supplier"),
                "TermsRef": self._maker.reference("StandardTerms", "Net 30" if number % 3 else "2% 10 Net 30"),
                "Phone": f"555-{9000 + number % 1000}",
            },
        )

    def _items(self, customers: int) -> None:
        maker, lists = self._maker, self.lists
        taxed, services = self._taxed(), maker.account("Sales:Services")
        for full_name, price in _SERVICES:
            lists.services.append(self._simple("ItemService", full_name, price, services, {}))
        stock_level = 20 + customers // 12
        ranges = [
            (f"{name} {size} {number}", f"{self._random.randint(200, 9000) / 100:.2f}")
            for number in range(1, max(customers // 120, 0) + 1)
            for name in _RANGES
            for size in _SIZES
        ]
        for full_name, price in (*_STOCK, *ranges):
            record = self._stock_item(full_name, price, stock_level)
            if full_name != _INACTIVE_ITEM:
                lists.goods.append(record)
        for full_name, price in _NOT_IN_STOCK:
            lists.not_in_stock.append(
                self._simple("ItemNonInventory", full_name, price, maker.account("Sales:Goods"), taxed)
            )
        self._simple("ItemOtherCharge", "Freight", "35.00", maker.account("Sales:Shipping"), {})
        maker.add("ItemSubtotal", {"Name": "Subtotal", "ItemDesc": "Subtotal"})
        maker.add(
            "ItemDiscount",
            {
                "Name": "Trade discount",
                "ItemDesc": "Trade discount",
                "DiscountRatePercent": "10.00",
                "AccountRef": maker.account("Sales Discounts"),
                **taxed,
            },
        )
        maker.add(
            "ItemPayment",
            {"Name": "Paid in cash", "PaymentMethodRef": maker.reference("PaymentMethod", "Cash")},
        )
        self._composed_items(taxed)

    def _composed_items(self, taxed: Fields) -> None:
        """Add a group, an assembly and a fixed asset."""
        maker = self._maker

        def part(name: str, quantity: str, field_name: str = "ItemRef") -> Fields:
            return {field_name: maker.reference("ItemInventory", name), "Quantity": quantity}

        maker.add(
            "ItemGroup",
            {
                "Name": "Sink set",
                "ItemDesc": "Sink with tap",
                "ItemGroupLine": [part("Sink", "1"), part("Tap", "1")],
            },
        )
        maker.add(
            "ItemInventoryAssembly",
            {
                "Name": "Base unit",
                "SalesDesc": "Base unit with door",
                "SalesPrice": "520.00",
                "PurchaseCost": "0.00",
                "IncomeAccountRef": maker.account("Sales:Goods"),
                "COGSAccountRef": maker.account("Cost of Goods Sold"),
                "AssetAccountRef": maker.account("Inventory Asset"),
                "ItemInventoryAssemblyLine": [
                    part("Cabinet", "1", "ItemInventoryRef"),
                    part("Hardware:Brass hinges", "2", "ItemInventoryRef"),
                    part("Hardware:Doorknobs Std", "1", "ItemInventoryRef"),
                ],
                **taxed,
            },
        )
        maker.add(
            "ItemFixedAsset",
            {
                "Name": "Forklift",
                "AcquiredAs": "Old",
                "PurchaseDesc": "Electric forklift",
                "PurchaseDate": "2024-03-01",
                "PurchaseCost": "14500.00",
                "AssetAccountRef": maker.account("Furniture and Equipment"),
            },
        )

    def _taxed(self) -> Fields:
        return {"SalesTaxCodeRef": self._maker.reference("SalesTaxCode", self._place.taxable_code[0])}

    def _simple(self, kind: str, full_name: str, price: str, account: Fields, more: Fields) -> Record:
        name_fields = self._maker.named(kind, full_name)
        sale = {"Desc": name_fields["Name"], "Price": price, "AccountRef": account}
        code = {"SalesTaxCodeRef": self._maker.reference("SalesTaxCode", self._place.exempt_code[0])}
        return self._maker.add(kind, {**name_fields, **code, "SalesOrPurchase": sale, **more})

    def _stock_item(self, full_name: str, price: str, quantity: int) -> Record:
        maker = self._maker
        name_fields = maker.named("ItemInventory", full_name)
        cost = money((Decimal(price) * COST_SHARE).quantize(Decimal("0.01")))
        vendors = [vendor for vendor in self.lists.vendors if vendor.is_active]
        return maker.add(
            "ItemInventory",
            {
                **name_fields,
                "IsActive": _bool(full_name != _INACTIVE_ITEM),
                "SalesDesc": name_fields["Name"],
                "SalesPrice": price,
                "IncomeAccountRef": maker.account("Sales:Goods"),
                "PurchaseDesc": name_fields["Name"],
                "PurchaseCost": cost,
                "PrefVendorRef": self._random.choice(vendors).reference(),
                "COGSAccountRef": maker.account("Cost of Goods Sold"),
                "AssetAccountRef": maker.account("Inventory Asset"),
                "ReorderPoint": str(quantity // 2),
                **self._taxed(),
            },
            QuantityOnHand=str(quantity),
            InventoryDate=INVENTORY_DAY,
        )

    def _customers(self, count: int) -> None:
        lists = self.lists
        parents: list[Record] = []
        # Customers join in the course of 2024, the year before the transactions.
        step = timedelta(days=330) / max(count, 1) // timedelta(microseconds=1)
        for number in range(1, count + 1):
            self._maker.now += step
            # One in six is a job below a customer, as in most companies that use jobs.
            if parents and self._random.random() < SHARE_OF_JOBS:
                parent = self._random.choice(parents)
                record = self._customer(number, f"{self._random.choice(JOBS)} {number}", parent)
                lists.jobs.append(record)
            else:
                record = self._customer(number, "", None)
                parents.append(record)
            lists.customers.append(record)

    def _customer(self, number: int, job: str, parent: Record | None) -> Record:
        random, maker, place = self._random, self._maker, self._place
        first, last = random.choice(FIRST_NAMES), random.choice(LAST_NAMES)
        company = f"{last} {random.choice(TRADES)}" if random.random() < SHARE_OF_COMPANIES else ""
        street = f"{random.randint(1, 199)} {random.choice(STREETS)}"
        address = place.address(company or f"{first} {last}", street, random.choice(place.cities))
        is_exempt = random.random() < place.exempt_share
        code = (place.exempt_code if is_exempt else place.taxable_code)[0]
        terms = random.choice(("Due on receipt", "Net 15", "Net 30", "2% 10 Net 30"))
        fields: Fields = {
            "Name": job or (f"{company} {number}" if company else f"{last}, {first} {number}"),
            "IsActive": _bool(number % INACTIVE_EACH != INACTIVE_EACH // 2),
            "ClassRef": maker.reference("Class", random.choice(CLASSES)) if number % 5 == 0 else {},
            "ParentRef": parent.reference() if parent else {},
            "CompanyName": company,
            "FirstName": first,
            "LastName": last,
            "BillAddress": address,
            "Phone": f"555-{number % 10_000:04d}",
            "Email": f"customer{number}@example.com",
            "CustomerTypeRef": maker.reference("CustomerType", "Trade" if is_exempt else "Commercial"),
            "TermsRef": maker.reference("StandardTerms", terms),
            "SalesRepRef": maker.reference("SalesRep", "CZ" if number % 2 else "MO"),
            "SalesTaxCodeRef": maker.reference("SalesTaxCode", code),
            "ResaleNumber": f"R-{number:05d}" if is_exempt else "",
            "AccountNumber": f"C-{number:05d}",
            "PriceLevelRef": maker.reference("PriceLevel", "Trade") if number % 7 == 0 else {},
            "JobStatus": random.choice(("InProgress", "Awarded", "Closed")) if parent else "None",
            "PreferredDeliveryMethod": "None",
            "DataExtRet": [_custom_field("Region", random.choice(("North", "South", "Übersee")))]
            if number % 3 == 0
            else [],
        }
        return maker.add("Customer", {key: value for key, value in fields.items() if value})


def _custom_field(name: str, value: str) -> Fields:
    return {
        "OwnerID": OWNER_OF_CUSTOM_FIELDS,
        "DataExtName": name,
        "DataExtType": "STR255TYPE",
        "DataExtValue": value,
    }


def _bool(value: bool) -> str:
    return "true" if value else "false"
