"""The operator's command: apps, API keys, webhook secrets and recounts, of a stack on this machine or in AWS.

It calls the operator's function (`handlers/operate.py`): by default of the stack that `make run`
started here, with --function of a deployed one (its name is the stack's output OperateFunctionName).
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import boto3

if TYPE_CHECKING:
    from collections.abc import Sequence

COMMANDS = {
    "create-app": ("name", "create an app; shows its webhook secret"),
    "create-key": ("app_id", "create an API key; shows its text this once"),
    "list-keys": ("app_id", "list an app's keys"),
    "revoke-key": ("key_hash", "revoke a key, by the hash that list-keys shows"),
    "rotate-webhook-secret": ("app_id", "make a new webhook secret; the old one signs beside it"),
    "retire-old-webhook-secrets": ("app_id", "end a rotation"),
    "recount-connection": ("connection_id", "compare a connection's counts with its records; --mend makes them equal"),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command, print its answer as JSON and return the exit status."""
    options = vars(_parser().parse_args(arguments))
    function, endpoint = options.pop("function"), options.pop("endpoint")
    if function is None:
        state = Path(os.environ.get("STATE_DIR", "."), ".local", "credentials.json")
        if not state.exists():
            print(
                f"{state} is not there. Start `make run`, or name a deployed function by --function.", file=sys.stderr
            )
            return 2
        known = json.loads(state.read_text(encoding="utf-8"))
        function, endpoint = known["operate_function"], known["operate_endpoint"]
    options["operation"] = options["operation"].replace("-", "_")
    answer = operate(function, options, endpoint=endpoint)
    print(json.dumps(answer, indent=2))
    return 1 if "error" in answer else 0


def operate(function: str, event: dict[str, Any], *, endpoint: str | None = None) -> dict[str, Any]:
    """Call an operator's function in AWS, or at an endpoint on this machine, and return its answer.

    Raises RuntimeError when the function failed.
    """
    # A stack on this machine checks no signature, but the client insists on making one.
    unchecked = {"region_name": "us-east-1", "aws_access_key_id": "local", "aws_secret_access_key": "local"}
    client = boto3.client("lambda", **({"endpoint_url": endpoint, **unchecked} if endpoint else {}))
    result = client.invoke(FunctionName=function, Payload=json.dumps(event).encode())
    answer: dict[str, Any] = json.loads(result["Payload"].read())
    if "FunctionError" in result:
        raise RuntimeError(f"{function}: {answer.get('errorMessage')}")
    return answer


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m local.command", description=__doc__)
    parser.add_argument("--function", help="a deployed function's name (credentials as for the AWS CLI)")
    parser.add_argument("--endpoint", help="the URL of an AWS emulator, with --function")
    commands = parser.add_subparsers(dest="operation", required=True)
    for name, (argument, description) in COMMANDS.items():
        command = commands.add_parser(name, help=description, description=description)
        command.add_argument(argument)
        if name == "create-key":
            command.add_argument("--scope", choices=["full", "read_only"], default="full")
        if name == "recount-connection":
            command.add_argument("--mend", action="store_const", const="yes", default="no")
    return parser


if __name__ == "__main__":
    sys.exit(main())
