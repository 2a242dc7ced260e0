"""The kinds of records that a company file keeps, derived from the schema: lists (ListID) and transactions (TxnID)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from simulator.schema import schema
from simulator.schema.model import mixed_key

if TYPE_CHECKING:
    from simulator.schema import Aggregate, Element

_DERIVED = {"ItemSites"}
"""Kinds whose records QuickBooks computes from others."""

_NAME_FIELDS = {"SalesRep": "Initial", "Lead": "FullName"}
"""Kinds whose name is not in `Name`."""

_ENTITIES = ("Customer", "Employee", "OtherName", "Vendor")
_TERMS = ("StandardTerms", "DateDrivenTerms")


@dataclass(frozen=True)
class Kind:
    """A kind of record: `Customer`, `Invoice`.

    Names are unique in a namespace, which several kinds can share: customers, vendors, employees and other names.
    """

    name: str
    is_list: bool
    record: Element
    namespace: str

    @cached_property
    def fields(self) -> Aggregate:
        """The content model of a record in responses."""
        return self.record.content

    @property
    def id_field(self) -> str:
        """`ListID` or `TxnID`."""
        return "ListID" if self.is_list else "TxnID"

    @cached_property
    def name_field(self) -> str | None:
        """The field that holds the name of a list object: None for transactions and for to-dos."""
        field = _NAME_FIELDS.get(self.name, "Name")
        return field if self.is_list and field in self.fields else None

    @cached_property
    def is_hierarchical(self) -> bool:
        """Return whether records can have a parent."""
        return "ParentRef" in self.fields

    @cached_property
    def query_elements(self) -> Aggregate:
        """The elements that the kind's query request can hold."""
        return schema().requests[f"{self.name}QueryRq"].content

    @cached_property
    def address_blocks(self) -> tuple[str, ...]:
        """The fields that hold an address as it is printed: `BillAddressBlock` for `BillAddress`."""
        return tuple(name for name in self.fields.elements if name.endswith("AddressBlock"))

    @cached_property
    def line_names(self) -> tuple[str, ...]:
        """The names of line elements: those with a TxnLineID and their groups."""
        return tuple(name for name in self.fields.elements if name.endswith(("LineRet", "LineGroupRet"))) + tuple(
            name for name in ("JournalDebitLine", "JournalCreditLine", "CashBackInfoRet") if name in self.fields
        )

    @cached_property
    def line_keys(self) -> dict[str, bool]:
        """The keys under which a record stores its lines, and whether lines and groups of lines alternate there."""
        mixed = {name: mixed_key(names) for names in self.fields.mixed for name in names}
        return {mixed.get(name, name): name in mixed for name in self.line_names}


def _kinds() -> dict[str, Kind]:
    kinds: dict[str, Kind] = {}
    for response in schema().responses:
        name = response.removesuffix("QueryRs")
        if name == response or name in _DERIVED:
            continue
        record = schema().responses[response].content.elements.get(f"{name}Ret")
        if record is not None and "EditSequence" in getattr(record.type, "elements", ()):
            kinds[name] = Kind(name, "ListID" in record.content, record, _namespace(name))
    return kinds


def _namespace(name: str) -> str:
    if name in _ENTITIES:
        return "Entity"
    if name in _TERMS:
        return "Terms"
    return "Item" if name.startswith("Item") and name != "ItemReceipt" else name


KINDS: dict[str, Kind] = _kinds()
"""Each kind by name: a kind is in the table when its query returns records with an EditSequence."""

LISTS = tuple(kind.name for kind in KINDS.values() if kind.is_list)
TRANSACTIONS = tuple(kind.name for kind in KINDS.values() if not kind.is_list)

ITEMS = tuple(
    name.removesuffix("Ret") for name in schema().responses["ItemQueryRs"].content.elements
)  # fmt: skip
"""The kinds of items, in the schema's order."""

GROUPS: dict[str, tuple[str, ...]] = {
    **{name: (name,) for name in KINDS},
    "Entity": _ENTITIES,
    "Item": ITEMS,
    "Terms": _TERMS,
}
"""The kinds that a query returns, by its name."""

_REFERENCE_SUFFIXES = {"AccountRef": ("Account",), "SalesTaxCodeRef": ("SalesTaxCode",)}
_REFERENCES: dict[str, tuple[str, ...]] = {
    "BillingRateRef": ("BillingRate",),
    "ClassRef": ("Class",),
    "CurrencyRef": ("Currency",),
    "HomeCurrencyRef": ("Currency",),
    "CustomerRef": ("Customer",),
    "CustomerMsgRef": ("CustomerMsg",),
    "CustomerTypeRef": ("CustomerType",),
    "DefaultShipMethodRef": ("ShipMethod",),
    "DiscountClassRef": ("Class",),
    "EmployeeRef": ("Employee",),
    "EntityRef": _ENTITIES,
    "InventorySiteRef": ("InventorySite",),
    "InventorySiteLocationRef": ("InventorySite",),
    "FromInventorySiteRef": ("InventorySite",),
    "FromInventorySiteLocationRef": ("InventorySite",),
    "ToInventorySiteRef": ("InventorySite",),
    "ToInventorySiteLocationRef": ("InventorySite",),
    "ParentSiteRef": ("InventorySite",),
    "ItemRef": ITEMS,
    "ItemGroupRef": ("ItemGroup",),
    "ItemInventoryRef": ("ItemInventory", "ItemInventoryAssembly"),
    "ItemInventoryAssemblyRef": ("ItemInventoryAssembly",),
    "ItemServiceRef": ("ItemService",),
    "ItemSalesTaxRef": ("ItemSalesTax", "ItemSalesTaxGroup"),
    "ItemPurchaseTaxRef": ("ItemSalesTax", "ItemSalesTaxGroup"),
    "DefaultItemSalesTaxRef": ("ItemSalesTax", "ItemSalesTaxGroup"),
    "JobTypeRef": ("JobType",),
    "LeadRef": ("Lead",),
    "OverrideUOMSetRef": ("UnitOfMeasureSet",),
    "PayeeEntityRef": _ENTITIES,
    "PaymentMethodRef": ("PaymentMethod",),
    "PayrollItemWageRef": ("PayrollItemWage",),
    "PreferredPaymentMethodRef": ("PaymentMethod",),
    "PrefVendorRef": ("Vendor",),
    "PriceLevelRef": ("PriceLevel",),
    "PurchaseTaxCodeRef": ("SalesTaxCode",),
    "SalesRepEntityRef": ("Employee", "OtherName", "Vendor"),
    "SalesRepRef": ("SalesRep",),
    "ShipMethodRef": ("ShipMethod",),
    "ShipToEntityRef": _ENTITIES,
    "SupervisorRef": ("Employee",),
    "TaxVendorRef": ("Vendor",),
    "TemplateRef": ("Template",),
    "TermsRef": _TERMS,
    "UnitOfMeasureSetRef": ("UnitOfMeasureSet",),
    "VehicleRef": ("Vehicle",),
    "VendorRef": ("Vendor",),
    "VendorTypeRef": ("VendorType",),
}


def referred_kinds(field: str, owner: str) -> tuple[str, ...]:
    """Return the kinds that a reference field can point to. `owner` is the kind of the record, for `ParentRef`."""
    if field == "ParentRef":
        return ITEMS if KINDS[owner].namespace == "Item" else (owner,)
    if field in _REFERENCES:
        return _REFERENCES[field]
    for suffix, kinds in _REFERENCE_SUFFIXES.items():
        if field.endswith(suffix):
            return kinds
    return tuple(LISTS)
