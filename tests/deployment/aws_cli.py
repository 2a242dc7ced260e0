"""A small `aws` for the commands of the guides: `python -m tests.deployment.aws_cli SERVICE COMMAND --option value…`.

The AWS CLI is not among the development tools. Like it, this program derives every command and option from botocore's
description of the service.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import jmespath  # type: ignore[import-untyped]
from botocore import xform_name
from botocore.session import Session

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

TYPES: Mapping[str, Callable[[Any], Any]] = {"integer": int, "long": int, "double": float, "list": lambda text: [text]}
"""How an option becomes a parameter, by botocore's name of its type. Other types are texts."""


def main(arguments: Sequence[str]) -> int:
    """Make one call and print its result; return the exit status."""
    service, command, *rest = arguments
    waiter_name = rest.pop(0) if command == "wait" else ""
    options = options_of(rest)
    region = options.pop("region", None)
    output, query = options.pop("output", "json"), options.pop("query", "@")
    client = Session().create_client(service, region_name=region)
    if waiter_name:
        waiter = client.get_waiter(waiter_name.replace("-", "_"))
        waiter.wait(**parameters(client, waiter.config.operation, options))
        return 0
    (operation,) = [name for name in client.meta.method_to_api_mapping.values() if xform_name(name, "-") == command]
    values = parameters(client, operation, options)
    method = xform_name(operation)
    if client.can_paginate(method):
        result = client.get_paginator(method).paginate(**values).build_full_result()
    else:
        result = getattr(client, method)(**values)
    found = jmespath.search(query, result)
    print(as_text(found) if output == "text" else json.dumps(found, indent=2, default=str))  # noqa: T201 - its purpose
    return 0


def options_of(arguments: Sequence[str]) -> dict[str, str | bool]:
    """Return the options by name; an option without a value is a switch."""
    options: dict[str, str | bool] = {}
    rest = list(arguments)
    while rest:
        name = rest.pop(0).removeprefix("--")
        options[name] = rest.pop(0) if rest and not rest[0].startswith("--") else True
    return options


def parameters(client: Any, operation: str, options: Mapping[str, str | bool]) -> dict[str, Any]:
    """Return the parameters of a call, in the types of the service. Raises SystemExit for an unknown option."""
    members = client.meta.service_model.operation_model(operation).input_shape.members
    names = {xform_name(name, "-"): name for name in members}
    values: dict[str, Any] = {}
    for option, value in options.items():
        name = names.get(option) or names.get(option.removeprefix("no-"))
        if name is None:
            raise SystemExit(f"Unknown option: --{option}")
        kind = members[name].type_name
        converted = TYPES.get(kind, str)(value)
        values[name] = not option.startswith("no-") if kind == "boolean" else converted
    return values


def as_text(value: Any) -> str:
    """Return a value as the AWS CLI prints text: items of a list with tabs between them."""
    return "\t".join(map(str, value)) if isinstance(value, list) else str(value)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
