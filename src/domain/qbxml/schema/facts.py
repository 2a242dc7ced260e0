"""The schema of QBXML as data: one file for each request and response type, read on first use.

`data/requests/<name>.json`: `{"since", "attributes": {name: type}, "content": group, "types": [entry, …]}`

* A group is `{"sequence" | "choice": [particle, …], "times"}`. A particle is a group or an element
  `[name, times, type, facts]`. `times` is `1` (the default), `?`, `*`, `+` or a range such as `0..8`.
* A type is the name of a base type (`AMTTYPE`) or the number of an entry in `types`. An entry is an array with the
  values of an enumeration, or the group of an element's children.
* `facts` may contain `since` (QBXML version), `length` (characters), `length_abroad` (if an edition outside the
  US allows more), `least` and `most` (numbers), `default` (the meaning of an empty text), `added` (values of an
  enumeration that were added later, with their version) and `attributes`.
* A name occurs only once in a content model.

`data/responses/<name>.json`: the children of a response element, in order, as `{name: value}`. A value is 0 for text,
1 for a boolean, or an object with children. It is wrapped in an array if the element can repeat.

`data/returned_since.json`: `{object: {child: version}}` for the children that were added after 1.0 to the objects that
queries return.

`data/returned_types.json`: `{"values": {element: base type}, "attributes": {element: {name: base type}}}`, for the
elements of responses. An element has the same type in all responses. The clients in `clients` are generated from it.

`data/missing_in_editions.json`: `{"messages": {request: editions}, "elements": {editions: [place, …]}}`,
for the reference in the console. Editions are codes such as `CA UK`; a place is `parent/element`.

`data/index.json`: the names of all request types. `tools/qbxml_schema` writes these files.

Checking a request must not load the rules of all others, which are megabytes. The schema's files are not ours to ship,
and lxml is a compiled dependency. Classes for each request would be loaded at each cold start. A request is read
without positions first, and again with line and column only if it has a problem: almost every request is valid.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_DATA = Path(__file__).with_name("data")

Returned: TypeAlias = Any
"""A value in the facts of a response: 0, 1, an object of values, or an array with one value."""


@cache
def request_names() -> frozenset[str]:
    """Return the names of all request types."""
    return frozenset(_load("index.json"))


def request_facts(name: str) -> Mapping[str, Any] | None:
    """Return the facts of a request type, or None if it is not in the schema."""
    return _load(f"requests/{name}.json") if name in request_names() else None


def response_facts(name: str) -> Mapping[str, Returned]:
    """Return the facts of a response element. They are empty if it is not in the schema."""
    exists = name.endswith("Rs") and f"{name.removesuffix('Rs')}Rq" in request_names()
    return _load(f"responses/{name}.json") if exists else {}


def returned_type(name: str) -> str | None:
    """Return the base type of an element of responses, such as `AMTTYPE`, or None if it is not in the schema."""
    kind: str | None = _load("returned_types.json")["values"].get(name)
    return kind


def return_elements(request_name: str) -> Mapping[str, Mapping[str, str]]:
    """Return the children of each kind of object in a response, in order, with the version that added each of them.

    Their names are allowed in `IncludeRetElement`.
    """
    since = _load("returned_since.json")
    return {
        kind: {name: since.get(kind, {}).get(name, "1.0") for name in _children(value)}
        for kind, value in response_facts(f"{request_name.removesuffix('Rq')}Rs").items()
    }


def _children(value: Returned) -> Mapping[str, Returned]:
    if isinstance(value, list):
        (value,) = value
    return value if isinstance(value, dict) else {}


def particles_of(group: Mapping[str, Any]) -> Sequence[Any]:
    """Return the particles of a group."""
    particles: Sequence[Any] = group["choice"] if "choice" in group else group["sequence"]
    return particles


@cache
def _load(name: str) -> Any:
    return json.loads((_DATA / name).read_bytes())
