"""Run Schemathesis on the OpenAPI document against the whole service on this machine.

Usage: `python -m local.api_check ENVIRONMENT [OPTION…]`: the virtual environment of Schemathesis, and further options
of `schemathesis run`. `tests/api/schemathesis.toml` lists the exceptions with their reasons.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from local import first_steps, stack
from local.programs import ROOT


def main(environment: str, *options: str) -> int:
    """Return the exit status of Schemathesis."""
    # A call that waits would take longer than Schemathesis waits for it. With this limit, all are answered at once.
    parameters = {"MaxWaitingCalls": "0"}
    with (
        tempfile.TemporaryDirectory() as folder,
        stack.running(log_level="ERROR", parameters=parameters) as service,
    ):
        who = first_steps.prepare(service.base_url, service.operator, Path(folder))
        command = [
            *(str(Path(environment) / "bin" / "schemathesis"), "--config-file", "tests/api/schemathesis.toml"),
            *("run", "docs/openapi.json", "--url", service.base_url, "--auth", f"{who.api_key}:"),
            *("--no-color", *options),
        ]
        return subprocess.run(command, cwd=ROOT, check=False).returncode  # noqa: S603 - our own arguments


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
