"""The operator's function: apps, API keys, webhook secrets, recounts. No HTTP route leads here.

Call it with an operation and its arguments: `{"operation": "create_app", "name": "Shop"}`. What goes
wrong is answered in the API's error shape.
"""

from __future__ import annotations

from typing import Any

from domain.errors import ServiceError
from handlers._operations import operation


def handler(event: dict[str, Any], _context: object) -> dict[str, Any]:
    """Do the operation that the event names."""
    arguments = {name: value for name, value in event.items() if name != "operation"}
    try:
        return operation(event.get("operation"), arguments)(**arguments)
    except ServiceError as error:
        return {"error": {"code": error.code, "message": error.message, "details": error.details}}
