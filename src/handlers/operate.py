"""The operator's function: apps, API keys, webhook secrets and recounts. It has no HTTP route.

Invoke it with a command and its arguments: `{"operation": "create_app", "name": "Shop"}`. Errors have the shape of the
REST API.
"""

from __future__ import annotations

import re
from typing import Any

from aws_lambda_powertools import Logger

from domain.errors import ServiceError
from handlers.operator_commands import command_named

logger = Logger()

LOGGED_ARGUMENTS = frozenset(
    {
        "app_id",
        "connection_id",
        "key_hash",
        "scope",
        "mend",
        "creates_per_second",
        "waiting",
        "redeliveries_per_minute",
    }
)
"""The arguments that are logged if they have the form of an id, a hash, a number or an option. No argument is a secret,
but an operator can pass an API key by mistake."""

_is_loggable = re.compile(r"[0-9a-f-]{1,64}|full|read_only|yes|no").fullmatch


def handler(event: dict[str, Any], _context: object) -> dict[str, Any]:
    """Run the command that the event names."""
    arguments = {name: value for name, value in event.items() if name != "operation"}
    command, result = event.get("operation"), "done"
    try:
        return command_named(command, arguments)(**arguments)
    except ServiceError as error:
        result = error.code
        return {"error": {"code": error.code, "message": error.message, "details": error.details}}
    except Exception:
        result = "failed"
        raise
    finally:
        logged = {name: arguments[name] for name in LOGGED_ARGUMENTS & arguments.keys()}
        logged = {name: value for name, value in logged.items() if _is_loggable(str(value))}
        logger.info("operator.command", extra={"command": command, "result": result, **logged})
