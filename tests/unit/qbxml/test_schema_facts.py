"""The schema facts are complete and well formed."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from domain.qbxml.schema import facts
from tests.support.cases import for_each

if TYPE_CHECKING:
    from collections.abc import Iterator

BASE_TYPES = {
    "AMTTYPE",
    "BOOLTYPE",
    "DATETIMETYPE",
    "DATETYPE",
    "FLOATTYPE",
    "GUIDTYPE",
    "IDTYPE",
    "INTTYPE",
    "MACROTYPE",
    "PERCENTTYPE",
    "PRICETYPE",
    "QUANTYPE",
    "STRTYPE",
    "TIMEINTERVALTYPE",
}


def elements(group: dict[str, Any]) -> Iterator[list[Any]]:
    for particle in facts.particles_of(group):
        if isinstance(particle, dict):
            yield from elements(particle)
        else:
            yield particle


def test_every_request_of_the_message_set_is_present() -> None:
    assert len(facts.request_names()) == 232


@for_each("name", sorted(facts.request_names()))
def test_a_request_type_is_complete_in_its_own_file(name: str) -> None:
    request = facts.request_facts(name)
    assert request is not None
    groups = [request["content"], *(kind for kind in request["types"] if isinstance(kind, dict))]
    for group in groups:
        names = Counter(element[0] for element in elements(group))
        assert set(names.values()) <= {1}
        for _, times, kind, *more in elements(group):
            assert times in {"1", "?", "*", "+"} or times.startswith("0..")
            assert kind in BASE_TYPES or request["types"][kind]
            assert not more or set(more[0]) <= {
                "since",
                "length",
                "length_abroad",
                "least",
                "most",
                "added",
                "default",
                "attributes",
            }


def test_46_requests_support_iterators() -> None:
    iterating = [
        name for name in facts.request_names() if "iterator" in (facts.request_facts(name) or {})["attributes"]
    ]

    assert len(iterating) == 46


def test_an_unknown_request_type_has_no_facts() -> None:
    assert facts.request_facts("NewQueryRq") is None
    assert facts.response_facts("NewQueryRs") == {}
    assert facts.response_facts("CustomerQueryRq") == {}
    assert facts.response_facts("CustomerQuery") == {}
    assert facts.response_facts("x" * 5000 + "Rs") == {}


def test_return_elements_are_the_children_of_the_returned_object() -> None:
    returned = facts.return_elements("CustomerQueryRq")

    assert list(returned) == ["CustomerRet"]
    assert list(returned["CustomerRet"])[:3] == ["ListID", "TimeCreated", "TimeModified"]
    assert (returned["CustomerRet"]["ListID"], returned["CustomerRet"]["DataExtRet"]) == ("1.0", "2.0")
