"""References: values of a request that are taken from the response to another request.

In JSON, `{"$from": "c", "path": "CustomerRet/ListID"}` stands in place of a text. A placeholder replaces it while the
request is read and checked. In a stored request, the instruction `<?from 0?>` stands in its place. A text of a user
cannot contain one, because `<` is escaped in texts.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from domain.errors import InvalidRequest, Problem, shortened
from domain.qbxml.request import limits
from domain.qbxml.request.characters import is_storable
from domain.qbxml.request.document import escaped
from domain.qbxml.request.from_xml import stored_request
from domain.qbxml.request.normalization import normalize
from domain.qbxml.request.placeholders import Placeholder
from domain.qbxml.request.problems import quoted
from domain.qbxml.request.schema_check import all_problems, name_problems
from domain.qbxml.response.reader import UnreadableResponse, read_with_repair
from domain.qbxml.schema.facts import response_facts
from domain.qbxml.xml.parser import parse_tree
from domain.suggestions import did_you_mean, letters, similar_names

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from xml.etree.ElementTree import Element

    from domain.qbxml.request.document import Request

FIELD = "request_json"
FROM = "$from"

MAX_REFERENCES = 50
"""The maximum number of references in a request."""

MAX_VALUES_BYTES = 32 * 1024
"""The maximum bytes of the values of a request's references. They are stored with its body, in one item."""

_MAX_PATH = 200
_MAX_LISTED = 6
_MAX_NESTING = 60
"""The maximum depth of JSON in which references are replaced. An element takes two levels of a tree, and a request has
at most 20 levels of elements. Deeper JSON is refused when it is read."""

_step = re.compile(r"([A-Za-z_][A-Za-z0-9_.-]{0,99})(?:\[([1-9][0-9]{0,5})\])?\Z").match
_marks = re.compile(r"<\?from (\d{1,3})\?>")


@dataclass(frozen=True, slots=True)
class Reference:
    """A reference of a request.

    `source` names the other request: as the author wrote it, or by its id once it is queued. `path` is the place of the
    value in the response, below the response element, and `place` the element of this request. `value` is None until
    the other request has ended.
    """

    source: str
    path: str
    place: str = ""
    value: str | None = None

    @property
    def text(self) -> str:
        """The value, or the reference as JSON until there is one."""
        return json.dumps({FROM: self.source, "path": self.path}) if self.value is None else self.value


class BadReference(Exception):
    """A reference has no value, or one that its request cannot have. `code` is that of the request's error."""

    def __init__(self, code: str, message: str, reference: Reference) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.reference = reference


class _Step(NamedTuple):
    """One step of a path. `number` counts from 1 among the elements of this name."""

    name: str
    number: int | None


def without_references(tree: object) -> tuple[object, list[Reference]]:
    """Return a request in JSON with placeholders in place of its references, and the references by number.

    Raises InvalidRequest with every reference that is not written correctly.
    """
    references: list[Reference] = []
    problems: list[Problem] = []

    def replaced(value: object, pointer: str, depth: int) -> object:
        if depth > _MAX_NESTING:
            return value
        if isinstance(value, list):
            return [replaced(item, f"{pointer}/{index}", depth + 1) for index, item in enumerate(value)]
        if not isinstance(value, dict):
            return value
        if not _is_meant_as_reference(value):
            return {name: replaced(item, f"{pointer}/{name[:100]}", depth + 1) for name, item in value.items()}
        if problem := _form_problem(value):
            problems.append(Problem(FIELD, problem[0], path=pointer, suggestion=problem[1]))
            return ""
        references.append(Reference(value[FROM], value["path"]))
        return Placeholder(f"${len(references) - 1}")

    result = replaced(tree, "", 0)
    if len(references) > MAX_REFERENCES:
        problems.append(Problem(FIELD, f"has {len(references)} references; at most {MAX_REFERENCES} are allowed"))
    if problems:
        raise InvalidRequest(problems)
    return result, references


_NEARLY_FROM = frozenset({"from", "$from", "$ref", "ref", "from_", "@from"})
_index = re.compile(r"\[(\d{1,6}|\*|)\]")
_source_with_path = re.compile(r"([^./]{1,50})[./](.+)").fullmatch

_EXAMPLE = 'Write {"$from": "<ref or id>", "path": "CustomerRet/ListID"}.'


def _is_meant_as_reference(value: Mapping[str, Any]) -> bool:
    """Return whether an object has `$from`, or `path` alone or beside a member with a similar name.

    No element is named `path`.
    """
    has_source = any(name.lower() in _NEARLY_FROM for name in value)
    return FROM in value or ("path" in value and (has_source or len(value) == 1))


def _form_problem(value: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return what is wrong with the form of a reference, and how to write it, or None."""
    nearly = next((name for name in value if name.lower() in _NEARLY_FROM), FROM)
    source, path = value.get(FROM, value.get(nearly)), value.get("path")
    if not isinstance(source, str) or not source:
        message = "$from must be the ref of an earlier request, or the id of one that has ended."
        return message, 'Give that request a ref, such as "ref": "customer", and write {"$from": "customer", …}.'
    if path is None and (match := _source_with_path(source)):
        return "The path of the reference is missing.", _written(match[1], respelled(match[2]))
    how = _written(source, respelled("/".join(map(str, path)) if isinstance(path, list) else path))
    if others := [name for name in value if name not in {FROM, "path"}]:
        return f"A reference has no member {quoted(others[0])}.", how
    if path is None:
        return "The path of the reference is missing.", how
    if not isinstance(path, str) or _steps(path) is None:
        return f"{quoted(str(path))} is not a path, such as CustomerRet/ListID or InvoiceRet[1]/TxnID.", how
    return None


def _written(source: str, path: str | None) -> str:
    """Return how to write a reference. The path is an example if it is not known."""
    written = json.dumps({FROM: source, "path": path or "CustomerRet/ListID"}, ensure_ascii=False)
    return f"Write {shortened(written, _MAX_PATH)}" + ("." if path else ", for example.")


def respelled(path: object) -> str | None:
    """Return a path in which other separators, other ways to count, and a leading `$` or `/` are corrected, or None.

    Other languages write `$.CustomerRet[0].ListID` and `CustomerRet/0/ListID`, and count from 0.
    """
    if not isinstance(path, str) or len(path) > _MAX_PATH:
        return None
    names = [name for name in re.split(r"[./\\]+", _index.sub(r"/\1/", path)) if name not in {"", "$", "*"}]
    counts_from_0 = "0" in names
    steps: list[str] = []
    for name in names:
        if name.isdecimal() and steps and not steps[-1].endswith("]"):
            steps[-1] += f"[{int(name) + counts_from_0}]"
        else:
            steps.append(name)
    corrected = "/".join(steps)
    return corrected if steps and _steps(corrected) is not None else None


def _steps(path: str) -> list[_Step] | None:
    """Return the steps of a path, or None if it is not a path."""
    matches = [_step(part) for part in path.split("/")] if len(path) <= _MAX_PATH else [None]
    return (
        [_Step(match[1], int(match[2]) if match[2] else None) for match in matches if match] if all(matches) else None
    )


def placed(request: Request, references: Sequence[Reference]) -> tuple[Reference, ...]:
    """Return the references with their places in the request.

    Raises InvalidRequest if one of them is not in place of a text.
    """
    places = {
        str(element.text): place
        for element, place in _numbered(request.element)
        if isinstance(element.text, Placeholder)
    }
    if len(places) < len(references):
        message = "has a reference that is not in place of a text, such as in an attribute"
        raise InvalidRequest([Problem(FIELD, message, suggestion=_EXAMPLE)])
    return tuple(replace(reference, place=places[f"${number}"]) for number, reference in enumerate(references))


def with_placeholders(request: Request, references: Sequence[Reference]) -> Request:
    """Return a stored request, with or without the values of its references, with placeholders in their places."""
    elements = {place: element for element, place in _numbered(request.element)}
    for number, reference in enumerate(references):
        elements[reference.place].text = Placeholder(f"${number}")
    return request


def _numbered(root: Element) -> Iterator[tuple[Element, str]]:
    """Yield each element with its path. Names that repeat in their parent are numbered from 1, as in problems."""
    pending = [(root, root.tag)]
    while pending:
        element, path = pending.pop()
        yield element, path
        totals, numbers = Counter(child.tag for child in element), Counter[str]()
        for child in element:
            numbers[child.tag] += 1
            suffix = f"[{numbers[child.tag]}]" if totals[child.tag] > 1 else ""
            pending.append((child, f"{path}/{child.tag}{suffix}"))


def path_problem(path: str, request_name: str) -> tuple[str, str | None] | None:
    """Return what is wrong with a path in the response to a request, with a suggestion, or None.

    The path of a request that is not in the schema is not checked.
    """
    response = f"{request_name.removesuffix('Rq')}Rs"
    facts = response_facts(response)
    problem = _path_problem(path, response, facts) if facts else None
    if problem and (corrected := _corrected(path, response, facts)):
        return problem[0], f"Write {corrected}."
    return problem


def _path_problem(path: str, parent: str, facts: Any) -> tuple[str, str | None] | None:
    for name, number in _steps(path) or ():
        if not isinstance(facts, dict):
            return f"{parent} has no elements.", f"End the path at {parent}."
        if name not in facts:
            listed = ", ".join([*islice(facts, _MAX_LISTED)]) + (", …" if len(facts) > _MAX_LISTED else "")
            return f"{parent} has no element {name}.", did_you_mean(name, facts) or f"It has {listed}."
        facts = facts[name]
        if isinstance(facts, list):
            (facts,) = facts
            if number is None:
                return f"{name} can repeat.", f"Write {name}[1] for the first one."
        elif number not in {None, 1}:
            return f"{name} occurs only once.", f"Write {name}."
        parent = name
    if isinstance(facts, dict):
        return f"{parent} has no text.", f"Name one of its elements, such as {path}/{next(iter(facts))}."
    return None


def _corrected(path: str, response: str, facts: Any) -> str | None:
    """Return a path that exists in a response and is probably meant, or None.

    Names are corrected, the name of the response is left out, and the elements between two names are added if there is
    one way to do so.
    """
    whole, steps = facts, _steps(respelled(path) or "") or []
    written: list[str] = []
    for name, number in steps[1:] if steps and letters(steps[0].name) == letters(response) else steps:
        names = _names_to(name, facts)
        if not names:
            return None
        for inner in names:
            facts = facts[inner]
            repeats = isinstance(facts, list)
            facts = facts[0] if repeats else facts
            written.append(f"{inner}[{(number if inner == names[-1] else None) or 1}]" if repeats else inner)
    corrected = "/".join(written)
    return corrected if written and _path_problem(corrected, response, whole) is None else None


def _names_to(name: str, facts: Any) -> Sequence[str]:
    """Return the names of the elements that lead to the one that `name` means, or nothing if that is not clear."""
    if not isinstance(facts, dict):
        return ()
    if similar := similar_names(name, facts):
        return similar[:1]
    inside = [outer for outer, value in facts.items() if letters(name) in map(letters, _children(value))]
    inside = [outer for outer in inside if outer.endswith("Ret")] or inside
    return [*inside, *similar_names(name, _children(facts[inside[0]]))[:1]] if len(inside) == 1 else ()


def _children(value: Any) -> Mapping[str, Any]:
    value = value[0] if isinstance(value, list) else value
    return value if isinstance(value, dict) else {}


class ResponseValues:
    """The values in a response, by their paths. The response is read once, when the first value is needed."""

    def __init__(self, response_xml: str) -> None:
        self._response_xml = response_xml
        self._children: dict[Element, Mapping[str, Sequence[Element]]] = {}

    def at(self, path: str) -> str | None:
        """Return the text at a path below the response element, or None if there is none."""
        element = self._response
        for name, number in _steps(path) or ():
            found = () if element is None else self._children_of(element).get(name, ())
            element = found[(number or 1) - 1] if len(found) >= (number or 1) else None
        return None if element is None or len(element) else element.text

    @cached_property
    def _response(self) -> Element | None:
        try:
            message_sets = read_with_repair(parse_tree, self._response_xml)
        except UnreadableResponse:
            return None
        return next((child for message_set in message_sets for child in message_set), None)

    def _children_of(self, element: Element) -> Mapping[str, Sequence[Element]]:
        """Return the children of an element by their names. An element that was asked for is not walked again."""
        if element not in self._children:
            children: dict[str, list[Element]] = {}
            for child in element:
                children.setdefault(child.tag, []).append(child)
            self._children[element] = children
        return self._children[element]


def resolved(references: Sequence[Reference], source: str, response: ResponseValues) -> tuple[Reference, ...]:
    """Return the references with the values of those that name `source`, which has this response.

    Raises BadReference if the response has no such value.
    """
    result = []
    for reference in references:
        if reference.source == source:
            value = response.at(reference.path)
            if not value:
                message = f"The response to {source} has no value at {reference.path}."
                raise BadReference("reference_unresolved", message, reference)
            reference = replace(reference, value=value)  # noqa: PLW2901 - the same reference, with its value
        result.append(reference)
    return tuple(result)


def fitted(request_xml: str, version: str, references: Sequence[Reference]) -> tuple[Reference, ...]:
    """Return the references with values in the notation of their places in the request.

    Raises BadReference if a value cannot stand in its place. `request_xml` is the request with or without the values.
    """
    request = stored_request(request_xml, version)
    elements = {place: element for element, place in _numbered(request.element)}
    with_value = [reference for reference in references if reference.value is not None]
    for reference in with_value:
        elements[reference.place].text = reference.value
    normalize(request.element)
    problems = {problem.path: problem.message for problem in _problems(request)}
    for reference in with_value:
        value, message = reference.value or "", problems.get(reference.place)
        if message is None and not (is_storable(value) and not limits.find_bad_character(value)):
            message = "QuickBooks cannot store all its characters."
        if message is not None:
            text = f"The value at {reference.path} in the response to {reference.source} does not fit. {message}"
            raise BadReference("reference_invalid", text, reference)
    result = tuple(
        replace(reference, value=elements[reference.place].text) if reference.value is not None else reference
        for reference in references
    )
    if sum(len((reference.value or "").encode()) for reference in result) > MAX_VALUES_BYTES:
        message = f"The values of this request's references have more than {MAX_VALUES_BYTES:,} bytes together."
        raise BadReference("reference_invalid", message, with_value[-1])
    return result


def _problems(request: Request) -> list[Problem]:
    if not limits.version_exists(request.version) or limits.edition_of(request.version):
        return []
    # The country of QuickBooks is not known here, so the greater lengths are allowed.
    return [*all_problems(request, outside_us=True), *name_problems(request)]


def filled(request_xml: str, references: Sequence[Reference]) -> str:
    """Return a stored request with the values of its references, and with the references that have none as JSON."""
    if not references:
        return request_xml
    return _marks.sub(lambda mark: escaped(references[int(mark[1])].text), request_xml)
