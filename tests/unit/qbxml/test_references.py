"""References: values of a request that come from the response to another one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain import qbxml
from domain.errors import InvalidRequest
from domain.qbxml.references import MAX_REFERENCES
from domain.qbxml.schema.facts import request_names, response_facts
from tests.support.cases import for_each

if TYPE_CHECKING:
    from collections.abc import Iterator

TEXTS = st.text(st.characters(codec="cp1252", exclude_categories=["Cc"]), min_size=1, max_size=30)
LIST_ID = {"$from": "c", "path": "CustomerRet/ListID"}
PLACE = "CustomerAddRq/CustomerAdd/ParentRef/ListID"


def read(tree: object) -> tuple[qbxml.Request, tuple[qbxml.Reference, ...]]:
    """Return a request and its references."""
    plain, references = qbxml.without_references(tree)
    request = qbxml.parse_request_json(plain)
    return request, qbxml.placed(request, references)


def job(**fields: Any) -> dict[str, Any]:
    """Return a request with a reference."""
    return {"CustomerAddRq": {"CustomerAdd": {"Name": "Job", "ParentRef": {"ListID": LIST_ID}, **fields}}}


def response(content: str) -> str:
    """Return a response to a CustomerAddRq."""
    return f'<QBXML><QBXMLMsgsRs><CustomerAddRs statusCode="0">{content}</CustomerAddRs></QBXMLMsgsRs></QBXML>'


def every_path(facts: Any, path: str = "") -> Iterator[str]:
    """Yield the path of each text in the facts of a response, with a number where an element can repeat."""
    for name, value in facts.items():
        is_array = isinstance(value, list)
        inner = value[0] if is_array else value
        step = f"{path}{name}{'[1]' if is_array else ''}"
        if isinstance(inner, dict):
            yield from every_path(inner, f"{step}/")
        else:
            yield step


@for_each("name", sorted(request_names())[::7])
def test_every_text_of_a_response_can_be_named_and_no_other_path(name: str) -> None:
    paths = list(every_path(response_facts(f"{name.removesuffix('Rq')}Rs")))

    assert [path for path in paths if qbxml.path_problem(path, name)] == []
    for path in paths[:20]:
        assert qbxml.path_problem(f"{path}x", name)
        assert qbxml.path_problem(f"{path}/x", name)
        assert "[1]" not in path or qbxml.path_problem(path.replace("[1]", "", 1), name)


@given(values=st.lists(TEXTS, min_size=3, max_size=3), order=st.permutations(["a", "b"]))
def test_values_arrive_in_any_order_and_users_cannot_write_a_reference(values: list[str], order: list[str]) -> None:
    text, first, second = values
    tree = {
        "CustomerAddRq": {
            "CustomerAdd": {
                "Name": "Ann",
                "JobDesc": text,
                "CompanyName": {"$from": "a", "path": "CustomerRet/Name"},
                "Notes": {"$from": "b", "path": "CustomerRet/Notes"},
            }
        }
    }
    request, references = read(tree)
    stored = request.to_xml()
    by_source = {"a": ("Name", first), "b": ("Notes", second)}

    for source in order:
        element, value = by_source[source]
        escaped = value.replace("&", "&amp;").replace("<", "&lt;")
        answer = response(f"<CustomerRet><{element}>{escaped}</{element}></CustomerRet>")
        references = qbxml.resolved(references, source, qbxml.ResponseValues(answer))
        references = qbxml.fitted(qbxml.filled(stored, references), "13.0", references)

    filled = qbxml.stored_request(qbxml.filled(stored, references), "13.0").element
    assert filled.findtext("CustomerAdd/CompanyName") == first
    assert filled.findtext("CustomerAdd/Notes") == second
    assert filled.findtext("CustomerAdd/JobDesc") == text


@pytest.mark.parametrize("text", ["<?from 0?>", "&lt;?from 0?&gt;", "$0", '{"$from": "c", "path": "x"}'])
def test_a_text_that_resembles_a_reference_stays_a_text(text: str) -> None:
    request, references = read(job(Notes=text))
    values = qbxml.ResponseValues(response("<CustomerRet><ListID>1</ListID></CustomerRet>"))
    (resolved,) = qbxml.resolved(references, "c", values)

    filled = qbxml.stored_request(qbxml.filled(request.to_xml(), [resolved]), "13.0").element

    assert filled.findtext("CustomerAdd/Notes") == text
    assert filled.findtext("CustomerAdd/ParentRef/ListID") == "1"


def test_a_mark_in_xml_is_refused() -> None:
    xml = (
        '<QBXML><QBXMLMsgsRq onError="stopOnError"><CustomerQueryRq><?from 0?></CustomerQueryRq></QBXMLMsgsRq></QBXML>'
    )

    with pytest.raises(InvalidRequest):
        qbxml.parse_request_xml(xml)


def test_a_reference_has_the_path_of_its_element() -> None:
    lines = [{"ItemRef": {"ListID": LIST_ID}}, {"ItemRef": {"ListID": "1"}}, {"ItemRef": {"ListID": LIST_ID}}]
    _, references = read(
        {"InvoiceAddRq": {"InvoiceAdd": {"InvoiceLineAdd": lines, "CustomerRef": {"ListID": LIST_ID}}}}
    )

    base = "InvoiceAddRq/InvoiceAdd"
    assert {reference.place for reference in references} == {
        f"{base}/InvoiceLineAdd[1]/ItemRef/ListID",
        f"{base}/InvoiceLineAdd[3]/ItemRef/ListID",
        f"{base}/CustomerRef/ListID",
    }


@pytest.mark.parametrize(
    ("fields", "content", "expected"),
    [
        ({}, "<Name>x</Name>", None),
        ({"Notes": {"$from": "c", "path": "CustomerRet/IsActive"}}, "<IsActive>true</IsActive>", "true"),
        ({"OpenBalance": {"$from": "c", "path": "CustomerRet/Balance"}}, "<Balance>5.5</Balance>", "5.50"),
        ({"OpenBalance": {"$from": "c", "path": "CustomerRet/Name"}}, "<Name>many</Name>", None),
        ({"JobStatus": {"$from": "c", "path": "CustomerRet/JobStatus"}}, "<JobStatus>Closed</JobStatus>", "Closed"),
        ({"JobStatus": {"$from": "c", "path": "CustomerRet/Name"}}, "<Name>Maybe</Name>", None),
    ],
)
def test_a_value_is_written_in_the_notation_of_its_place_or_refused(
    fields: dict[str, Any], content: str, expected: str | None
) -> None:
    request, references = read(job(**fields))
    text = response(f"<CustomerRet>{'' if not fields else '<ListID>1</ListID>'}{content}</CustomerRet>")

    if expected is None:
        with pytest.raises(qbxml.BadReference):
            _filled(request, references, text)
    else:
        assert f">{expected}</{next(iter(fields))}>" in _filled(request, references, text)


def _filled(request: qbxml.Request, references: tuple[qbxml.Reference, ...], text: str) -> str:
    references = qbxml.resolved(references, "c", qbxml.ResponseValues(text))
    references = qbxml.fitted(qbxml.filled(request.to_xml(), references), request.version, references)
    return qbxml.filled(request.to_xml(), references)


@pytest.mark.parametrize("text", ["", "<QBXML", "<QBXML/>", "<QBXML><QBXMLMsgsRs/></QBXML>", "not xml"])
def test_a_response_that_cannot_be_read_has_no_values(text: str) -> None:
    _, references = read(job())

    with pytest.raises(qbxml.BadReference):
        qbxml.resolved(references, "c", qbxml.ResponseValues(text))


def test_values_that_are_too_long_together_are_refused() -> None:
    names = [{"$from": "c", "path": "CustomerRet/Notes"}] * 10
    request, references = read({"CustomerQueryRq": {"FullName": names}})
    text = response(f"<CustomerRet><Notes>{'x' * 4095}</Notes></CustomerRet>")

    with pytest.raises(qbxml.BadReference):
        _filled(request, references, text)


def test_the_number_of_references_is_limited() -> None:
    with pytest.raises(InvalidRequest, match=f"at most {MAX_REFERENCES}"):
        qbxml.without_references({"CustomerQueryRq": {"FullName": [LIST_ID] * (MAX_REFERENCES + 1)}})


def test_deeply_nested_json_is_left_to_the_reader() -> None:
    tree: Any = LIST_ID
    for _ in range(500):
        tree = {"a": [tree]}

    assert qbxml.without_references(tree)[1] == []


TREES = st.recursive(
    st.text("xyz", max_size=3),
    lambda trees: st.lists(st.tuples(st.sampled_from("ABC"), trees), max_size=5),
    max_leaves=30,
)
PATHS = st.lists(st.tuples(st.sampled_from("ABC"), st.sampled_from([None, 1, 2, 3])), min_size=1, max_size=4)


def xml_of(tree: Any) -> str:
    """Return the content of an element as XML: a text, or elements by their names."""
    return tree if isinstance(tree, str) else "".join(f"<{name}>{xml_of(child)}</{name}>" for name, child in tree)


def text_at(tree: Any, path: list[tuple[str, int | None]]) -> str | None:
    """Return the text of a tree at a path, or None."""
    for name, number in path:
        found = [] if isinstance(tree, str) else [child for child_name, child in tree if child_name == name]
        if len(found) < (number or 1):
            return None
        tree = found[(number or 1) - 1]
    return tree if tree and isinstance(tree, str) else None


@given(tree=TREES, paths=st.lists(PATHS, min_size=1, max_size=10))
def test_each_path_leads_to_its_text_however_many_are_read(
    tree: Any, paths: list[list[tuple[str, int | None]]]
) -> None:
    values = qbxml.ResponseValues(response(xml_of(tree)))

    for path in paths:
        text = "/".join(f"{name}[{number}]" if number else name for name, number in path)
        assert values.at(text) == text_at(tree, path)
