"""Defaults of webhook delivery, with their reasons.

docs/reference/service-contract.md fixes most of them (Webhook retries, Webhook events), and docs/limits.md lists them.
"""

from __future__ import annotations

from datetime import timedelta

RETRY_DELAYS = (
    timedelta(seconds=5),  # a lost packet
    timedelta(seconds=30),  # a restart
    timedelta(minutes=2),  # a deployment
    timedelta(minutes=5),
    timedelta(minutes=30),  # an incident that somebody is working on
    timedelta(hours=2),
    timedelta(hours=5),  # from here on, the delays span a night
    timedelta(hours=10),
    timedelta(hours=10),  # 28 hours in all, so one look a day is enough to repair the receiver
)
"""The delay after each failed attempt. There is one more attempt than there are delays."""

JITTER = 0.2
"""Each delay varies by this fraction. Therefore a receiver that recovers does not get all events at once."""

MAX_RETRY_AFTER = timedelta(hours=24)
"""The longest `Retry-After` that is respected. After a longer one the webhook would look lost."""

ATTEMPT_TIMEOUT_SECONDS = 10.0
"""The time limit of an attempt. It includes the name lookup and the connection."""

FIRST_ATTEMPT_TIMEOUT_SECONDS = 1.0
"""The time limit in the stream consumer, where a slow receiver delays the webhooks of all apps. An attempt that takes
longer is repeated through the retry queue, with the full time limit."""

MAX_PARALLEL_ATTEMPTS = 50
"""The maximum number of attempts that a function makes at the same time. No batch in the template is larger."""

MAX_PARALLEL_READS = 10
"""How many attempts of a function hold the bodies of their records at the same time, up to 20 MB each. The events are
made one at a time, which takes up to 160 MB (docs/decisions/0044-the-memory-of-a-batch-of-webhooks.md)."""

MAX_FIRST_ATTEMPTS_PER_APP = 20
"""A batch makes at most this many first attempts of one app at once, so an app cannot overload its receiver."""

SLOW_SECONDS = 0.75
"""A receiver that takes longer is slow. In a busy function, the call of a quick receiver takes a third of it."""

QUICK_SECONDS = 0.35
"""A receiver that responds within this time costs no patience. In a busy function, the call of a receiver that responds
at once takes up to 0.3 seconds."""

TRIAL_SECONDS = 0.1
"""How long an attempt waits for the first attempt of its app to another receiver that is not known yet."""

PATIENCE_SECONDS = 1.0
"""The stream consumer waits this many seconds a minute for the receivers of an app: one time-out, or the time that
quicker attempts take beyond QUICK_SECONDS. While less than SLOW_SECONDS is left, the app gets no first attempts."""

SLOW_DURATION = timedelta(minutes=1)
"""How long the stream consumer makes no attempts of an app to a receiver that was slow, and how long it takes until the
patience with an app is restored. The retry queue is only a second slower."""

MAX_REMEMBERED_HOSTS = 1_000
MAX_REMEMBERED_APPS = 1_000
"""The number of hosts that a process remembers for each app, and the number of apps. A host takes about 200 bytes."""

CLOCK_TOLERANCE = timedelta(seconds=1)
"""A planned attempt may be this early, because clocks differ and SQS counts whole seconds."""

MAX_BODY_BYTES = 1024 * 1024
"""A larger event leaves its response out, because common receivers refuse larger bodies."""

MAX_EVENT_WAIT_SECONDS = 5.0
"""After this wait for its turn, an event is sent without its response. Otherwise a batch of large responses would take
longer than the function may run."""

MAX_RESPONSE_BYTES = 4096
"""The number of bytes of the receiver's response that are read, and stored for the latest attempt."""

MAX_INTERIM_RESPONSES = 5
"""An attempt ends after this many interim responses (HTTP 1xx). A receiver needs one or two, and each takes processor
time."""

MAX_OLDER_RESPONSE_BYTES = 512
"""The number of bytes stored for each earlier response. Every change writes the whole record, and DynamoDB charges by
its size."""

MAX_ATTEMPTS_KEPT = 20
"""A record keeps this many of its latest attempts, which is two rounds. With the two limits above, a record
stays below 16 KB, no matter how often it is redelivered."""

MAX_URL_LENGTH = 2048
"""The maximum number of characters of a webhook URL."""
