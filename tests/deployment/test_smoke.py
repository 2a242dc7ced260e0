"""`make smoke` passes on a deployed stack and prints one line for each check."""

from __future__ import annotations

import os
import subprocess
import sys

from local import deploy_local, programs
from local.smoke import CHECKS


def test_make_smoke_passes_and_says_what_it_could_not_check() -> None:
    environment = {**programs.without_aws(), **deploy_local.environment(os.environ["EMULATOR"])}
    command = [sys.executable, "-m", "local.smoke"]

    process = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)  # noqa: S603 - our own arguments

    assert process.returncode == 0, process.stdout + process.stderr
    lines = [line for line in process.stdout.splitlines() if " · " in line]
    assert len(lines) == len(CHECKS)
    assert "  ok   a request, up to its webhook attempt" in process.stdout
    assert "  ok   a subscription, up to its webhook attempt" in process.stdout
    assert "Not checked:" in process.stdout
