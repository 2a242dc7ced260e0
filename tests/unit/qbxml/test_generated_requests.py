"""Valid requests of every type, generated from the schema facts, are accepted."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest

from domain.qbxml import parse_request_json, parse_request_xml
from domain.qbxml.schema import facts
from tests.support.qbxml_samples import parts_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_TEXTS = {
    "AMTTYPE": "97.50",
    "BOOLTYPE": "true",
    "DATETIMETYPE": "2026-01-31T13:30:00-08:00",
    "DATETYPE": "2026-01-31",
    "FLOATTYPE": "1.25",
    "GUIDTYPE": "0",
    "IDTYPE": "8-1",
    "INTTYPE": "7",
    "MACROTYPE": "TxnID:1",
    "PERCENTTYPE": "8.25",
    "PRICETYPE": "1.5",
    "QUANTYPE": "2",
    "STRTYPE": "Ann",
    "TIMEINTERVALTYPE": "PT8H",
}


class _Generator:
    """Generates JSON requests from the facts of a type, with their children in random order."""

    def __init__(self, name: str, seed: int) -> None:
        request = facts.request_facts(name)
        assert request is not None
        self._types: Sequence[Any] = request["types"]
        self._random = random.Random(seed)
        self.tree = {"version": "14.0", "request": {"name": name, "children": self._children(request["content"])}}

    def _children(self, group: Mapping[str, Any]) -> list[dict[str, Any]]:
        children = list(self._particle(group))
        names = [child["name"] for child in children]
        if len(set(names)) == len(names):
            self._random.shuffle(children)
        return children

    def _particle(self, particle: Any) -> Iterator[dict[str, Any]]:
        if isinstance(particle, list):
            name, times, kind, *more = particle
            for _ in range(self._times(times)):
                yield {"name": name, **self._value(kind, *more)}
            return
        for _ in range(self._times(particle.get("times", "1"))):
            if "choice" in particle:
                yield from self._particle(self._random.choice(particle["choice"]))
            else:
                for part in particle["sequence"]:
                    yield from self._particle(part)

    def _times(self, times: str) -> int:
        least = 0 if times == "*" or times.startswith(("?", "0")) else 1
        return self._random.randint(least, 1 if times in {"1", "?"} else 2)

    def _value(self, kind: Any, limits: Mapping[str, Any] | None = None) -> dict[str, Any]:
        limits = limits or {}
        if isinstance(kind, str):
            return {"text": str(limits.get("least", _TEXTS[kind]))[: limits.get("length")]}
        content = self._types[kind]
        if isinstance(content, dict):
            return {"children": self._children(content)}
        return {"text": self._random.choice(content)}


@pytest.mark.parametrize("name", sorted(facts.request_names()))
def test_a_valid_request_of_any_type_is_accepted_in_any_json_order(name: str) -> None:
    for seed in range(3):
        generated = _Generator(name, seed)

        request = parse_request_json(generated.tree)

        assert parts_of(parse_request_xml(request.to_xml(), "14.0")) == parts_of(request)
