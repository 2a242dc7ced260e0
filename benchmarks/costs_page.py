"""Computes the tables of `docs/costs.md` from what was counted (`units.json`) and the prices (`prices.json`).

`python -m benchmarks.costs --write` counts and writes both. Each function returns a table in Markdown.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from local.programs import ROOT
from local.template import Template

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    Use = Mapping[str, float]

PAGE = ROOT / "docs" / "costs.md"
UNITS = ROOT / "benchmarks" / "units.json"
PRICES = ROOT / "benchmarks" / "prices.json"

# --- Assumptions. The page states them.

LAMBDA_MS, INIT_MS, COLD_SHARE = 25.0, 300.0, 0.01
BILLED_MS = LAMBDA_MS + COLD_SHARE * INIT_MS
READ_UNIT_MS = 0.16
"""What a read unit adds to the duration of a call: a function reads 50 MB a second (`tools.highest_costs`)."""
CALL_LOG_BYTES = 600
"""The log lines of a call of an app, with that of API Gateway."""

MONTH_MINUTES = 30 * 24 * 60
DORMANT_MINUTES = 13.5
"""The mean interval of polls after a day without work: `DormantPollSeconds`, or up to a fifth less."""
QUEUE_POLLS = 5 * 3 * MONTH_MINUTES
"""Lambda polls a queue with five long polls of 20 seconds ("Using Lambda with Amazon SQS" in the Developer Guide)."""
SWEEP_READ_UNITS, SWEEP_SECONDS = 2, 0.005
"""What a sweep uses at most for a connection: a query of its counts, of which the time is assumed."""
CANARY_SECONDS = 0.3

CONSOLE_LISTS, CONSOLE_CONNECTIONS = 5, 3
"""Polls a minute of the view of a connection (`src/console/views`). One that nobody uses stops after ten minutes."""
OVERVIEW_STATISTICS, OVERVIEW_COUNTS = 1, 0.5
"""Polls a minute of the overview of all connections: the statistics, and the writes that wait for approval."""
WORKING_DAYS = 22

NAMES = {
    "alone": "alone in its session",
    "long_session": "in a session of 200 requests, each sent alone",
    "without_webhook": "in a session of 40 requests, without a webhook",
    "label": "in a session of 40 requests, with a label",
    "batch": "in a session of 40 requests, as an entry of a batch of 20",
    "page": "as a page of an iterated query",
    "large": "in a session of 4 requests, with a response of 0.8 MB",
    "in_sets": "in a session of 231 reads, in sets of up to 20 (the default)",
}
OWN_SESSION = "a run of five objects without changes, in a session of its own"
LISTS = "lists of "
"""The beginning of the names of groups in `units.json`, before the number of requests of the connection."""
COLUMNS = {"http_calls": ".1f", "functions": ".1f", "writes": ".0f", "reads": ".1f", "log_bytes": ",.0f"}


def parts(use: Use, prices: Mapping[str, Any], billed_ms: float) -> dict[str, float]:
    """Return the price in USD of a use, for each service. A function has 1 GB of memory."""
    million = {name: price / 1e6 for name, price in prices.items() if name not in {"region", "as_of"}}
    return {
        "API Gateway": use["rest_calls"] * million["api_gateway_million_requests"]
        + use["http_api_units"] * million["http_api_million_requests"],
        "Lambda": use["functions"]
        * (million["lambda_million_requests"] + billed_ms / 1000 * prices["lambda_gb_second_arm64"]),
        "DynamoDB": use["writes"] * million["dynamodb_million_write_units"]
        + use["reads"] * million["dynamodb_million_read_units"],
        "SQS": use["sqs_calls"] * million["sqs_million_requests"],
        "Logs": use["log_bytes"] / 1e9 * prices["logs_gb"],
    }


class Bill:
    """Prices of what was counted, in USD."""

    def __init__(self, units: Mapping[str, Any], prices: Mapping[str, Any], billed_ms: float = BILLED_MS) -> None:
        self.units, self.prices = units, prices
        self._billed_ms = billed_ms

    def of(self, kind: str) -> float:
        """Return the price of one request, poll, or run of the jobs."""
        return sum(parts(self.units[kind], self.prices, self._billed_ms).values())

    def call(self, group: str, name: str) -> float:
        """Return the price of a call of an app."""
        counted = self.units["calls"][group][name]
        number = counted["http_calls"]
        use = {"rest_calls": number, "functions": number, "http_api_units": 0, "sqs_calls": 0}
        billed_ms = self._billed_ms + READ_UNIT_MS * counted["reads"]
        return sum(parts(use | {"log_bytes": number * CALL_LOG_BYTES} | counted, self.prices, billed_ms).values())

    def sent(self, group: str, name: str) -> float:
        """Return the price of something with the calls of its Web Connector: a request or a run."""
        counted = self.units["calls"][group][name]
        use = {"sqs_calls": 0, "log_bytes": counted["http_calls"] * CALL_LOG_BYTES} | counted
        billed_ms = self._billed_ms + READ_UNIT_MS * counted["reads"] / counted["functions"]
        return sum(parts(use, self.prices, billed_ms).values())

    @property
    def deployment(self) -> float:
        """The month of a deployment without connections."""
        template = Template.load(ROOT / "template.yaml")
        alarms = len(template.resources("AWS::CloudWatch::Alarm")) * self.prices["alarm_month"]
        queue = QUEUE_POLLS * self.prices["sqs_million_requests"] / 1e6
        consumers = sum(event.type == "DynamoDB" for function in template.functions() for event in function.events)
        unused = ("rest_calls", "http_api_units", "sqs_calls", "log_bytes", "reads")
        canary: Use = {**dict.fromkeys(unused, 0.0), "functions": 1, "writes": 1.5}
        canaries = consumers * MONTH_MINUTES / 15 * sum(parts(canary, self.prices, CANARY_SECONDS * 1000).values())
        month: float = alarms + queue + canaries + self.of("jobs") * MONTH_MINUTES / 5
        return month

    @property
    def sweep(self) -> float:
        """The sweep's looks at a connection in a month."""
        units = SWEEP_READ_UNITS * self.prices["dynamodb_million_read_units"] / 1e6
        month: float = MONTH_MINUTES / 5 * (units + SWEEP_SECONDS * self.prices["lambda_gb_second_arm64"])
        return month

    @property
    def console_hour(self) -> float:
        """An hour in which the view of a connection with 10,000 requests is used."""
        lists = CONSOLE_LISTS * self.call("lists of 10000", "the same, `bodies=false`")
        return 60 * (lists + CONSOLE_CONNECTIONS * self.call("reads", "a connection"))

    @property
    def overview_hour(self) -> float:
        """An hour in which the overview of an app with 20 connections is used."""
        statistics = self.call("reads", "statistics of an app with 20 connections")
        return 60 * (OVERVIEW_STATISTICS * statistics + OVERVIEW_COUNTS * self.call("reads", "the same, `counts=true`"))


def requests(bill: Bill) -> str:
    """Return what a request uses."""
    rows = (
        [
            name,
            *(format(bill.units[kind][column], form) for column, form in COLUMNS.items()),
            f"{bill.of(kind) * 1000:.3f}",
        ]
        for kind, name in NAMES.items()
    )
    heading = ["", "HTTP calls", "Lambda calls", "write units", "read units", "log bytes", "1,000 requests"]
    return _table(heading, rows)


def looking(bill: Bill) -> str:
    """Return what an addition with `if_exists` uses, by its outcome."""
    rows = (
        [
            name,
            format(counted["messages"], "g"),
            *(format(counted[column], ".0f") for column in ("writes", "reads")),
            f"{bill.sent('looking', name) * 1000:.3f}",
        ]
        for name, counted in bill.units["calls"]["looking"].items()
    )
    return _table(["", "messages", "write units", "read units", "1,000 requests"], rows)


def runs(bill: Bill) -> str:
    """Return what runs of subscriptions use."""
    rows = (
        [
            name,
            *(format(counted[column], ".0f") for column in ("messages", "http_calls", "writes", "reads")),
            f"{bill.sent('subscriptions', name) * 1000:.3f}",
        ]
        for name, counted in bill.units["calls"]["subscriptions"].items()
    )
    return _table(["", "messages", "HTTP calls", "write units", "read units", "1,000 of them"], rows)


def months_of_runs(bill: Bill) -> str:
    """Return the price of a month of runs without changes. Each takes the place of a poll."""
    each = bill.sent("subscriptions", OWN_SESSION) - bill.of("poll")
    rows = []
    for name, minutes in (("every 15 minutes", 15), ("every hour", 60)):
        price = each * MONTH_MINUTES / minutes
        rows.append([name, _dollars(price), *(_dollars(number * price) for number in (100, 10_000))])
    return _table(["five objects", "1 connection", "100", "10,000"], rows)


def polls(bill: Bill) -> str:
    """Return the price of a month of polls, by their interval."""
    rest = bill.units["poll"]["http_api_units"] * (
        bill.prices["api_gateway_million_requests"] - bill.prices["http_api_million_requests"]
    )
    intervals = {
        "every 5 minutes (after 15 minutes without work)": ("poll", 5),
        "every 12 to 15 minutes (after a day without work)": ("dormant_poll", DORMANT_MINUTES),
        "every minute (the shortest interval)": ("poll", 1),
    }
    rows = []
    for name, (kind, minutes) in intervals.items():
        number = MONTH_MINUTES / minutes
        price = bill.of(kind) * number
        rows.append([name, _dollars(price), _dollars(price + rest / 1e6 * number)])
    return _table(["the Web Connector polls", "a month", "with a `.qwc` file that names the REST API"], rows)


def lists(bill: Bill) -> str:
    """Return the read units of lists by the size of the connection."""
    groups = [name for name in bill.units["calls"] if name.startswith(LISTS)]
    rows = []
    for name in bill.units["calls"][groups[0]]:
        units = [f"{bill.units['calls'][group][name]['reads']:,.0f}" for group in groups]
        rows.append([name, *units, f"{bill.call(groups[-1], name) * 1000:.3f}"])
    sizes = [f"{int(group.removeprefix(LISTS)):,} requests" for group in groups]
    return _table(["read units of a list", *sizes, "1,000 lists of the last column"], rows)


def calls(bill: Bill) -> str:
    """Return what other calls use."""
    rows = (
        [name, f"{counted['reads']:.1f}", f"{counted['writes']:.1f}", f"{bill.call(group, name) * 1000:.3f}"]
        for group in ("reads", "changes", "webhooks")
        for name, counted in bill.units["calls"][group].items()
    )
    return _table(["", "read units", "write units", "1,000 of them"], rows)


@dataclass(frozen=True, slots=True)
class Example:
    """A deployment. Numbers are those of a month, of each connection or of all."""

    name: str
    connections: int
    requests_of_each: int
    lists_of_each: int
    feed_calls: int
    console_hours: int

    def parts(self, bill: Bill) -> dict[str, float]:
        """Return the parts of the bill. `docs/costs.md` says what the deployment does."""
        requests = self.connections * self.requests_of_each
        polls = self.connections * MONTH_MINUTES / 5
        stored = requests / 1000 * bill.units["stored_gb"]
        storage = bill.prices["dynamodb_gb_month"] + bill.prices["dynamodb_backup_gb_month"]
        empty, full = (bill.call("reads", f"the feed, {what}") for what in ("without new events", "25 events"))
        listed = self.connections * self.lists_of_each
        return {
            "the deployment": bill.deployment,
            "polls that find nothing": polls * bill.of("poll"),
            "requests with their webhooks": requests * bill.of("long_session"),
            "the feed": self.feed_calls * empty + requests / 25 * full,
            "lists": listed * bill.call("lists of 10000", "a page of 20 requests with their bodies"),
            "the console": self.console_hours * bill.console_hour,
            "the sweep's look at each connection": self.connections * bill.sweep,
            "storage and backup of the requests": stored * storage,
        }


EXAMPLES = (
    Example("a shop with a nightly sync", 1, 15_000, 30, 30, WORKING_DAYS),
    Example("100 connections", 100, 1_000, 30 * 24, MONTH_MINUTES, 8 * WORKING_DAYS),
    Example("10,000 connections", 10_000, 1_000, 30 * 24, 6 * MONTH_MINUTES, 20 * 8 * WORKING_DAYS),
)


def example_totals(bill: Bill) -> list[str]:
    """Return the bill of each example in USD, as the page shows it."""
    return [_dollars(sum(example.parts(bill).values())) for example in EXAMPLES]


def examples(bill: Bill) -> str:
    """Return the bills of a month."""
    columns = [example.parts(bill) for example in EXAMPLES]
    rows = [[part, *(_dollars(column[part]) for column in columns)] for part in columns[0]]
    expired = bill.of("expired")
    with_expiry = [
        _dollars(sum(column.values()) + example.connections * example.requests_of_each * expired)
        for example, column in zip(EXAMPLES, columns, strict=True)
    ]
    rows += [["**all**", *example_totals(bill)], ["with `RetentionDays`, if as many expire", *with_expiry]]
    return _table(["USD a month", *(example.name for example in EXAMPLES)], rows)


def console(bill: Bill) -> str:
    """Return the price of the console that is used."""
    hours = {
        "a connection": bill.console_hour,
        "the overview of 20 connections": bill.overview_hour,
    }
    heading = ["", "an hour", "a working day of 8 hours", f"{WORKING_DAYS} working days"]
    rows = [[name, f"{hour:.4f}", f"{8 * hour:.3f}", f"{8 * WORKING_DAYS * hour:.2f}"] for name, hour in hours.items()]
    return _table(heading, rows)


TABLES: Mapping[str, Callable[[Bill], str]] = {
    "requests": requests,
    "looking": looking,
    "runs": runs,
    "months of runs": months_of_runs,
    "polls": polls,
    "lists": lists,
    "calls": calls,
    "console": console,
    "examples": examples,
}
"""The tables by the names in the comments before and after them on the page."""


def page(text: str) -> str:
    """Return the text of the page with the current tables."""
    bill = Bill(*(json.loads(path.read_text(encoding="utf-8")) for path in (UNITS, PRICES)))
    for name, table in TABLES.items():
        before, begin, rest = text.partition(f"<!-- {name}: python -m benchmarks.costs --write -->\n")
        _, end, after = rest.partition(f"<!-- end of {name} -->")
        assert all((begin, end)), f"docs/costs.md has no place for {name}"
        text = before + begin + table(bill) + end + after
    return text


def _dollars(price: float) -> str:
    return f"{price:,.0f}" if price >= 10 else f"{price:.2f}" if price >= 0.1 else f"{price:.3f}"


def _table(heading: list[str], rows: Iterable[list[str]]) -> str:
    lines = [f"| {' | '.join(line)} |\n".replace("|  |", "| |") for line in (heading, *rows)]
    return "".join([lines[0], "|---" * len(heading) + "|\n", *lines[1:]])
