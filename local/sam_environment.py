"""The environment file for `sam local`: the variables of each function, with the values for one machine.

`make generate` writes the file that is committed. `sam local` sets only variables that the template declares.
"""

from __future__ import annotations

import json
import sys

from local.programs import ROOT
from local.template import Template

FILE = ROOT / "local" / "sam-env.json"

DYNAMODB_ENDPOINT = "http://172.17.0.1:8127"
"""`make dynamodb DYNAMODB_LOCAL_HOST=172.17.0.1`: Docker's bridge. Containers can reach it, other machines cannot."""

NO_ENDPOINT = "http://127.0.0.1:9"
"""SQS is not emulated. Without this, a function would call it in AWS with the credentials of the user."""


def sam_environment() -> dict[str, dict[str, str]]:
    """Return the variables of each function."""
    template = Template.load(ROOT / "template.yaml", {"AllowLoopbackWebhooks": "true"})
    endpoints = {"AWS_ENDPOINT_URL_DYNAMODB": DYNAMODB_ENDPOINT, "AWS_ENDPOINT_URL_SQS": NO_ENDPOINT}
    return {function.logical_id: {**function.environment, **endpoints} for function in template.functions()}


def main(arguments: list[str]) -> None:
    """Print the environment, or write it to its file with `--write`."""
    text = json.dumps(sam_environment(), indent=2)
    if arguments == ["--write"]:
        FILE.write_text(f"{text}\n", encoding="utf-8")
    else:
        print(text)


if __name__ == "__main__":
    main(sys.argv[1:])
