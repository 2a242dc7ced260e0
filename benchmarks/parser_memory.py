"""Measure the memory and the processor time of everything that reads XML, with XML that costs as much as possible.

    python -m benchmarks.parser_memory [--size BYTES] [--door TEXT] [--shape TEXT] [--seed N]

Each door reads each shape of `tests/support/hostile_xml.py` in a process of its own, at the maximum size that the door
accepts. Prints the worst shapes of each door: the peak of resident memory above that of the idle process, and the
processor time. A batch may take twice as much memory and fifty times as long, so its figures are divided. The exit
status is 1 if one exceeds MAX_MEMORY_BYTES or MAX_CPU_SECONDS.
"""

from __future__ import annotations

import argparse
import sys

from tests.support.hostile_xml import SHAPES
from tests.support.xml_doors import BATCH, DOORS, MAX_CPU_SECONDS, MAX_MEMORY_BYTES, Usage, measured

SHOWN = 4
MIB = 1024 * 1024


def main() -> int:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, help="bytes; the maximum of the door without it")
    parser.add_argument("--door", default="", help="only doors with this in their name")
    parser.add_argument("--shape", default="", help="only shapes with this in their name")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    exceeded = 0
    print(f"{'door':28} {'shape':36} {'MB above idle':>14} {'seconds':>8}")
    for name, door in {**DOORS, "batch of 50 webhooks": BATCH}.items():
        if options.door not in name:
            continue
        size = options.size or door.max_bytes
        door.open()("")  # so that each process need not load the same modules again
        usages = {shape: measured(door, shape, size, options.seed) for shape in SHAPES if options.shape in shape}
        if door is BATCH:
            usages = {shape: Usage(usage.bytes // 2, usage.cpu_seconds / 50) for shape, usage in usages.items()}
        exceeded += sum(_exceeds(usage) for usage in usages.values())
        worst = sorted(usages, key=lambda shape: usages[shape].bytes)[-SHOWN:]
        slowest = sorted(usages, key=lambda shape: usages[shape].cpu_seconds)[-SHOWN:]
        for shape in dict.fromkeys([*reversed(worst), *reversed(slowest)]):
            usage = usages[shape]
            mark = "  TOO MUCH" if _exceeds(usage) else ""
            print(f"{name:28} {shape:36} {usage.bytes / MIB:14.0f} {usage.cpu_seconds:8.2f}{mark}", flush=True)
    print(f"{exceeded} measurements exceed {MAX_MEMORY_BYTES // MIB} MB or {MAX_CPU_SECONDS} s")
    return 1 if exceeded else 0


def _exceeds(usage: Usage) -> bool:
    return usage.bytes > MAX_MEMORY_BYTES or usage.cpu_seconds > MAX_CPU_SECONDS


if __name__ == "__main__":
    sys.exit(main())
