"""Compute the highest cost of one hour for each credential, and write it to `docs/security.md`.

Run `PYTHONPATH=src python -m tools.highest_costs`. The numbers come from the default limits of an app, the defaults of
`template.yaml` and `benchmarks/prices.json`. What one call can use is an upper bound: each limit of a size is reached,
and no data can be compressed. Storage is not included, nor is the deletion of what is stored.
`tests/integration/test_worst_calls.py` makes the dearest calls and compares their units with these.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from domain.listing.lists import MAX_UNCOUNTED_ENTRIES
from domain.records.app import AppLimits
from domain.records.subscription import MAX_OBJECTS, MAX_SUBSCRIPTIONS, MIN_MINUTES
from domain.subscriptions.stored import MAX_PAGE_BYTES
from domain.web_connector.protocol.soap import MAX_BODY_BYTES as MAX_CALL_BYTES
from domain.webhooks.defaults import ATTEMPT_TIMEOUT_SECONDS, RETRY_DELAYS
from handlers.rest.request_checks import MAX_BODY_BYTES
from local.functions import PAYLOAD_BYTES
from local.programs import ROOT
from local.template import Template

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

PAGE = ROOT / "docs" / "security.md"
BEGIN, END = "<!-- highest costs: tools/highest_costs.py -->\n", "<!-- end of highest costs -->\n"

HOUR = 3600

ACCOUNT_CALLS = 10_000
"""API Gateway: the calls per second of an account and region, all APIs together."""

ACCOUNT_EXECUTIONS = 1_000
"""Lambda: the concurrent executions of an account and region."""

SEARCHED_BYTES = 50_000_000
"""What one search can read from the database in a second. An assumption: a function with 1 GB has about 0.6 of a
processor, which decodes less than this from the responses of DynamoDB."""

MAX_ITEM_BYTES = 400 * 1024
"""DynamoDB: the largest item. The body of a request has at most this size, without chunks."""

WRITE_UNITS_OF_A_REQUEST, READ_UNITS_OF_A_REQUEST, CALLS_OF_A_REQUEST, FUNCTIONS_OF_A_REQUEST = 100, 11, 8, 9
"""The use of a request with a small body that is alone in its session (docs/costs.md, Requests)."""

LOG_BYTES = 1_500
"""The log lines of a call, as in docs/costs.md."""


@dataclass(frozen=True, slots=True)
class Use:
    """The resources that an hour or one call uses."""

    calls: float = 0
    functions: float = 0
    seconds: float = 0
    write_units: float = 0
    read_units: float = 0
    bytes_out: float = 0

    def __add__(self, other: Use) -> Use:
        return Use(*(getattr(self, name) + getattr(other, name) for name in self.__slots__))

    def __mul__(self, number: float) -> Use:
        return Use(*(getattr(self, name) * number for name in self.__slots__))

    def usd(self, prices: Mapping[str, float]) -> float:
        """Return the price. The account's limit of concurrent executions bounds the time of functions."""
        seconds = min(self.seconds, ACCOUNT_EXECUTIONS * HOUR)
        return (
            self.calls * prices["api_gateway_million_requests"] / 1e6
            + self.functions * prices["lambda_million_requests"] / 1e6
            + seconds * prices["lambda_gb_second_arm64"]
            + self.write_units * prices["dynamodb_million_write_units"] / 1e6
            + self.read_units * prices["dynamodb_million_read_units"] / 1e6
            + self.functions * LOG_BYTES / 1e9 * prices["logs_gb"]
            + self.bytes_out / 1e9 * prices["transfer_out_gb"]
        )


REFUSED = Use(calls=1, functions=1, seconds=0.05, read_units=1)
"""A call that is refused because it is over a limit of the app."""

WITH_A_WRONG_KEY = replace(REFUSED, calls=0)
"""A call that the authorizer refuses. API Gateway charges nothing for calls that fail the authorization ("API Gateway
pricing" in its developer guide), but Lambda does for the authorizer."""

MAX_PAGE_SIZE = 100
"""The largest `page_size` of a list."""

ENTRY_BYTES = 150
"""The size of an entry of a listing index, rounded up."""

READ = Use(
    calls=1,
    functions=1,
    seconds=1,
    write_units=1,
    read_units=MAX_PAGE_SIZE * (1 + MAX_ITEM_BYTES / 4096) + 2 * MAX_UNCOUNTED_ENTRIES * ENTRY_BYTES / 4096 / 2,
    bytes_out=PAYLOAD_BYTES,
)
"""A list by label and state whose page is as large as possible: 100 records, 100 bodies, and two entries for each
request of the connection. The write counts the call. A function returns at most 6 MiB."""

SEARCHED_SECOND = Use(seconds=1, read_units=SEARCHED_BYTES / 4096 / 2)

CHANGE = Use(calls=1, functions=1, seconds=0.5, write_units=2_600, read_units=1_200)
"""A call that changes something, or a part of a bulk call: up to 100 requests are changed. The end of a request with
dependants reads and changes their bodies, which have as many bytes as a batch. A deletion also uses DELETION_UNITS for
each kilobyte."""

DELETION_UNITS = 4
"""The write units of a deleted kilobyte. It is part of a transaction, and the first one is refused if both the request
and the response are in chunks."""

SOAP_CALL = Use(calls=1, functions=1, seconds=2, read_units=2)
"""A call of a Web Connector that changes nothing, with the processor time that the service allows for any call."""

ATTEMPTS_IN_AN_HOUR = 1 + sum(sum(delay.total_seconds() for delay in RETRY_DELAYS[: n + 1]) < HOUR for n in range(9))

WEBHOOK = (
    Use(functions=1, seconds=ATTEMPT_TIMEOUT_SECONDS, read_units=MAX_CALL_BYTES / 4096, bytes_out=MAX_CALL_BYTES)
    * ATTEMPTS_IN_AN_HOUR
)
"""The attempts of a webhook to a receiver that hangs, with a response of the largest size."""

EVENT_OF_CONNECTION = (
    Use(functions=1, seconds=ATTEMPT_TIMEOUT_SECONDS, read_units=2, bytes_out=10_000) * ATTEMPTS_IN_AN_HOUR
)
"""The attempts to send an event of a connection to a receiver that hangs. Each new password is such an event."""

PAGE_OF_RESPONSE = SOAP_CALL * 2 + Use(write_units=MAX_CALL_BYTES / 1024 + WRITE_UNITS_OF_A_REQUEST) + WEBHOOK
"""A page of an iterated query: two calls, the second with a response of the largest size, and the webhook."""

ANSWER_OF_RUN = SOAP_CALL * 2 + Use(write_units=2 * MAX_CALL_BYTES / 1024 + WRITE_UNITS_OF_A_REQUEST)
"""A message of a run: two calls, the second with an answer of the largest size, which is stored in a transaction."""

CHANGES_ATTEMPT = Use(
    functions=1, seconds=ATTEMPT_TIMEOUT_SECONDS, read_units=MAX_PAGE_BYTES / 4096, bytes_out=MAX_PAGE_BYTES
)
"""An attempt to send a page of changes to a receiver that hangs."""

ATTEMPTS_OF_AN_ANSWER = MAX_CALL_BYTES / MAX_PAGE_BYTES * MAX_SUBSCRIPTIONS * ATTEMPTS_IN_AN_HOUR
"""The attempts to send the changes of an answer to the receivers of all subscriptions of a connection."""

SWEEPS = MAX_OBJECTS * HOUR / (MIN_MINUTES * 60)
"""The sweeps of an hour, if each asks for one object because answers are lost. Other messages of runs count as pages of
queries do (decision 0129)."""

REPEATED_CALL = SOAP_CALL + Use(read_units=MAX_BODY_BYTES / 4096)
"""A call in a session that has a request of the largest size in flight, and reads it."""

REQUEST = Use(
    CALLS_OF_A_REQUEST,
    FUNCTIONS_OF_A_REQUEST,
    FUNCTIONS_OF_A_REQUEST * 0.025,
    WRITE_UNITS_OF_A_REQUEST,
    READ_UNITS_OF_A_REQUEST,
)


@dataclass(frozen=True, slots=True)
class Row:
    """The highest cost of an hour. `name` is the credential, `part` what it is used for."""

    name: str
    part: str
    usd: float


def rows() -> Iterator[Row]:
    """Yield the rows of the table. The total of each credential comes first."""
    prices = json.loads((ROOT / "benchmarks" / "prices.json").read_text(encoding="utf-8"))
    for name, parts in _parts(prices).items():
        yield Row(name, "", sum((use for use in parts.values()), Use()).usd(prices))
        for part, use in parts.items():
            yield Row("", part, use.usd(prices))


def _parts(prices: Mapping[str, float]) -> dict[str, dict[str, Use]]:
    template, limits = Template.load(), AppLimits()
    defaults = template.parameters
    # Both APIs serve Web Connectors, each with its own limit. The calls of both are counted with the higher price.
    soap = 2 * defaults["WebConnectorCallsPerSecond"] * HOUR
    keys = [route["RouteKey"] for route in template.resources("AWS::ApiGatewayV2::Route").values()]
    routes = [
        (event.properties["Path"], event.properties["Method"].upper(), event.properties.get("Auth", {}))
        for function in template.functions()
        for event in function.events
        if event.type == "Api" and event.properties["Path"] != "/qbwc"
    ]
    # HEAD has limits of its own, and its responses have no body.
    heads = sum(auth.get("Authorizer") == "NONE" and method == "HEAD" for _, method, auth in routes)
    anonymous = sum(auth.get("Authorizer") == "NONE" for _, _, auth in routes) - heads
    with_key = min((len(routes) - anonymous - heads) * defaults["CallsPerSecond"], ACCOUNT_CALLS) * HOUR
    anonymous += sum(key.startswith("GET ") for key in keys)
    largest_file = max(file.stat().st_size for file in (ROOT / "src" / "console").rglob("*.*"))
    page = Use(calls=1, functions=1, seconds=0.05, read_units=1, bytes_out=largest_file)
    waiting = Use(seconds=defaults["MaxWaitingCalls"] * HOUR)
    counted = limits.reads_per_second * HOUR
    reads = {
        "waiting calls": waiting,
        "reads": READ * counted,
        "searches": SEARCHED_SECOND * (limits.search_seconds_per_minute * 60),
        "refused calls": REFUSED * with_key,
    }
    written = limits.written_bytes_per_minute * 60
    pages = min(limits.creates_per_second * HOUR, soap / 2)
    return {
        "none": {
            "pages without data": page * (anonymous * defaults["AnonymousCallsPerSecond"] * HOUR)
            + replace(page, bytes_out=0) * (heads * defaults["AnonymousCallsPerSecond"] * HOUR),
            "calls of `/qbwc`": SOAP_CALL * soap,
            "calls with wrong keys": WITH_A_WRONG_KEY * with_key,
        },
        "a read-only key": reads,
        "a full key": {
            **reads,
            "reads": max(READ, CHANGE, key=lambda use: use.usd(prices)) * counted,
            "creates": (REQUEST + WEBHOOK) * (limits.creates_per_second * HOUR),
            "bytes of creates": Use(write_units=2 * written / 1024),
            "redeliveries": WEBHOOK * (limits.redeliveries_per_minute * 60),
            "events of connections": EVENT_OF_CONNECTION * counted,
        },
        "a customer's machine": {
            "pages of queries and runs": max(PAGE_OF_RESPONSE, ANSWER_OF_RUN, key=lambda use: use.usd(prices)) * pages,
            "sweeps of runs": ANSWER_OF_RUN * SWEEPS,
            "webhooks of changes": CHANGES_ATTEMPT
            * min(ATTEMPTS_OF_AN_ANSWER * (pages + SWEEPS), ACCOUNT_EXECUTIONS * HOUR / ATTEMPT_TIMEOUT_SECONDS),
            "repeated calls": REPEATED_CALL * (soap - 2 * pages - 2 * SWEEPS),
        },
    }


def table() -> str:
    """Return the table in Markdown."""
    lines = ["| credential | part | USD in one hour |", "|---|---|---|"]
    lines += [f"| {f'**{row.name}**' if row.name else ''} | {row.part or 'all'} | {row.usd:,.0f} |" for row in rows()]
    return "\n".join(lines) + "\n"


def page(text: str) -> str:
    """Return the text of the page with the current table."""
    before, _, rest = text.partition(BEGIN)
    return before + BEGIN + table() + END + rest.partition(END)[2]


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
