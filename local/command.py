"""Operator commands: apps, API keys, webhook secrets and recounts, of a stack on this machine or in AWS.

`make command DO="create-app 'My shop'"` works on the stack that `make run` started here;
`make command STACK=qbxml-queue DO="create-app 'My shop'"` on a deployed stack, with the credentials of the AWS CLI.
The commands call the operator's function (`handlers/operate.py`). No HTTP route leads to it.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import boto3
from botocore.exceptions import BotoCoreError, ClientError

from local import aws, deploy
from local.lambda_api import ACCESS_KEY_ID, Operator

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

COMMANDS: dict[str, tuple[str, str]] = {
    "create-app": ("name", "create an app with an API key; shows the key and the webhook secret once"),
    "list-apps": ("", "list all apps with their limits"),
    "show-app": ("app_id", "show an app with its limits and API keys"),
    "delete-app": ("app_id", "delete an app without connections, with its API keys and webhook secrets"),
    "list-connections": ("app_id", "list the connections of an app"),
    "set-limits": ("app_id", "change the limits of an app"),
    "set-contact": ("app_id", "change the name, logo, phone and email that customers see on the onboarding page"),
    "set-environment": (
        "app_id environment",
        "say what an app works on; the console shows it",
    ),
    "invite": ("email role app", "invite an email address to an app; the person then signs in"),
    "list-people": ("app", "list the members of an app, by its id or name, and its invitations"),
    "remove-person": ("person_id app", "remove a person from an app"),
    "forget-person": ("person_id", "delete all that is stored of a person"),
    "create-key": ("app_id", "create another API key; shows it once"),
    "list-keys": ("app_id", "list the API keys of an app, with the hour of their last use"),
    "rename-key": ("key_hash name", "give an API key another name, by the hash that list-keys shows"),
    "revoke-key": ("key_hash", "revoke an API key by the hash that list-keys shows"),
    "audit-log": ("app_id", "show who did what, also for a deleted app"),
    "rotate-webhook-secret": ("app_id", "add a new webhook secret; the old one signs too until it is retired"),
    "retire-old-webhook-secrets": ("app_id", "keep only the newest webhook secret"),
    "recount-connection": ("connection_id", "compare a connection's counts with its records; --mend corrects them"),
    "overdue-webhooks": ("", "list webhooks whose attempt is an hour late; --send plans an attempt for each"),
}
"""Each command with its arguments and its description."""

ARGUMENTS = {
    "app": "the id or the name of the app",
    "environment": "production or test",
    "name": "the name of the app, or what uses the key",
    "role": "viewer, support, editor, approver or admin",
}
"""The meanings of arguments whose name does not say all."""

LIMITS = (
    "creates-per-second",
    "waiting",
    "redeliveries-per-minute",
    "written-bytes-per-minute",
    "reads-per-second",
    "searches-per-minute",
    "search-seconds-per-minute",
    "connections",
)
"""The limits of an app that `set-limits` changes."""

CONTACT = {
    "name": "the name of the app for customers",
    "logo-url": "an https URL of an image",
    "phone": "whom a customer phones",
    "email": "whom a customer writes to",
}
"""What `set-contact` changes; an empty text removes it."""

SETTINGS: Mapping[str, Mapping[str, str]] = {
    "set-limits": dict.fromkeys(LIMITS, "a number"),
    "set-contact": CONTACT,
}
"""The options of the commands that change settings of an app, with their meanings."""


class CommandError(Exception):
    """The command cannot run; the message says what to do."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command, print its result as JSON and return the exit status."""
    options = vars(_parser().parse_args(arguments))
    stack, region, profile = (options.pop(name) for name in ("stack", "region", "profile"))
    try:
        client, function = _operator(stack, region, profile)
        options["operation"] = options["operation"].replace("-", "_")
        result = invoke(client, function, options)
        if options["operation"] == "create_app" and "error" not in result:
            result |= invoke(client, function, {"operation": "create_key", "app_id": result["app_id"]})
    except (CommandError, aws.AwsError, deploy.DeployError) as error:
        print(f"make command: {error}", file=sys.stderr)
        return 2
    except (BotoCoreError, ClientError) as error:
        reason = aws.explanation(error) if stack else f"make run does not answer ({error}). Start it again."
        print(f"make command: {reason}", file=sys.stderr)
        return 2
    print(json.dumps(result, indent=2))
    return 1 if "error" in result else 0


def _operator(stack: str | None, region: str | None, profile: str | None) -> tuple[Any, str]:
    """Return a Lambda client and the operator's function. Raises CommandError, AwsError and DeployError."""
    if stack:
        here = aws.resolved(region, profile)
        outputs = deploy.outputs(here.client("cloudformation"), stack)
        return here.client("lambda"), outputs["OperateFunctionName"]
    path = Path(os.environ.get("STATE_DIR", "."), ".local", "credentials.json")
    if not path.exists():
        raise CommandError(f"{path} does not exist. Start `make run`, or name a deployed stack: STACK=qbxml-queue")
    credentials = json.loads(path.read_text(encoding="utf-8"))
    operator = operator_of(credentials)
    return local_client(operator), operator.function


def operator_of(credentials: Mapping[str, Any]) -> Operator:
    """Return the operator of the stack whose `credentials.json` this is. Raises CommandError."""
    try:
        return Operator(*(credentials[f"operate_{name}"] for name in ("function", "endpoint", "secret")))
    except KeyError as error:
        raise CommandError(".local/credentials.json has no operator. Start `make run` again.") from error


def local_client(operator: Operator) -> Any:
    """Return a Lambda client for a stack on this machine."""
    return boto3.client(
        "lambda",
        endpoint_url=operator.endpoint,
        region_name="us-east-1",
        aws_access_key_id=ACCESS_KEY_ID,
        aws_secret_access_key=operator.secret,
        config=aws.INVOCATIONS,
    )


def invoke(client: Any, function: str, event: dict[str, Any]) -> dict[str, Any]:
    """Call the operator's function and return its result. Raises CommandError when the function failed."""
    response = client.invoke(FunctionName=function, Payload=json.dumps(event).encode())
    result: dict[str, Any] = json.loads(response["Payload"].read())
    if "FunctionError" in response:
        raise CommandError(f"{function}: {result.get('errorMessage')}")
    return result


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m local.command", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--stack", help="a deployed stack (default: the one that make run started here)")
    aws.add_options(parser)
    commands = parser.add_subparsers(dest="operation", required=True, metavar="COMMAND")
    for name, (arguments, description) in COMMANDS.items():
        command = commands.add_parser(name, help=description, description=description)
        for argument in arguments.split():
            command.add_argument(argument, help=ARGUMENTS.get(argument))
        for option, meaning in SETTINGS.get(name, {}).items():
            command.add_argument(f"--{option}", default=argparse.SUPPRESS, help=meaning)
        if name == "create-key":
            scopes = ["full", "read_only", "propose", "approve"]
            command.add_argument("--scope", choices=scopes, default="full", help="default: full")
            command.add_argument(
                "--rotates", default=argparse.SUPPRESS, metavar="KEY_HASH", help="a key that it takes the place of"
            )
            command.add_argument("--name", default=argparse.SUPPRESS, help="what uses the key")
            command.add_argument(
                "--expires-at", default=argparse.SUPPRESS, metavar="TIME", help="when it ends: 2027-01-31T00:00:00Z"
            )
        if name == "audit-log":
            command.add_argument("--before", default=argparse.SUPPRESS, metavar="ID", help="continue behind this entry")
        if name == "recount-connection":
            command.add_argument("--mend", action="store_const", const="yes", default="no", help="correct the counts")
        if name == "overdue-webhooks":
            command.add_argument(
                "--send", action="store_const", const="yes", default="no", help="plan an attempt for each"
            )
    return parser


if __name__ == "__main__":
    sys.exit(main())
