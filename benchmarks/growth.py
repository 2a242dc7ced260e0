"""Compute what a deployment of 100 to 100,000 connections needs, and write it to `docs/operations.md`.

Run `python -m benchmarks.growth [--write]`. The calls and units of a request and of a poll are those that
`python -m benchmarks.costs --write` counts (`benchmarks/units.json`). The limits are those of `template.yaml`, of an
app, and of AWS. For each limit the program computes the number of connections that reach it. A row of the table names
the limits below its number of connections, and the first limit above it.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from domain.connections.turns import SPREAD
from domain.records.app import AppLimits
from domain.records.session import LIVE_SHARDS
from domain.web_connector.session.admission import PERIOD_SECONDS, budget
from domain.web_connector.session.polling import IDLE_POSTPONEMENT_SECONDS
from local.programs import ROOT
from local.template import Template

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

PAGE = ROOT / "docs" / "operations.md"
BEGIN, END = "<!-- growth: python -m benchmarks.growth --write -->\n", "<!-- end of growth -->\n"
BEGIN_LENGTHS, END_LENGTHS = (
    "<!-- lengths of sessions: python -m benchmarks.growth --write -->\n",
    "<!-- end of lengths of sessions -->\n",
)
UNITS = ROOT / "benchmarks" / "units.json"

HEADER = (
    "| connections | sessions at once | calls a second: Web Connectors, API | functions at once | write units a second "
    "| load of the hottest partition | do or raise before | the next limit |"
)
LENGTHS_HEADER = (
    "| a session takes | sessions at once of 10,000 connections | connections of a new account "
    "| with the default limits | with `WebConnectorCallsPerSecond` 4,000 |"
)
DEFAULTS = "[step 0](#deploying); otherwise the defaults are enough"
SIZES = (100, 1_000, 10_000, 100_000)

# --- Assumptions about a connection and about times. The page states them.

REQUESTS_A_DAY = 50
WORKING_HOURS = 10
PEAK = 2
"""How many times the average of the working hours the peak is."""
CALL_SECONDS = 0.05
"""A warm call of a function: three calls of the database, one after the other, and the work."""
WEBHOOK_SECONDS = 0.3
SESSION_SECONDS = 10
"""A session of one request: the start of QuickBooks, the request and the calls."""
LENGTHS = (3, 10, 30, 120)
"""Lengths of sessions in seconds, of which the page has a table."""

# --- Limits of AWS

NEW_ACCOUNT_CONCURRENCY = 10
CONCURRENCY = 1_000
"""The quota that step 0 of the deployment asks for."""
GATEWAY_CALLS = 10_000
"""API Gateway: calls per second of an account and region."""
TABLE_WRITES = 4_000
"""DynamoDB: write units per second of a new on-demand table. It doubles its capacity when traffic grows."""
PARTITION_WRITES, PARTITION_READS = 1_000, 3_000
"""DynamoDB: units per second of a partition, and so of one key."""

# --- Limits of the jobs

SWEEP_SECONDS = 280
SWEEP_CALL_SECONDS = 0.006
"""A read of the counts of a connection: one consistent query, one after the other."""
PACK_SECONDS = 8 * 4 * 240
"""The packer's seconds in two hours."""
PACK_DAY_SECONDS, PACK_TEXT_SECONDS = 0.053, 0.0017
"""Twice the processor time that was measured (decision 0023)."""


@dataclass(frozen=True, slots=True)
class Connection:
    """What one connection causes in each second of the peak."""

    requests: float
    polls: float
    units: dict[str, dict[str, float]]

    @property
    def web_connector_calls(self) -> float:
        """Calls of the Web Connector: those of its sessions, and polls that find nothing."""
        return self.requests * (self.units["alone"]["http_calls"] - 1) + self.polls * self.units["poll"]["http_calls"]

    @property
    def sessions(self) -> float:
        """Sessions that run at once."""
        return self.requests * SESSION_SECONDS

    @property
    def api_calls(self) -> float:
        """Calls of the REST API: a create for each request, and a read of its result."""
        return self.requests * 2

    @property
    def webhooks(self) -> float:
        """First webhook attempts."""
        return self.requests

    @property
    def functions(self) -> float:
        """Functions that run at once."""
        calls = self.web_connector_calls + self.api_calls
        return calls * CALL_SECONDS + self.webhooks * WEBHOOK_SECONDS

    @property
    def writes(self) -> float:
        """Write units of all tables."""
        return self.requests * self.units["alone"]["writes"] + self.polls * self.units["poll"]["writes"]

    @property
    def partitions(self) -> dict[str, float]:
        """The share of a second of its partition that each shared key takes (`tests/integration/test_hottest_key.py`).

        Each webhook reads the item of its app, and all connections may belong to one. A session puts an entry into the
        index of live sessions and deletes it. All connections queue the first request of their day within an hour.
        """
        return {
            "the item of an app": self.webhooks * 0.5 / PARTITION_READS,
            "a part of the index of live sessions": self.requests * 2 / LIVE_SHARDS / PARTITION_WRITES,
            "the index of days to pack": 1 / 3600 / PARTITION_WRITES,
        }


@dataclass(frozen=True, slots=True)
class Limit:
    """A limit, the number of connections that reach it, and what to do before."""

    name: str
    connections: float
    remedy: str


def connection() -> Connection:
    """Return the assumed connection, with the units that were counted."""
    requests = REQUESTS_A_DAY / (WORKING_HOURS * 3600) * PEAK
    polls = 1 / (IDLE_POSTPONEMENT_SECONDS * (1 - SPREAD / 2))
    return Connection(requests, polls, json.loads(UNITS.read_text(encoding="utf-8")))


def limits(one: Connection) -> Sequence[Limit]:
    """Return all limits, the lowest first."""
    parameters = Template.load(ROOT / "template.yaml").parameters
    app = AppLimits()

    def found() -> Iterator[Limit]:
        gateway = int(parameters["WebConnectorCallsPerSecond"])
        yield Limit(
            "`MaxSessions` of a new account",
            carried(one, SESSION_SECONDS, gateway, NEW_ACCOUNT_CONCURRENCY),
            "the account's concurrency ([step 0](#deploying))",
        )
        yield Limit(
            "`MaxSessions`", carried(one, SESSION_SECONDS, gateway, CONCURRENCY), "`WebConnectorCallsPerSecond`"
        )
        yield Limit(
            "a new account's concurrency of 10",
            NEW_ACCOUNT_CONCURRENCY * 0.8 / one.functions,
            "the account's concurrency ([step 0](#deploying))",
        )
        yield Limit(
            "a concurrency of 1,000", CONCURRENCY * 0.8 / one.functions, "the account's concurrency, with AWS support"
        )
        yield Limit(
            "`WebConnectorCallsPerSecond`", gateway / 2 / one.web_connector_calls, "`WebConnectorCallsPerSecond`"
        )
        yield Limit("`CallsPerSecond`", int(parameters["CallsPerSecond"]) / one.requests, "`CallsPerSecond`")
        yield Limit("the connections of one app", app.connections + 1, "the app's `connections`")
        yield Limit(
            "the creates per second of one app", app.creates_per_second / one.requests, "the app's `creates-per-second`"
        )
        yield Limit(
            "10,000 calls a second of API Gateway",
            GATEWAY_CALLS / (one.web_connector_calls + one.api_calls),
            "API Gateway's calls per second of the account",
        )
        yield Limit(
            "the capacity of new tables",
            TABLE_WRITES / one.writes,
            "let load grow over hours: a busy table doubles its capacity",
        )
        for name, share in one.partitions.items():
            yield Limit(f"the partition of {name}", 1 / share, "the key in the code")
        yield Limit(
            "the sweep's look for overdue webhooks",
            SWEEP_SECONDS / SWEEP_CALL_SECONDS,
            "expect overdue webhooks to be found later: the sweep looks at a connection in every second or third run",
        )
        yield Limit(
            "packing within two hours",
            PACK_SECONDS / (PACK_DAY_SECONDS + REQUESTS_A_DAY * PACK_TEXT_SECONDS),
            "more shares of the packer ([`PackBehind`](#alarms))",
        )

    return sorted(found(), key=lambda limit: limit.connections)


def carried(one: Connection, session_seconds: float, calls_per_second: int, concurrency: int) -> float:
    """Return how many connections find a place when they have work, with sessions of one request of this length.

    An app that is alone uses four fifths of the places without waiting. `make deploy` sets ConcurrencyAlarmAt to four
    fifths of the concurrency.
    """
    places = budget(calls_per_second, concurrency * 4 // 5)
    begin = places.beginnings * places.shards / PERIOD_SECONDS
    return min(places.share * places.shards / session_seconds, begin) / one.requests


def lengths() -> str:
    """Return the table of lengths of sessions as Markdown."""
    one, calls = connection(), int(Template.load(ROOT / "template.yaml").parameters["WebConnectorCallsPerSecond"])
    lines = [LENGTHS_HEADER, "|---|---|---|---|---|"]
    for seconds in LENGTHS:
        accounts = ((calls, NEW_ACCOUNT_CONCURRENCY), (calls, CONCURRENCY), (4_000, CONCURRENCY))
        numbers = " | ".join(f"{_rounded(carried(one, seconds, *account)):,}" for account in accounts)
        lines.append(f"| {seconds} s | {_number(10_000 * one.requests * seconds)} | {numbers} |")
    return "\n".join(lines) + "\n"


def table() -> str:
    """Return the table as Markdown."""
    one = connection()
    all_limits = limits(one)
    lines = [HEADER, "|---|---|---|---|---|---|---|---|"]
    for size in SIZES:
        remedies = dict.fromkeys(limit.remedy for limit in all_limits if limit.connections <= size)
        following = next(limit for limit in all_limits if limit.connections > size)
        hottest = max(one.partitions, key=lambda name: one.partitions[name])
        lines.append(
            f"| {size:,} | {_number(one.sessions * size)} "
            f"| {_number(one.web_connector_calls * size)}, {_number(one.api_calls * size)} "
            f"| {_number(one.functions * size)} | {_number(one.writes * size)} "
            f"| {one.partitions[hottest] * size:.1%}: {hottest} "
            f"| {'; '.join(remedies) or DEFAULTS} "
            f"| {following.name}, at {_rounded(following.connections):,} connections |"
        )
    return "\n".join(lines) + "\n"


def page(text: str) -> str:
    """Return the page with the tables of today."""
    for begin, end, content in ((BEGIN, END, table()), (BEGIN_LENGTHS, END_LENGTHS, lengths())):
        before, _, rest = text.partition(begin)
        text = before + begin + content + end + rest.partition(end)[2]
    return text


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:.1f}"


def _rounded(value: float) -> int:
    """Return a number with two significant digits."""
    unit = int(10 ** (len(str(int(value))) - 2))
    return int(value) // unit * unit


def main() -> None:
    """Print the table and every limit, or write the page."""
    if "--write" in sys.argv[1:]:
        PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
        return
    print(table())
    print(lengths())
    for limit in limits(connection()):
        print(f"{limit.connections:14,.0f} connections: {limit.name} · {limit.remedy}")


if __name__ == "__main__":
    main()
