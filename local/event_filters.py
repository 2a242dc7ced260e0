"""Lambda's event filtering: selects the records of a stream or queue that reach a function.

Source: "Control which events Lambda sends to your function" in the Lambda developer guide.
"""

from __future__ import annotations

import json
import operator
from typing import TYPE_CHECKING, Any

from local.template import TemplateError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_ABSENT = object()

_NUMERIC: Mapping[str, Callable[[float, float], bool]] = {
    "=": operator.eq,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def patterns_of(event_properties: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the patterns of an event source's FilterCriteria. Without patterns, every record passes."""
    filters = event_properties.get("FilterCriteria", {}).get("Filters", [])
    return [json.loads(event_filter["Pattern"]) for event_filter in filters]


def passes(record: Mapping[str, Any], patterns: list[dict[str, Any]]) -> bool:
    """Return whether any pattern matches the record, or there are no patterns."""
    return not patterns or any(_matches(record, pattern) for pattern in patterns)


def _matches(value: Any, pattern: Any) -> bool:
    if isinstance(pattern, dict):
        members = value if isinstance(value, dict) else {}
        return all(_matches(members.get(name, _ABSENT), rule) for name, rule in pattern.items())
    # A list of rules: one must hold, for one of the values if the record has several.
    values = value if isinstance(value, list) else [value]
    return any(_holds(member, rule) for member in values for rule in pattern)


def _holds(value: Any, rule: Any) -> bool:
    if not isinstance(rule, dict):
        # `true` is not a number in JSON, although it equals 1 in Python.
        return type(value) is type(rule) and bool(value == rule)
    ((name, operand),) = rule.items()
    match name:
        case "exists":
            return bool((value is not _ABSENT) == operand)
        case "prefix":
            return isinstance(value, str) and value.startswith(operand)
        case "suffix":
            return isinstance(value, str) and value.endswith(operand)
        case "anything-but":
            return value is not _ABSENT and value not in (operand if isinstance(operand, list) else [operand])
        case "numeric":
            comparisons = zip(operand[::2], operand[1::2], strict=True)
            is_number = isinstance(value, int | float) and not isinstance(value, bool)
            return is_number and all(_NUMERIC[sign](value, limit) for sign, limit in comparisons)
        case _:
            raise TemplateError(f"filter rule {name} is not supported by local/event_filters.py")
