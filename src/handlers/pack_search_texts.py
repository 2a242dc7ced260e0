"""Every quarter of an hour: pack the search texts of days that are over."""

from __future__ import annotations

from dataclasses import asdict
from datetime import timedelta
from typing import Any

from aws_lambda_powertools import Logger

from handlers import bootstrap

logger = Logger()

RESERVE = timedelta(seconds=60)
"""Kept back of the function's time for the step that was begun last: up to 1,000 writes, eight at a time."""


def handler(_event: dict[str, Any], context: Any) -> None:
    """Pack as long as the function has time; `context` is Lambda's."""
    left = timedelta(milliseconds=context.get_remaining_time_in_millis())
    packed = bootstrap.packer().run(bootstrap.clock()() + left - RESERVE)
    logger.info("packing.done", extra=asdict(packed))
