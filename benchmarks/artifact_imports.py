"""Measure how much time bytecode in the artifact saves when a function's handler is imported from a built folder.

Run `make build`, then `python -m benchmarks.artifact_imports .aws-sam/build/SweepFunction`, with the Python
version that the artifact was built for. Imports with and without bytecode alternate. Each runs in a new process that
writes no bytecode, as in Lambda's read-only code folder. The packages of this Python are not used.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

HANDLERS = ("create_queued_request", "list_queued_requests", "web_connector", "authorizer", "deliver_webhook")
ROUNDS = 7
PROGRAM = """
import os, sys, time
sys.path.insert(0, os.getcwd())
began = time.perf_counter()
__import__(sys.argv[1])
print((time.perf_counter() - began) * 1000)
"""


def main(folder: str) -> None:
    """Print the medians."""
    with tempfile.TemporaryDirectory() as other:
        bare = Path(other) / "bare"
        shutil.copytree(folder, bare, ignore=shutil.ignore_patterns("__pycache__"))
        print(f"{'':28}{'without':>10}{'with':>10}   milliseconds, median of {ROUNDS}")
        for name in HANDLERS:
            times_by_folder: dict[Path, list[float]] = {bare: [], Path(folder): []}
            for _ in range(ROUNDS):
                for place, times in times_by_folder.items():
                    times.append(import_milliseconds(place, name))
            without, with_bytecode = (median(times) for times in times_by_folder.values())
            print(f"{name:28}{without:10.0f}{with_bytecode:10.0f}")


def import_milliseconds(folder: Path, name: str) -> float:
    """Return the milliseconds that the import of a handler takes in a new process."""
    command = [sys.executable, "-B", "-S", "-c", PROGRAM, f"handlers.{name}"]
    process = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)  # noqa: S603 - our own arguments
    return float(process.stdout)


if __name__ == "__main__":
    main(*sys.argv[1:])
