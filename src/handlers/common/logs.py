"""The log of the functions: one JSON line for each event, in a form that Lambda and the alarms understand."""

import logging
import os
from typing import Any

from aws_lambda_powertools import Logger


class ServiceLogger(Logger):
    """Powertools' logger at the level of the deployment (`LogLevel`).

    Lambda can filter lines as well, but it takes every line whose timestamp does not follow RFC 3339 for INFO.
    Therefore the timestamps follow RFC 3339, and Lambda passes on every line (`ApplicationLogLevel`). Powertools
    prefers Lambda's level to its own, so the level is set again here.
    """

    def __init__(self) -> None:
        super().__init__(
            use_rfc3339=True,
            utc=True,
            serialize_stacktrace=False,  # the line already contains the stack trace as text
        )
        self._lines = logging.getLogger(self.service)
        self._lines.setLevel(os.environ.get("POWERTOOLS_LOG_LEVEL", "INFO"))

    def always(self, level: int, message: str, **facts: Any) -> None:
        """Write a line at every `LogLevel`, because a metric filter of the template counts it."""
        record = self._lines.makeRecord(self.service, level, __file__, 0, message, (), None, "always", facts)
        self._lines.handle(record)
