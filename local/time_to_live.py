"""Time to live: DynamoDB removes expired items and reports it in the stream.

DynamoDB needs up to days for that, DynamoDB Local (3.3) about a second. The embedded database does not do it, so
`TimeToLivePump` removes expired items.
"""

from __future__ import annotations

import time

from local.emulated_dynamodb import remove_expired
from local.pumps import Pump

EVERY_SECONDS = 2
"""A person in front of a terminal waits no longer. It takes some milliseconds with 10,000 records stored."""


class TimeToLivePump(Pump):
    """Removes expired items from the embedded database."""

    def __init__(self) -> None:
        super().__init__("time to live", EVERY_SECONDS)

    def step(self) -> bool:
        """Check all tables once."""
        remove_expired(time.time())
        return False
