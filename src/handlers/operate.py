"""The operator's function: apps, API keys, webhook secrets, recounts. No HTTP route leads to it.

Invoke it with a command and its arguments: `{"operation": "create_app", "name": "Shop"}`. Errors have the shape of the
REST API.
"""

from __future__ import annotations

from typing import Any

from domain.errors import ServiceError
from handlers.operator_commands import command_named


def handler(event: dict[str, Any], _context: object) -> dict[str, Any]:
    """Run the command that the event names."""
    arguments = {name: value for name, value in event.items() if name != "operation"}
    try:
        return command_named(event.get("operation"), arguments)(**arguments)
    except ServiceError as error:
        return {"error": {"code": error.code, "message": error.message, "details": error.details}}
