"""The environment file for `sam local`: the variables of each function, with the values for one machine.

`make generate` writes the file that is committed. `sam local` sets only variables that the template declares.
"""

from __future__ import annotations

import json
import sys

from local.programs import ROOT
from local.template import Template

FILE = ROOT / "local" / "sam-env.json"

BRIDGE = "172.17.0.1"
"""Docker's bridge: containers reach this machine under this address, and other machines do not."""

PORT = 8129
ENDPOINT = f"http://{BRIDGE}:{PORT}"
"""The database and the queue of `make sam-local`."""

QUEUE = "WebhookRetryQueue"

BASE_URL = "http://localhost:3001"
"""`sam local start-api --port 3001`. Web Connectors accept http with this name only, not with an address."""


def sam_environment(endpoint: str = ENDPOINT, base_url: str = BASE_URL) -> dict[str, dict[str, str]]:
    """Return the variables of each function, with the database and the queue at an address that containers reach."""
    template = Template.load(ROOT / "template.yaml", {"AllowLoopbackWebhooks": "true", "BaseUrl": base_url})
    template = template.with_references({QUEUE: f"{endpoint}/000000000000/{QUEUE}"})
    endpoints = {"AWS_ENDPOINT_URL_DYNAMODB": endpoint, "AWS_ENDPOINT_URL_SQS": endpoint}
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
