"""Property tests try the same examples in every run, so that a failure is due to a change.

Other examples: `pytest --hypothesis-profile=random`. `make prove` and `make fuzz` are random by design.
"""

from __future__ import annotations

import gc
import os

import pytest
from hypothesis import HealthCheck, settings

# How long an example takes is measured in `benchmarks/`, not here.
BUSY_MACHINE = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

settings.register_profile("repeatable", BUSY_MACHINE, derandomize=True, database=None, max_examples=50)
settings.register_profile("random", BUSY_MACHINE)
settings.load_profile("repeatable")


def pytest_configure() -> None:
    """End at once if DYNAMODB_ENDPOINT is set and no database answers there."""
    if "DYNAMODB_ENDPOINT" in os.environ:
        from local.database import answering_endpoint  # noqa: PLC0415 - it takes boto3, which few tests need

        try:
            answering_endpoint()
        except SystemExit as error:
            raise pytest.UsageError(str(error.code)) from None


def pytest_collection_finish() -> None:
    """Collect garbage less often: a collection looks at thousands of tests and modules, which never become garbage."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)
