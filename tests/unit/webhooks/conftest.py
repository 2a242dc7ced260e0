"""Fixtures for the tests of the webhook functions."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import pytest

from handlers.common import webhook_batch

if TYPE_CHECKING:
    from collections.abc import Iterator


class Lines(logging.Handler):
    """Keeps log records."""

    def __init__(self) -> None:
        super().__init__()
        self.records: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep the record."""
        self.records.append(record)


@pytest.fixture
def lines() -> Iterator[list[logging.LogRecord]]:
    """Return the log records of the functions."""
    handler = Lines()
    webhook_batch.logger.addHandler(handler)
    yield handler.records
    logging.getLogger(webhook_batch.logger.name).removeHandler(handler)
