"""Run DynamoDB Local for a command, which finds it in DYNAMODB_ENDPOINT, or keep it running until Ctrl-C.

Usage: `python -m local.dynamodb_local JARS PORT COMMAND…` or `python -m local.dynamodb_local JARS PORT --keep FOLDER`;
port 0 selects a free one.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from local.dynamodb_local.server import JARS_VARIABLE, running
from local.programs import end_with_sigterm, free_ports, until_stopped


def main(jars: str, port: str, *command: str) -> int:
    """Return the command's exit status. Raises RuntimeError when DynamoDB Local does not start."""
    number = int(port) or free_ports(1)[0]
    if command[0] == "--keep":
        return _keep(Path(jars), number, Path(command[1]))
    end_with_sigterm()
    with running(Path(jars), number) as endpoint:
        environment = {**os.environ, "DYNAMODB_ENDPOINT": endpoint, JARS_VARIABLE: str(Path(jars).resolve())}
        return subprocess.run(command, env=environment, check=False).returncode  # noqa: S603 - the command comes from the user


def _keep(jars: Path, port: int, folder: Path) -> int:
    wait_for_signal = until_stopped()
    try:
        with running(jars, port, kept_in=folder) as endpoint:
            print(f"DynamoDB Local runs at {endpoint} and keeps its data in {folder}/. Ctrl-C stops it.\n")
            print(f"In another terminal:  make run DYNAMODB_ENDPOINT={endpoint}", flush=True)
            wait_for_signal()
    except RuntimeError as error:
        print(f"make dynamodb: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
