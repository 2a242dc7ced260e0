"""Statements of PartiQL: updates of one item on a condition, in the form that the service writes.

A statement is translated into the parameters of `UpdateItem`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from local.emulated_dynamodb.values import invalid

if TYPE_CHECKING:
    from collections.abc import Mapping

    from local.emulated_dynamodb.values import Value

_UPDATE = re.compile(r'UPDATE "([\w.-]+)"((?: SET "\w+" = \?)+) WHERE (.+)')
_ASSIGNED = re.compile(r'"(\w+)"')
_COMPARISON = re.compile(r'"(\w+)" (?:(=) \?|IS (NOT )?MISSING)')
_JOINED = re.compile(r"(?:[ ()]|AND|OR)*")


@dataclass(frozen=True, slots=True)
class UpdateStatement:
    """An update of one item. `equal` has the values that its condition compares with `=`, by attribute."""

    table: str
    equal: Mapping[str, Value]
    parameters: Mapping[str, Any]
    """The parameters of `UpdateItem`, but for the key."""

    @classmethod
    def of(cls, entry: Mapping[str, Any]) -> UpdateStatement:
        """Return a statement of a batch. Raises a ValidationException for another form."""
        text, values = entry["Statement"], {f":{number}": value for number, value in enumerate(entry["Parameters"])}
        match = _UPDATE.fullmatch(text)
        if match is None or not _JOINED.fullmatch(_COMPARISON.sub("", match[3])) or text.count("?") != len(values):
            raise invalid(f"Statement wasn't well formed or is not supported by the emulation: {text!r}")
        placeholders = iter(values)
        sets = [f"#{name} = {next(placeholders)}" for name in _ASSIGNED.findall(match[2])]
        equal: dict[str, Value] = {}

        def translated(comparison: re.Match[str]) -> str:
            name, equals, negated = comparison.groups()
            if not equals:
                return f"attribute_{'exists' if negated else 'not_exists'}(#{name})"
            placeholder = next(placeholders)
            equal[name] = values[placeholder]
            return f"#{name} = {placeholder}"

        condition = _COMPARISON.sub(translated, match[3])
        names = {f"#{name}": name for name in _ASSIGNED.findall(match[2] + match[3])}
        parameters = {
            "UpdateExpression": "SET " + ", ".join(sets),
            "ConditionExpression": condition,
            "ExpressionAttributeNames": names,
            "ExpressionAttributeValues": values,
        }
        return cls(match[1], equal, parameters)
