"""IAM's decision about a call, as far as the policies of this project need it.

Source: "Policy evaluation logic" and "IAM JSON policy elements: Condition operators" in the IAM user guide.
"""

from __future__ import annotations

import operator
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from local.permissions import as_list

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

_OPERATORS: Mapping[str, Callable[[str, str], bool]] = {"StringEquals": operator.eq, "ArnLike": fnmatchcase}


def allows(
    statements: Iterable[Mapping[str, Any]], action: str, resource: str, context: Mapping[str, str] | None = None
) -> bool:
    """Return whether a statement allows a call. `context` has the values of condition keys."""
    return any(
        action in as_list(statement["Action"])
        and any(fnmatchcase(resource, pattern) for pattern in as_list(statement["Resource"]))
        and _holds(statement.get("Condition", {}), context or {})
        for statement in statements
    )


def _holds(condition: Mapping[str, Mapping[str, Any]], context: Mapping[str, str]) -> bool:
    """Return whether every key has one of the wanted values. A key that the call does not have has none."""
    return all(
        key in context and any(_OPERATORS[name](context[key], value) for value in as_list(wanted))
        for name, keys in condition.items()
        for key, wanted in keys.items()
    )
