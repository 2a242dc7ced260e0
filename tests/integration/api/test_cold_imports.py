"""The functions that must start quickly load neither resolver nor pydantic."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[3] / "src"
HEAVY = ("pydantic", "aws_lambda_powertools.event_handler", "zoneinfo")


@pytest.mark.parametrize(
    "function",
    [
        "authorizer",
        "web_connector",
        "deliver_webhook",
        "retry_webhook",
        "log_and_forget",
        "sweep",
        "pack_search_texts",
        "operate",
    ],
)
def test_a_function_that_must_start_quickly_loads_no_resolver_no_pydantic_and_no_time_zones(function: str) -> None:
    program = f"import sys; sys.path.insert(0, sys.argv[1]); import handlers.{function}; print(*sys.modules)"

    modules = subprocess.run(  # noqa: S603 - this Python, with arguments of ours
        [sys.executable, "-c", program, str(SOURCE)], capture_output=True, check=True, text=True
    ).stdout.split()

    assert f"handlers.{function}" in modules
    assert not set(HEAVY) & set(modules)
