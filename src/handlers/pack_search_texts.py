"""Every quarter of an hour: pack the search texts of days that are over."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from aws_lambda_powertools import Logger

from handlers.bootstrap import services

logger = Logger()

RESERVE = timedelta(seconds=60)
"""Kept back of the function's time for the step that was begun last: up to 1,000 writes, eight at a time."""


def handler(_event: dict[str, Any], context: Any) -> None:
    """Pack as long as the function has time; `context` is Lambda's. Fails at its end when a day could not be packed."""
    left = timedelta(milliseconds=context.get_remaining_time_in_millis())
    packed = services().packer.run(services().clock() + left - RESERVE)
    for failure in packed.failures:
        ids = {"connection_id": failure.connection_id, "day": failure.day}
        logger.error("packing.not_processed", exc_info=failure.error, extra=ids)
    counted = {"days": packed.days, "failed": len(packed.failures), "finished": packed.finished}
    logger.info("packing.done", extra=counted)
    if packed.failures:
        raise packed.failures[0].error
