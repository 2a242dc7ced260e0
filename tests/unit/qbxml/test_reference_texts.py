"""The texts and samples of the QBXML reference in the console."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from domain import qbxml
from domain.qbxml.schema import facts
from tests.support.cases import for_each

if TYPE_CHECKING:
    from collections.abc import Iterator

REFERENCE = Path(__file__).parents[3] / "src" / "console" / "reference"
MESSAGES: dict[str, str] = json.loads((REFERENCE / "messages.json").read_text(encoding="utf-8"))
FIELDS = json.loads((REFERENCE / "fields.json").read_text(encoding="utf-8"))
SAMPLES: dict[str, Any] = json.loads((REFERENCE / "samples.json").read_text(encoding="utf-8"))
ATTRIBUTES = {
    *("requestID", "iterator", "iteratorID", "iteratorRemainingCount"),
    *("metaData", "defMacro", "useMacro"),
}

MAX_CHARACTERS = 220


def requested(group: Any) -> Iterator[tuple[str, Any]]:
    """Yield the names of the elements of a group, each with its type."""
    for particle in facts.particles_of(group):
        if isinstance(particle, list):
            yield particle[0], particle[2]
        else:
            yield from requested(particle)


def returned(value: facts.Returned, parent: str) -> Iterator[tuple[str, str]]:
    """Yield parent and name of each element of a response."""
    if isinstance(value, list):
        (value,) = value
    for name, inside in value.items() if isinstance(value, dict) else ():
        yield parent, name
        yield from returned(inside, name)


def places_of(name: str) -> Iterator[tuple[str, str]]:
    """Yield parent and name of each element of a request and its response."""
    request = facts.request_facts(name)
    assert request is not None

    def below(group: Any, parent: str) -> Iterator[tuple[str, str]]:
        for element, kind in requested(group):
            yield parent, element
            entry = request["types"][kind] if isinstance(kind, int) else None
            if isinstance(entry, dict):
                yield from below(entry, element)

    response = f"{name.removesuffix('Rq')}Rs"
    yield from below(request["content"], name)
    yield from returned(facts.response_facts(response), response)


PLACES = {name: list(places_of(name)) for name in sorted(facts.request_names())}
ELEMENTS = [element for places in PLACES.values() for _, element in places]


def has_text(element: str) -> bool:
    return element in FIELDS["texts"] or any(element.endswith(ending) for ending, _ in FIELDS["endings"])


def test_every_message_of_the_schema_has_a_text() -> None:
    assert MESSAGES.keys() == facts.request_names()
    assert len(set(MESSAGES.values())) == len(MESSAGES)


@pytest.mark.parametrize("texts", [MESSAGES, FIELDS["texts"], dict(FIELDS["endings"])])
def test_a_text_is_one_or_a_few_short_sentences(texts: dict[str, str]) -> None:
    for name, text in texts.items():
        assert text.endswith("."), name
        assert text[0].isupper() or text[0].isdigit(), name
        assert len(text) <= MAX_CHARACTERS, name
        assert text.isascii(), name


def test_every_text_is_about_an_element_or_an_attribute_of_the_schema() -> None:
    assert set(FIELDS["texts"]) - set(ELEMENTS) == ATTRIBUTES
    for ending, _ in FIELDS["endings"]:
        assert any(element.endswith(ending) for element in ELEMENTS), ending


def test_nearly_every_element_has_a_text() -> None:
    """An element counts at each of its places. The rest are elements of single messages, most of them preferences."""
    own = sum(element in FIELDS["texts"] for element in ELEMENTS)
    with_text = sum(map(has_text, ELEMENTS))

    assert own / len(ELEMENTS) > 0.95
    assert with_text / len(ELEMENTS) > 0.99
    assert len(set(ELEMENTS) & FIELDS["texts"].keys()) > 550


@pytest.mark.parametrize("name", ["ListID", "TxnID", "EditSequence", "RefNumber", "TxnDate", "OwnerID", "MaxReturned"])
def test_a_shared_name_has_a_text_of_its_own(name: str) -> None:
    assert name in FIELDS["texts"]


@for_each("name", SAMPLES)
def test_a_sample_is_valid_against_the_schema_of_the_service(name: str) -> None:
    request = qbxml.parse_request_json({name: SAMPLES[name]})

    assert request.element.tag == name


def test_a_sample_changes_books_only_if_its_request_does() -> None:
    assert len(SAMPLES) >= 40
    assert {"CustomerAddRq", "InvoiceAddRq", "InvoiceModRq", "ReceivePaymentAddRq", "TxnVoidRq"} <= SAMPLES.keys()


def test_every_place_that_an_edition_lacks_is_in_the_schema() -> None:
    path = Path(facts.__file__).with_name("data") / "missing_in_editions.json"
    missing = json.loads(path.read_text(encoding="ascii"))
    places = {f"{parent}/{element}" for of_message in PLACES.values() for parent, element in of_message}

    assert missing["messages"].keys() <= facts.request_names()
    assert missing["messages"]["WorkersCompCodeAddRq"] == "CA UK"
    assert "CustomerAdd/SalesTaxCountry" in missing["elements"]["US"]
    for editions, listed in missing["elements"].items():
        assert set(editions.split()) <= {"US", "CA", "UK", "AU"}
        assert set(listed) <= places
