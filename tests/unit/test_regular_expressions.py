"""Every regular expression of the deployed code takes time in proportion to its input.

Each one reads texts that repeat characters from its own pattern and end with a character that it does not expect.
"""

from __future__ import annotations

import importlib
import re
import time
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from domain.qbxml.schema.value_types import BASE_TYPES
from tests.support.cases import for_each

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SOURCE = Path(__file__).parents[2] / "src"
TEXT_LENGTH = 1_000
FACTOR = 8
MAX_GROWTH = 24
"""A quadratic match takes 64 times as long for a text that is eight times as long."""
NOTICEABLE_SECONDS = 0.002
"""A match of `FACTOR * TEXT_LENGTH` characters that is faster than this is not quadratic."""


Match: TypeAlias = "Callable[[str], object]"


def matching(value: object) -> tuple[str, Match] | None:
    """Return the pattern and the match of a compiled expression or of one of its bound methods."""
    expression = value if isinstance(value, re.Pattern) else getattr(value, "__self__", None)
    if not isinstance(expression, re.Pattern):
        return None
    name = getattr(value, "__name__", "search")
    expression = (
        re.compile(expression.pattern, expression.flags)
        if isinstance(expression.pattern, str)
        else re.compile(expression.pattern.decode("latin-1"))
    )
    return expression.pattern, getattr(expression, name if name in {"match", "fullmatch"} else "search")


def expressions() -> dict[str, tuple[str, Match]]:
    """Return the expressions of all modules by their names."""
    found = {f"value type {name}": matching(base_type.accepts) for name, base_type in BASE_TYPES.items()}
    for path in sorted(SOURCE.rglob("*.py")):
        module = ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")
        members = vars(importlib.import_module(module))
        found |= {f"{module}.{name}": matching(value) for name, value in members.items()}
    return {name: expression for name, expression in found.items() if expression}


EXPRESSIONS = expressions()


def texts(pattern: str, length: int) -> Iterator[str]:
    """Yield texts that repeat one or two characters which the pattern may match."""
    characters = sorted({*re.sub(r"[^\w\s<>&'\"=:;./#-]|[A-Z]", "", pattern), *"a0 \n<"})[:16]
    for one, other in product(characters, repeat=2):
        repeated = (one + other) * (length // 2)
        yield repeated + "\x01"
        yield pattern[:1] + repeated + "\x01"


def seconds(match: Match, text: str) -> float:
    """Return the processor time of a match."""
    start = time.process_time()
    match(text)
    return time.process_time() - start


def is_linear(pattern: str, match: Match) -> bool:
    """Return whether no text that is `FACTOR` times as long takes over `MAX_GROWTH` times as long."""
    pairs = zip(texts(pattern, TEXT_LENGTH), texts(pattern, TEXT_LENGTH * FACTOR), strict=True)
    for short, long in pairs:
        if seconds(match, long) < NOTICEABLE_SECONDS:
            continue
        fastest_long = min(seconds(match, long) for _ in range(3))
        fastest_short = min(seconds(match, short) for _ in range(3))
        if fastest_long > MAX_GROWTH * max(fastest_short, NOTICEABLE_SECONDS / FACTOR**2):
            return False
    return True


@for_each("name", EXPRESSIONS)
def test_a_regular_expression_takes_linear_time(name: str) -> None:
    assert is_linear(*EXPRESSIONS[name])
