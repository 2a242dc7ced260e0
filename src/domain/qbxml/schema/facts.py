"""The facts of QBXML's schema, read from the data files beside this module, each only when it is wanted.

`schema/requests/<name>.json` holds one request type:
`{"since", "attributes": {name: kind}, "content": group, "types": [kind…]}`.

* A group is `{"sequence" | "choice": [particle…], "times"}`; a particle is a group or an element
  `[name, times, kind, facts]`. `times` is `1` (also when it is missing), `?`, `*`, `+` or `0..8`.
* A kind is the name of a base type (`AMTTYPE`) or the number of an entry in `types`: an array is an
  enumeration, an object the group of an element's children.
* `facts` may hold `since` (QBXML version), `length` (characters; `length_abroad` where an edition outside
  the US allows more), `least` and `most` (numbers), `default` (what an empty text means), `added`
  (values of an enumeration that came later, with their version) and `attributes`.
* Within one content model every name stands once.

`schema/responses/<name>.json` holds what a response element returns, in order: `{name: value}` with
0 for text, 1 for a boolean, an object for children, each in an array of one if it can repeat.

`schema/index.json` lists the request types. `tools/qbxml_schema` writes all of them.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_SCHEMA = Path(__file__).with_name("data")

Returned: TypeAlias = Any
"""0, 1, an object of these, or an array with one of these."""


@cache
def request_names() -> frozenset[str]:
    """Return the names of all request types."""
    return frozenset(_load("index.json"))


def request_facts(name: str) -> Mapping[str, Any] | None:
    """Return the facts of a request type; None when the schema does not know it."""
    return _request(name) if name in request_names() else None


def response_facts(name: str) -> Mapping[str, Returned]:
    """Return what a response element holds; nothing when the schema does not know it."""
    is_known = name.endswith("Rs") and f"{name.removesuffix('Rs')}Rq" in request_names()
    return _response(name) if is_known else {}


@cache
def _request(name: str) -> Mapping[str, Any]:
    facts: Mapping[str, Any] = _load(f"requests/{name}.json")
    return facts


@cache
def _response(name: str) -> Mapping[str, Returned]:
    facts: Mapping[str, Returned] = _load(f"responses/{name}.json")
    return facts


def return_elements(request_name: str) -> Mapping[str, Sequence[str]]:
    """Return the elements that each kind of object in a request's answer can have, in order.

    They are what `IncludeRetElement` may name.
    """
    returned = response_facts(f"{request_name.removesuffix('Rq')}Rs")
    return {name: tuple(children_of(value)) for name, value in returned.items()}


def children_of(value: Returned) -> Mapping[str, Returned]:
    """Return the children in an entry of the response facts; none for text."""
    if isinstance(value, list):
        value = value[0]
    return value if isinstance(value, dict) else {}


def particles_of(group: Mapping[str, Any]) -> Sequence[Any]:
    """Return the particles of a group."""
    particles: Sequence[Any] = group["choice"] if "choice" in group else group["sequence"]
    return particles


def _load(name: str) -> Any:
    return json.loads((_SCHEMA / name).read_bytes())
