"""Random fields of requests, as Python values, that the schema allows."""

from __future__ import annotations

import json
import string
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import generate

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator, Mapping, Sequence

VALUES: dict[str, Any] = {
    "AMTTYPE": lambda chance: Decimal(chance.randint(-99999, 99999)) / 100,
    "PRICETYPE": lambda chance: Decimal(chance.randint(0, 99999)) / 100,
    "QUANTYPE": lambda chance: chance.choice([chance.randint(1, 99), Decimal("2.5")]),
    "PERCENTTYPE": lambda chance: Decimal(chance.randint(0, 1000)) / 10,
    "FLOATTYPE": lambda chance: Decimal(chance.randint(1, 99)) / 10,
    "INTTYPE": lambda chance: chance.randint(1, 9),
    "BOOLTYPE": lambda chance: chance.random() < 0.5,
    "DATETYPE": lambda chance: date(2026, 1, 1) + timedelta(days=chance.randint(0, 300)),
    "DATETIMETYPE": lambda chance: datetime(2026, 1, 1) + timedelta(minutes=chance.randint(0, 9999)),  # noqa: DTZ001
    "TIMEINTERVALTYPE": lambda chance: timedelta(minutes=chance.randint(1, 999)),
    "IDTYPE": lambda chance: f"8000{chance.randint(10, 99)}-{chance.randint(1000, 9999)}",
    "GUIDTYPE": lambda _chance: "0",
}


def facts_of(request: str) -> Mapping[str, Any]:
    """Return the facts of the schema about a request."""
    facts: Mapping[str, Any] = json.loads((generate.FACTS / "requests" / f"{request}.json").read_bytes())
    return facts


def random_fields(request: str, chance: random.Random, share: float = 0.5) -> dict[str, Any]:
    """Return fields of the object in an addition or a Mod: the required ones, and a share of the others."""
    facts = facts_of(request)
    [subject, *_] = facts["content"]["sequence"]
    return dict(_members(facts["types"][subject[2]], facts["types"], chance, share))


def random_content(request: str, chance: random.Random, share: float) -> dict[str, Any]:
    """Return the elements of a request itself: the required ones, and a share of the others."""
    facts = facts_of(request)
    return dict(_members(facts["content"], facts["types"], chance, share))


def _members(
    group: Mapping[str, Any], types: Sequence[Any], chance: random.Random, share: float
) -> Iterator[tuple[str, Any]]:
    particles = group.get("sequence") or [chance.choice(group["choice"])]
    for particle in particles:
        times = particle[1] if isinstance(particle, list) else particle.get("times", "1")
        least, most = generate.bounds(times)
        if not least and chance.random() >= share:
            continue
        if not isinstance(particle, list):
            yield from _members(particle, types, chance, share)
            continue
        name, _, key, *rest = particle
        value = _value(key, types, chance, share, rest[0] if rest else {})
        if value == {}:
            value = _value(key, types, chance, 1, rest[0] if rest else {})
        yield name, value if most == 1 else [value]


def _value(key: Any, types: Sequence[Any], chance: random.Random, share: float, facts: Mapping[str, Any]) -> Any:
    kind = types[key] if isinstance(key, int) else key
    if isinstance(kind, dict):
        return dict(_members(kind, types, chance, share))
    if isinstance(kind, list):
        return chance.choice(kind)
    if kind in VALUES:
        least, most = facts.get("least"), facts.get("most")
        return VALUES[kind](chance) if least is None and most is None else int(least if least is not None else most)
    length = min(facts.get("length", 20), facts.get("length_abroad", 20), 20)
    return "".join(chance.choice(string.ascii_letters) for _ in range(max(1, chance.randint(1, length))))
