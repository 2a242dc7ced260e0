"""Benchmarks and their baselines. Run `python -m benchmarks.NAME` in the folder of the repository."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))
