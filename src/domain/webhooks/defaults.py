"""Every number of webhook delivery, each with its reason. The contract (§9) fixes most of them."""

from __future__ import annotations

from datetime import timedelta

RETRY_DELAYS = (
    timedelta(seconds=5),  # a deployment or a lost packet: over in a moment
    timedelta(minutes=5),  # a restart
    timedelta(minutes=30),  # an incident that somebody is working on
    timedelta(hours=2),
    timedelta(hours=5),  # from here on: a night
    timedelta(hours=10),
    timedelta(hours=10),  # 28 hours in all: whoever looks once a day has had the chance to mend it
)
"""How long to wait after each failed attempt (contract §9); one attempt more than there are delays."""

JITTER = 0.2
"""Delays vary by this part of themselves: a receiver that comes back is not met by everything at once."""

MAX_RETRY_AFTER = timedelta(hours=24)
"""A receiver may ask for this much patience (contract §9); more would look like a lost webhook."""

ATTEMPT_TIMEOUT_SECONDS = 10.0
"""How long a receiver has for its answer, name lookup and connection included (contract §9). The stream's
attempts run side by side (ten batches of ten), so that a slow receiver does not hold up everybody else's."""

CLOCK_TOLERANCE = timedelta(seconds=1)
"""A planned attempt may be this early: clocks differ, and SQS counts whole seconds."""

MAX_BODY_BYTES = 1024 * 1024
"""Above this a body leaves its responses out (contract §9): common receivers refuse larger ones."""

ANSWER_BYTES = 4096
"""How much of the latest answer is kept (contract §3)."""

OLDER_ANSWER_BYTES = 512
"""How much is kept of the answers before it. The record is written whole with every change and DynamoDB
charges by its size, so that only the answer somebody will look at first is kept in full."""

ATTEMPTS_KEPT = 20
"""How many attempts a record keeps, the latest ones: more than two whole rounds of the schedule. With
the two limits above a record stays below 16 KB however often it is redelivered by hand."""

MAX_URL_LENGTH = 2048
"""Characters in a webhook URL (contract §4)."""
