"""Measure the cold start of each function: the median of five new processes, in milliseconds.

The first figure is the import of its module. The second is the creation of the first database client, which every
function except the pages creates in its first call. Run `python -m benchmarks.import_times`.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from statistics import median

from local.template import Template

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src"
RUNS = 5

MEASURE = """
import sys, time
sys.path.insert(0, sys.argv[2])
start = time.perf_counter()
__import__(sys.argv[1])
took = time.perf_counter() - start
from handlers.common import bootstrap
start = time.perf_counter()
bootstrap.aws_client("dynamodb")
client = time.perf_counter() - start
heavy = [name for name in ("pydantic",) if name in sys.modules]
print(took * 1000, client * 1000, *heavy)
"""
ENVIRONMENT = {"AWS_DEFAULT_REGION": "eu-west-1", "AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "x"}


def handlers() -> list[str]:
    """Return the functions' modules."""
    return sorted(function.handler.rpartition(".")[0] for function in Template.load(ROOT / "template.yaml").functions())


def measure(module: str) -> tuple[float, float, list[str]]:
    """Return the milliseconds of the import and of the client, and the heavy packages that were imported."""
    outputs = [
        subprocess.run(  # noqa: S603 - this Python, with our own arguments
            [sys.executable, "-c", MEASURE, module, str(SOURCE)],
            capture_output=True,
            check=True,
            text=True,
            env=ENVIRONMENT,
        ).stdout.split()
        for _ in range(RUNS)
    ]
    imports, clients = (median(float(output[column]) for output in outputs) for column in (0, 1))
    return imports, clients, outputs[0][2:]


def main() -> None:
    """Print one line for each function."""
    for module in handlers():
        import_ms, client, heavy = measure(module)
        print(f"{import_ms:5.0f} + {client:3.0f} ms  {module.removeprefix('handlers.'):28} {' '.join(heavy)}")


if __name__ == "__main__":
    main()
