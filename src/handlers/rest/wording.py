"""The wording of pydantic's errors: what was found, what is allowed, and how to mend it."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from domain.errors import shortened
from domain.suggestions import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_MAX_QUOTED = 60
"""The maximum characters of a value that a message repeats."""

_OTHER_VALUES: Mapping[str, str] = {
    **dict.fromkeys(("done", "success", "succeeded", "completed", "finished", "ok"), "response_received"),
    **dict.fromkeys(("pending", "queued", "open"), "waiting"),
    **dict.fromkeys(("failed", "failure"), "error"),
    **dict.fromkeys(("canceled", "cancelled"), "discarded"),
    **dict.fromkeys(("in_progress", "running", "processing"), "sent"),
    **dict.fromkeys(("created_at", "created", "queued_at"), "inserted_at"),
    **dict.fromkeys(("modified_at", "changed_at"), "updated_at"),
    "ascending": "asc",
    "descending": "desc",
}
"""The values of other APIs for ours."""

_KINDS = {type(None): "null", bool: "a boolean", str: "a string", list: "an array", dict: "an object"}

_quoted_values = re.compile(r"'([^']*)'").findall


def kind_of(value: object) -> str:
    """Return the kind of a JSON value for a message."""
    return _KINDS.get(type(value), "a number")


def _found(value: object) -> str:
    """Return a value of JSON as a message quotes it, or its kind if it is an array or an object."""
    if isinstance(value, str):
        return repr(shortened(value, _MAX_QUOTED))
    return kind_of(value) if isinstance(value, list | dict) else shortened(json.dumps(value), _MAX_QUOTED)


def _size(value: Any, *, least: Any = None, most: Any = None) -> str:
    thing = "character" if isinstance(value, str) else "item"
    if least is not None and not value:
        return f"is empty; at least {least} {thing}{'s' if least > 1 else ''} must be given"
    limit = f"at least {least} must be given" if most is None else f"at most {most} are allowed"
    return f"has {len(value):,} {thing}{'s' if len(value) != 1 else ''}; {limit}"


def _of_kind(expected: str) -> Callable[[Any, Mapping[str, Any]], str]:
    return lambda value, _: f"must be {expected}, not {kind_of(value)}"


def _of_value(expected: str) -> Callable[[Any, Mapping[str, Any]], str]:
    return lambda value, limits: f"must be {expected.format(**limits)}, not {_found(value)}"


_MESSAGES: Mapping[str, Callable[[Any, Mapping[str, Any]], str]] = {
    "string_type": _of_kind("a string"),
    "list_type": _of_kind("an array"),
    **dict.fromkeys(("model_type", "model_attributes_type", "dict_type"), _of_kind("an object")),
    **dict.fromkeys(("bool_type", "bool_parsing"), _of_value("true or false")),
    **dict.fromkeys(("int_type", "int_parsing", "int_from_float", "int_parsing_size"), _of_value("a whole number")),
    "greater_than_equal": _of_value("at least {ge}"),
    "less_than_equal": _of_value("at most {le}"),
    **dict.fromkeys(("enum", "literal_error"), _of_value("{expected}")),
    **dict.fromkeys(("too_short", "string_too_short"), lambda value, limits: _size(value, least=limits["min_length"])),
    **dict.fromkeys(("too_long", "string_too_long"), lambda value, limits: _size(value, most=limits["max_length"])),
    "missing": lambda _value, _limits: "is missing",
}
"""The message about a value, by the type of pydantic's error."""

_SHOWN_BY_EXAMPLE = frozenset(
    {"string_type", "list_type", "model_type", "model_attributes_type", "dict_type", "missing"}
    | {"too_short", "string_too_short"}
)


def worded(error: Mapping[str, Any], example: Any) -> tuple[str, str | None]:
    """Return the message and the suggestion for an error of pydantic. `example` is that of the field, or None."""
    kind, value, limits = error["type"], error.get("input"), error.get("ctx") or {}
    write = _MESSAGES.get(kind)
    message = write(value, limits) if write else str(error["msg"]).removeprefix("Value error, ")
    if kind in {"enum", "literal_error"} and isinstance(value, str):
        return message, did_you_mean(value, _quoted_values(limits["expected"]), others=_OTHER_VALUES)
    if kind in {"too_long", "string_too_long"}:
        too_many = len(value) - limits["max_length"] if isinstance(value, str | list) else 0
        return message, f"Shorten it by {too_many:,}." if isinstance(value, str) else "Use several calls."
    if kind in _SHOWN_BY_EXAMPLE and example is not None:
        return message, f"Write {json.dumps(example)}, for example."
    return message, None
