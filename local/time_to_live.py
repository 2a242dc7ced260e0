"""Time to live: DynamoDB removes what has expired, and its stream says so.

DynamoDB takes up to days for that, DynamoDB Local (3.3) about a second. The database in this process
has nobody who does it: `TimeToLivePump` looks for what has expired.
"""

from __future__ import annotations

import time

from local.emulated_dynamodb import remove_expired
from local.pumps import Pump

EVERY_SECONDS = 2
"""A person in front of a terminal waits no longer. It takes some milliseconds with 10,000 records stored."""


class TimeToLivePump(Pump):
    """Removes what has expired from the database in this process."""

    def __init__(self) -> None:
        super().__init__("time to live", EVERY_SECONDS)

    def step(self) -> bool:
        """Look once through the tables."""
        remove_expired(time.time())
        return False
