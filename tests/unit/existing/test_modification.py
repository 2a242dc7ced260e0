"""`if_exists: update`: the Mod changes what differs and nothing else, and a second one is never needed."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any
from xml.etree.ElementTree import Element, SubElement, tostring

import pytest

from domain import qbxml
from domain.errors import InvalidRequest
from domain.existing.modification import check_can_update, field_changes, is_as_read, modification, not_compared
from domain.existing.queries import Write, fields_of
from domain.existing.values import is_same_value
from domain.qbxml.request.from_xml import parse_request_xml
from domain.qbxml.schema.content_models import request_model
from domain.qbxml.schema.facts import particles_of, request_names, returned_type
from domain.qbxml.xml.parser import parse_tree
from domain.records.lookup import FieldChange

if TYPE_CHECKING:
    from domain.qbxml.schema.content_models import ContentModel, ElementRule

VERSION = "16.0"
TEXTS = {
    "AMTTYPE": ("10", "10.00"),
    "PRICETYPE": ("2.5", "2.50"),
    "QUANTYPE": ("3", "3.0"),
    "PERCENTTYPE": ("5", "5.00"),
    "FLOATTYPE": ("1", "1.0"),
    "INTTYPE": ("7", "07"),
    "BOOLTYPE": ("true", "1"),
    "DATETYPE": ("2026-01-02", " 2026-01-02 "),
}
"""A value of each type in two forms. Those of other types have one."""


def addition(content: str, name: str = "Customer", version: str = VERSION) -> qbxml.Request:
    """Return an addition with these fields."""
    return qbxml.Request(
        version, "stopOnError", parse_tree(f"<{name}AddRq><{name}Add>{content}</{name}Add></{name}AddRq>")
    )


def row(content: str, name: str = "Customer") -> Element:
    """Return an object as QuickBooks returns it."""
    return parse_tree(f"<{name}Ret><ListID>80-1</ListID><EditSequence>5</EditSequence>{content}</{name}Ret>")


def text_of(found: qbxml.Request | None) -> str | None:
    """Return the fields of a Mod behind its keys."""
    if found is None:
        return None
    return "".join(tostring(field, encoding="unicode") for field in Write.of(found).content[2:])


# --- Every type, with random fields


def updatable() -> list[str]:
    """Return the types that an update accepts."""
    names = [name.removesuffix("AddRq") for name in sorted(request_names()) if name.endswith("AddRq")]
    return [name for name in names if _is_accepted(name)]


def _is_accepted(name: str) -> bool:
    write = Write("Add", name, Element("none"), VERSION)
    try:
        check_can_update(addition("", name))
    except InvalidRequest:
        return False
    return {"FullName", "ListID"} <= set(fields_of(write))


class Fields:
    """Random fields of a type, as an addition has them and as QuickBooks returns them."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        self.number = 0

    def of(self, content: ContentModel, into: Element) -> Element:
        """Add random elements of a content model, in schema order."""
        self._add(content.group, content, into)
        return into

    def _add(self, particle: Any, content: ContentModel, into: Element) -> None:
        if isinstance(particle, list):
            rule = content.rules[particle[0]]
            if rule.min_occurs or self.draw.random() < 0.4:
                self._add_element(rule, into)
        elif "choice" in particle:
            self._add(self.draw.choice(particles_of(particle)), content, into)
        else:
            for part in particles_of(particle):
                self._add(part, content, into)

    def _add_element(self, rule: ElementRule, into: Element) -> None:
        element = SubElement(into, rule.name)
        if rule.name.endswith("Ref"):
            self.number += 1
            name = self.draw.choice(["ListID", "FullName"])
            SubElement(element, name).text = f"80-{self.number}" if name == "ListID" else f"N{self.number}"
        elif rule.content:
            self.of(rule.content, element)
        elif rule.value_type:
            element.text = self._value(rule)

    def _value(self, rule: ElementRule) -> str:
        if rule.value_type and rule.value_type.values:
            return self.draw.choice(rule.value_type.values)
        self.number += 1
        text = TEXTS.get(returned_type(rule.name) or "", (f"t{self.number}",))[0]
        return text[: rule.max_length]


def returned(sent: Element) -> Element:
    """Return a field as QuickBooks returns it: with the id and name of references, and values in another form."""
    result = Element(sent.tag)
    if sent.tag.endswith("Ref"):
        SubElement(result, "ListID").text = sent.findtext("ListID") or "80-99"
        SubElement(result, "FullName").text = (sent.findtext("FullName") or "Any").upper()
    elif len(sent):
        result.extend(map(returned, sent))
    else:
        result.text = TEXTS.get(returned_type(sent.tag) or "", (sent.text,))[-1]
    return result


def changed(before: Element, mod: qbxml.Request) -> Element:
    """Return an object after QuickBooks has executed a Mod: each field of the Mod replaces that of the object."""
    fields = {field.tag.removesuffix("Mod"): field for field in Write.of(mod).content[2:]}
    after = Element(before.tag)
    after.extend(field for field in before if field.tag not in fields)
    for name, field in fields.items():
        replaced = SubElement(after, name)
        replaced.text = field.text
        replaced.extend(field)
    return after


def leaves(element: Element, above: str = "") -> set[str]:
    """Return the paths of the values of an object, without references, of which one part is enough."""
    if not len(element):
        return {above[:-1]}
    parts = [part for part in element if not part.tag.endswith("Ref")]
    return set().union(*(leaves(part, f"{above}{part.tag}/") for part in parts))


def differs(path: str, before: Element, after: Element) -> bool:
    """Whether a Mod has changed a value."""
    return not is_same_value(path.rsplit("/", 1)[-1], before.findtext(path, ""), after.findtext(path, ""))


@pytest.mark.parametrize("name", updatable())
def test_each_mod_matches_the_schema_and_a_second_one_is_never_needed(name: str) -> None:
    rule = request_model(f"{name}AddRq").content.rules[f"{name}Add"]  # type: ignore[union-attr]
    assert rule.content is not None
    for seed in range(6):
        element = Element(f"{name}AddRq")
        fields = Fields(seed)
        content = fields.of(rule.content, SubElement(element, f"{name}Add"))
        request = qbxml.Request(VERSION, "stopOnError", element)
        others = set(not_compared(request))

        same = row("", name)
        same.extend(returned(field) for field in content if field.tag not in others)
        assert modification(request, same) is None

        different = row("", name)
        different.extend(returned(field) for field in fields.of(rule.content, Element("other")))
        if mod := modification(request, different):
            parse_request_xml(mod.to_wire())
            assert not {field.tag.removesuffix("Mod") for field in Write.of(mod).content} & {
                *others,
                "Name",
                "ParentRef",
            }
            assert is_as_read(mod, different)
            after = changed(different, mod)
            assert modification(request, after) is None
            shown = {change.field: change for change in field_changes(mod, different)}
            assert all(
                (one.old, one.new) == (different.findtext(path), after.findtext(path, ""))
                for path, one in shown.items()
            )
            assert {path for path in leaves(different) | leaves(after) if differs(path, different, after)} <= {*shown}
            assert not field_changes(mod, after)
            assert mod.to_xml() == (modification(request, different) or mod).to_xml()


def test_the_types_that_can_be_updated_are_lists_with_a_mod() -> None:
    assert {"Customer", "Vendor", "ItemService", "Account", "Class"} <= set(updatable())
    assert not {"Invoice", "CustomerType", "StandardTerms"} & set(updatable())


# --- What is compared, and what is sent

TERMS = "<TermsRef><ListID>1-1</ListID><FullName>Net 30</FullName></TermsRef>"


@pytest.mark.parametrize(
    ("sent", "there"),
    [
        ("<Phone>1</Phone>", "<Phone>1</Phone><Notes>By hand</Notes>"),
        ("<Phone/>", ""),
        ("<TermsRef><FullName>net 30</FullName></TermsRef>", TERMS),
        ("<TermsRef><ListID>1-1</ListID></TermsRef>", TERMS),
        ("<CreditLimit>10</CreditLimit>", "<CreditLimit>10.00</CreditLimit>"),
        ("<IsActive>1</IsActive>", "<IsActive>true</IsActive>"),
        (
            "<BillAddress><City>Bonn</City></BillAddress>",
            "<BillAddress><Addr1>Street</Addr1><City>Bonn</City></BillAddress>",
        ),
        ("<Name>ADA</Name><OpenBalance>5.00</OpenBalance>", "<Name>Ada</Name>"),
    ],
)
def test_nothing_is_sent_if_the_object_has_the_values(sent: str, there: str) -> None:
    assert modification(addition(sent), row(there)) is None


@pytest.mark.parametrize(
    ("sent", "there", "mod"),
    [
        ("<Phone>2</Phone><Fax>3</Fax>", "<Phone>1</Phone><Fax>3</Fax>", "<Phone>2</Phone>"),
        ("<Phone>2</Phone>", "", "<Phone>2</Phone>"),
        ("<Phone/>", "<Phone>1</Phone>", "<Phone />"),
        (
            "<TermsRef><FullName>Net 10</FullName></TermsRef>",
            TERMS,
            "<TermsRef><FullName>Net 10</FullName></TermsRef>",
        ),
        (
            "<BillAddress><City>Bonn</City></BillAddress>",
            "<BillAddress><Addr1>Street</Addr1><City>Ulm</City></BillAddress>",
            "<BillAddress><Addr1>Street</Addr1><City>Bonn</City></BillAddress>",
        ),
    ],
)
def test_what_differs_is_sent_and_the_parts_of_a_field_together(sent: str, there: str, mod: str) -> None:
    assert text_of(modification(addition(sent), row(there))) == mod


@pytest.mark.parametrize(
    ("sent", "there", "shown"),
    [
        ("<Phone>2</Phone><CreditLimit>10</CreditLimit>", "<CreditLimit>10.00</CreditLimit>", [("Phone", None, "2")]),
        ("<Phone/>", "<Phone>1</Phone>", [("Phone", "1", "")]),
        ("<TermsRef><FullName>Net 10</FullName></TermsRef>", TERMS, [("TermsRef/FullName", "Net 30", "Net 10")]),
        (
            "<BillAddress><City>Bonn</City></BillAddress>",
            "<BillAddress><Addr1>Street</Addr1><City>Ulm</City></BillAddress>",
            [("BillAddress/City", "Ulm", "Bonn")],
        ),
    ],
)
def test_a_mod_is_shown_as_the_values_that_it_changes(
    sent: str, there: str, shown: list[tuple[str, str | None, str]]
) -> None:
    books = row(there)
    mod = modification(addition(sent), books)
    assert mod
    assert field_changes(mod, books) == tuple(FieldChange(*one) for one in shown)


def test_a_part_that_the_addition_replaces_by_another_one_is_not_sent_back() -> None:
    sent = addition("<SalesOrPurchase><Price>2</Price></SalesOrPurchase>", "ItemService")
    there = row(
        "<SalesOrPurchase><Desc>Work</Desc><PricePercent>5</PricePercent><AccountRef><ListID>1-1</ListID><FullName>Sales"
        "</FullName></AccountRef></SalesOrPurchase>",
        "ItemService",
    )

    assert text_of(modification(sent, there)) == (
        "<SalesOrPurchaseMod><Desc>Work</Desc><Price>2</Price><AccountRef><ListID>1-1</ListID></AccountRef>"
        "</SalesOrPurchaseMod>"
    )


def test_fields_that_quickbooks_does_not_return_or_masks_or_adds_to_are_not_compared() -> None:
    card = "<CreditCardInfo><CreditCardNumber>4111111111111111</CreditCardNumber></CreditCardInfo>"
    sent = addition(f"<Name>Ada</Name><Phone>1</Phone><OpenBalance>5.00</OpenBalance>{card}")
    lines = addition("<Name>Set</Name><ItemGroupLine/><ItemGroupLine/>", "ItemGroup")

    assert not_compared(sent) == ["OpenBalance", "CreditCardInfo"]
    assert not_compared(lines) == ["ItemGroupLine"]
    there = row(
        "<Phone>2</Phone><CreditCardInfo><CreditCardNumber>************1111</CreditCardNumber></CreditCardInfo>"
    )
    assert text_of(modification(sent, there)) == "<Phone>1</Phone>"


def test_a_field_that_is_newer_than_the_version_of_the_addition_is_not_compared() -> None:
    assert not_compared(addition("<Phone>1</Phone><Cc>a@example.com</Cc>", version="6.0")) == ["Cc"]
    assert not_compared(addition("<Phone>1</Phone><Cc>a@example.com</Cc>", version="16.0")) == []
