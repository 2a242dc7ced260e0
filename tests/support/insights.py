"""The queries of CloudWatch Logs Insights that the template has, applied to log lines.

Source: "CloudWatch Logs Insights query syntax" in the CloudWatch Logs guide. A query that this module does not know
fails.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_TERM = re.compile(r"ispresent\((\w+)\)|(\w+) = '([^']*)'|(\w+) = (\d+)|(@?\w+) like /(.+)/")
_FUNCTION = re.compile(r"count\(\*\)|pct\((\w+), \d+\)|bin\(\d+m\)|@timestamp|(\w+)")


@dataclass(frozen=True)
class Query:
    """A query: what it reads, and the commands behind it."""

    source: str
    terms: tuple[tuple[str, ...], ...]
    fields: frozenset[str]
    """The fields that it shows, computes with or groups by."""

    def matches(self, line: Mapping[str, Any]) -> bool:
        """Return whether a line passes the filters."""
        return all(_matches(line, *term) for term in self.terms)


def parsed(text: str) -> Query:
    """Return a query. Raises AssertionError if it has something that this module does not know."""
    source, terms, fields = "", list[tuple[str, ...]](), set[str]()
    for command in (part.strip() for part in text.split("|")):
        name, _, rest = command.partition(" ")
        if name == "SOURCE":
            source = rest.strip("'")
        elif name == "filter":
            terms += [_term(term) for term in rest.split(" and ")]
        elif name in {"stats", "fields"}:
            fields |= _fields(re.split(r", (?!\d)| by ", rest))
        else:
            assert re.fullmatch(r"sort @timestamp (asc|desc)|limit \d+", command), f"{command!r} is not known"
    return Query(source, tuple(terms), frozenset(fields))


def _term(text: str) -> tuple[str, ...]:
    found = _TERM.fullmatch(text.strip())
    assert found, f"{text!r} is not a term that is known"
    present, name, value, number_name, number, like_name, pattern = found.groups()
    if present:
        return present, "ispresent", ""
    if like_name:
        return like_name, "like", pattern
    return name or number_name, "=", value if name else number


def _fields(expressions: Iterable[str]) -> set[str]:
    names = set()
    for expression in expressions:
        found = _FUNCTION.fullmatch(expression.strip().partition(" as ")[0])
        assert found, f"{expression!r} is not known"
        names |= {name for name in found.groups() if name}
    return names


def _matches(line: Mapping[str, Any], name: str, operator: str, operand: str) -> bool:
    if name == "@message":  # the whole line
        return re.search(operand, json.dumps(line)) is not None
    if name not in line:
        return False
    if operator == "like":
        return re.search(operand, str(line[name])) is not None
    return operator == "ispresent" or str(line[name]) == operand
