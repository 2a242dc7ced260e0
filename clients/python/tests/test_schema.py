"""The generated types have every request, response, element and record of the service."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import generate
import pytest
import qbxml_queue
from qbxml_queue.schema import facts, records, requests, responses

if TYPE_CHECKING:
    from collections.abc import Iterator

NAMES = json.loads((generate.FACTS / "index.json").read_bytes())
SCHEMAS = json.loads(generate.OPENAPI.read_bytes())["components"]["schemas"]


def members_of(module: Any, name: str) -> dict[str, str]:
    """Return the members of a TypedDict and their types as text."""
    kind = getattr(module, name)
    return {member: getattr(value, "__forward_arg__", value) for member, value in kind.__annotations__.items()}


def structure_in(text: str) -> str | None:
    """Return the name of the structure in a type: `Sequence[q.InvoiceLineAdd]` has `InvoiceLineAdd`."""
    found = re.search(r"\b[qr]\.(\w+)", text)
    return found[1] if found else None


def elements_of(group: Any, types: Any) -> Iterator[tuple[str, Any]]:
    """Yield each element of a content model, and the model of its children if it has any."""
    for particle in group.get("choice") or group.get("sequence") or ():
        if isinstance(particle, dict):
            yield from elements_of(particle, types)
        else:
            entry = types[particle[2]] if isinstance(particle[2], int) else None
            yield particle[0], entry if isinstance(entry, dict) else None


def compare_request(name: str, group: Any, types: Any) -> None:
    members = members_of(requests, name)
    elements = dict(elements_of(group, types))
    assert {member for member in members if not member.startswith("@")} == set(elements)
    for element, children in elements.items():
        inner = structure_in(members[element])
        assert (inner is not None) == (children is not None), f"{name}.{element}"
        if inner is not None:
            compare_request(inner, children, types)


def compare_response(name: str, facts: dict[str, Any]) -> None:
    members = members_of(responses, name)
    assert {member for member in members if not member.startswith("@")} == set(facts)
    for element, value in facts.items():
        assert ("list[" in members[element]) == isinstance(value, list), f"{name}.{element}"
        inner = structure_in(members[element])
        children = value[0] if isinstance(value, list) else value
        if isinstance(children, dict):
            assert inner is not None, f"{name}.{element}"
            compare_response(inner, children)


@pytest.mark.parametrize("name", NAMES)
def test_a_request_and_its_response_have_every_element_of_the_schema(name: str) -> None:
    request = json.loads((generate.FACTS / "requests" / f"{name}.json").read_bytes())
    stem = name.removesuffix("Rq")
    response = json.loads((generate.FACTS / "responses" / f"{stem}Rs.json").read_bytes())

    compare_request(name, request["content"], request["types"])
    compare_response(f"{stem}Rs", response)

    assert {f"@{attribute}" for attribute in request["attributes"]} <= set(members_of(requests, name))
    assert members_of(requests, f"{stem}Request") == {name: name}
    assert set(facts.LISTS.get(name, ())) == {member for member, value in response.items() if isinstance(value, list)}


def test_there_are_232_requests() -> None:
    assert len(NAMES) == 232


@pytest.mark.parametrize("name", sorted(set(SCHEMAS) - {"Error", "ErrorObject"}))
def test_a_record_has_every_field_of_the_api(name: str) -> None:
    properties = SCHEMAS[name].get("properties")
    has_other_members = isinstance(SCHEMAS[name].get("additionalProperties"), dict)

    assert hasattr(records, name)
    if properties is not None and not has_other_members:
        assert set(members_of(records, name)) == set(properties)


def test_limits_and_versions_are_documented() -> None:
    source = Path(requests.__file__).read_text(encoding="utf-8")
    customer = source.partition("class CustomerAdd(")[2].partition("\nclass ")[0]

    assert '    Name: Text\n    """At most 41 characters."""' in customer
    assert '    """At most 50 of them. Since QBXML 12.0."""' in customer
    assert '    """ListID: ' not in customer
    assert '    """FullName: At most 31 characters."""' in customer


def test_the_files_are_those_that_the_sources_generate_now(tmp_path: Path) -> None:
    """The types follow the schema and docs/openapi.json: what was generated before a change is not used after it."""
    generate.main(tmp_path)

    installed = Path(qbxml_queue.__file__).with_name("schema")
    for path in tmp_path.iterdir():
        assert (installed / path.name).read_text(encoding="utf-8") == path.read_text(encoding="utf-8"), path.name
