"""Every number of webhook delivery, with its reason.

docs/reference/service-contract.md fixes most of them (Webhook retries, Webhook events, Limits).
"""

from __future__ import annotations

from datetime import timedelta

RETRY_DELAYS = (
    timedelta(seconds=5),  # a deployment or a lost packet
    timedelta(minutes=5),  # a restart
    timedelta(minutes=30),  # an incident that somebody is working on
    timedelta(hours=2),
    timedelta(hours=5),  # from here on, a night
    timedelta(hours=10),
    timedelta(hours=10),  # 28 hours in all, so that a look once a day is enough to repair the receiver
)
"""The delay after each failed attempt. There is one more attempt than there are delays."""

JITTER = 0.2
"""Each delay varies by this fraction, so that a receiver that recovers does not get all events at once."""

MAX_RETRY_AFTER = timedelta(hours=24)
"""The longest `Retry-After` that is respected. After a longer one the webhook would look lost."""

ATTEMPT_TIMEOUT_SECONDS = 10.0
"""The time limit of an attempt, name lookup and connection included."""

FIRST_ATTEMPT_TIMEOUT_SECONDS = 2.0
"""The time limit in the stream consumer, where a slow receiver delays the webhooks of all apps. An attempt that takes
longer is repeated through the retry queue, with the full time limit."""

MAX_PARALLEL_ATTEMPTS = 50
"""Attempts that a function makes at the same time. No batch in the template is larger."""

MAX_FIRST_ATTEMPTS_PER_APP = 20
"""First attempts of one app that a batch makes at the same time, so that an app cannot overload its receiver."""

MAX_TIMEOUTS = 3
"""Time-outs in a row after which the stream consumer makes no attempts to a host. One can be a restart."""

SLOW_HOST_DURATION = timedelta(minutes=5)
"""How long the stream consumer then makes none. The retry queue is a few seconds slower, so trying rarely is enough."""

MAX_SLOW_HOSTS = 1_000
"""Hosts that a process remembers, about 200 bytes each."""

CLOCK_TOLERANCE = timedelta(seconds=1)
"""A planned attempt may come this early, because clocks differ and SQS counts whole seconds."""

MAX_BODY_BYTES = 1024 * 1024
"""A larger event leaves its response out, because common receivers refuse larger bodies."""

MAX_RESPONSE_BYTES = 4096
"""Bytes of the receiver's response that are read, and kept of the latest attempt."""

MAX_OLDER_RESPONSE_BYTES = 512
"""Bytes that are kept of earlier responses. Every change writes the whole record, and DynamoDB charges by its size."""

MAX_ATTEMPTS_KEPT = 20
"""The latest attempts that a record keeps: more than two rounds. With the two limits above, a record stays below 16 KB
however often it is redelivered."""

MAX_URL_LENGTH = 2048
"""Characters of a webhook URL."""
