"""Time to live: DynamoDB removes expired items and reports it in the stream.

DynamoDB needs up to days for that. DynamoDB Local (3.3) checks 20 items of a table every 10 seconds. The embedded
database does not do it, so `TimeToLivePump` removes expired items.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from local.pumps import Pump

if TYPE_CHECKING:
    from local.emulated_dynamodb import EmulatedDynamoDB

EVERY_SECONDS = 2
"""Short enough for a person at a terminal. A check of 10,000 records takes a few milliseconds."""


class TimeToLivePump(Pump):
    """Removes expired items from the embedded database."""

    def __init__(self, database: EmulatedDynamoDB) -> None:
        super().__init__("time to live", EVERY_SECONDS)
        self._database = database

    def step(self) -> bool:
        """Check all tables once."""
        self._database.remove_expired(time.time())
        return False
