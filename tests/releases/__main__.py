"""Keep this version: write its tables, data and answers below `tests/releases/kept`. `make keep-release`."""

from __future__ import annotations

import sys

from tests.releases.kept import ROOT, keep

sys.stdout.write(f"Kept in {keep().relative_to(ROOT)}. Commit it before the tag (docs/releasing.md).\n")
