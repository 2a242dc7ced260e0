"""Every five minutes: release silent Web Connector sessions, remove what deleted connections left."""

from __future__ import annotations

from dataclasses import asdict
from datetime import timedelta
from typing import Any

from aws_lambda_powertools import Logger

from handlers.bootstrap import services

logger = Logger()

RESERVE = timedelta(seconds=20)
"""Kept back of the function's time for the step that was begun last."""


def handler(_event: dict[str, Any], context: Any) -> None:
    """Sweep as long as the function has time; `context` is Lambda's."""
    left = timedelta(milliseconds=context.get_remaining_time_in_millis())
    swept = services().sweeper.sweep(services().clock() + left - RESERVE)
    logger.info("sweep.done", extra=asdict(swept))
