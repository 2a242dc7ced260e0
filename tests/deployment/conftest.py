"""These tests need the emulator of `make deploy-local`. Without it, none are collected."""

from __future__ import annotations

import os

collect_ignore_glob = [] if "EMULATOR" in os.environ else ["test_*.py"]
