"""Names, addresses and taxes of the generated companies.

Every name is invented. Text stays within Windows-1252, as in QuickBooks, and is not all ASCII.
"""

# ruff: noqa: SIM905 - a list of words is read as a line of text, not as a page of literals
from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from simulator.books import Fields

FIRST_NAMES = (
    "Ada Bruno Chloé Dagmar Emil Françoise Georg Håkon Inès José Kateri Lotte Márta Nuño Olga Pål Quentin Renée "
    "Søren Tomás Ülkü Vera Wanda Xaver Yvonne Zoë"
).split()
LAST_NAMES = (
    "Abend Brückner Castaño Dupré Eskola Føllesdal Grünwald Hjärne Ibáñez Jansen Krüger Lefèvre Müller Nygård "
    "Österlund Peña Quist Rößler Sánchez Thévenot Ünal Vance Weiß Ýmir Zeller"
).split()
TRADES = (
    "Bakery;Bicycles;Brewing Co.;Café;Carpentry & Sons;Dental;Electric;Fabrics;Garden Centre;Hardware;Imports;"
    "Joinery;Kitchens;Landscaping;Marine Supply;Nursery;Opticians;Printing;Quilts;Roofing"
).split(";")
JOBS = "Kitchen;Bathroom;Roof;Terrace;Workshop;Phase 1;Phase 2;Garage".split(";")
STREETS = "Mill Lane;Harbor Street;Señora Avenue;Station Road;Chapel Hill".split(";")


@dataclass(frozen=True, slots=True)
class Tax:
    """A sales tax: the name of its item, its percentage, and the agency that collects it."""

    name: str
    rate: str
    agency: str


@dataclass(frozen=True, slots=True)
class Place:
    """The facts that depend on the country: addresses and sales taxes.

    `cities` are (city, state or province, postal code). All of `taxes` apply to a taxable sale. Two or more form
    the group `tax_group`. `exempt_share` is the share of customers who pay no sales tax because they resell the goods.
    """

    country: str
    cities: tuple[tuple[str, str, str], ...]
    taxes: tuple[Tax, ...]
    tax_group: str
    no_tax: Tax
    taxable_code: tuple[str, str]
    exempt_code: tuple[str, str]
    exempt_share: float

    def address(self, name: str, street: str, city: tuple[str, str, str]) -> Fields:
        """Return an address without its empty fields."""
        town, state, postal_code = city
        fields = {"Addr1": name, "Addr2": street, "City": town, "State": state, "PostalCode": postal_code}
        return {key: value for key, value in fields.items() if value}

    @property
    def tax_item(self) -> str:
        """The name of the tax item or group of a taxable sale."""
        return self.tax_group or self.taxes[0].name


PLACES = {
    "US": Place(
        "US",
        (
            ("Bayfield", "CA", "94001"),
            ("Middletown", "CA", "94482"),
            ("Östhammar", "WA", "98101"),
            ("Saint-Jérôme", "VT", "05401"),
            ("Lakeside", "OR", "97449"),
        ),
        (Tax("State Tax", "6", "State Board of Taxes"), Tax("County Tax", "1.25", "County Tax Office")),
        "Bayfield Tax",
        Tax("Out of State", "0", "State Board of Taxes"),
        ("Tax", "Taxable sales"),
        ("Non", "Non-taxable sales"),
        0.7,
    ),
    "CA": Place(
        "CA",
        (
            ("Port Maribel", "BC", "V6B 0A1"),
            ("Fort Ellery", "BC", "V5K 0A1"),
            ("Trois-Étangs", "QC", "H2X 0A1"),
            ("Lakeside", "ON", "M5V 0A1"),
        ),
        (Tax("GST", "5", "Receiver General"), Tax("PST", "7", "Minister of Finance")),
        "GST + PST",
        Tax("Zero-rated", "0", "Receiver General"),
        ("S", "GST and PST"),
        ("E", "Exempt"),
        0.1,
    ),
    "UK": Place(
        "UK",
        (
            ("Bayfield", "", "BY1 1AA"),
            ("Saint Merrow", "", "SM4 2BB"),
            ("Llanfechan", "", "LF9 3CC"),
            ("Kirkholm", "", "KH2 4DD"),
        ),
        (Tax("VAT Standard", "20", "HM Revenue & Customs"),),
        "",
        Tax("VAT Zero", "0", "HM Revenue & Customs"),
        ("S", "Standard rate"),
        ("Z", "Zero rate"),
        0.05,
    ),
    "AU": Place(
        "AU",
        (
            ("Bayfield", "NSW", "2001"),
            ("Saint Merrow", "VIC", "3002"),
            ("Kirkholm", "QLD", "4003"),
        ),
        (Tax("GST", "10", "Taxation Office"),),
        "",
        Tax("GST-free", "0", "Taxation Office"),
        ("GST", "Goods and services tax"),
        ("FRE", "GST-free"),
        0.05,
    ),
}
"""By country, as HostRet names it."""
