"""Every function runs with its sample event, which `sam local invoke` uses too."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from domain.records.app import AppLimits
from domain.records.connection import OnboardingLink
from domain.records.request import Tombstone
from domain.timestamps import timestamp
from domain.webhooks.ports import HttpResponse
from handlers.common.bootstrap import Services
from local.sam_local import samples
from local.template import Template
from tests.support.api_client import load
from tests.support.builders import (
    APP_ID,
    CONNECTION_ID,
    NOON,
    FixedClock,
    SequentialIds,
    counting_bytes,
)
from tests.support.fake_store import FakeStore
from tests.support.services import services_with, using
from tests.support.simulators import NotedSimulators

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from domain.webhooks.ports import AnyPlanned, Planned

EVENTS = Path(__file__).resolve().parents[3] / "events"
FUNCTIONS = {function.handler: function.handler.split(".")[1] for function in Template.load().functions()}
CALLS = {name: handler for handler, name in FUNCTIONS.items()} | {
    "web_connector_http_api": "handlers.web_connector.handler",  # an event of API Gateway's format 2.0
}
"""The events, by the name of their file, and the handler that each calls."""
REQUEST_ID = "b0000000-0000-4000-8000-000000000001"
HOOK = "https://shop.example/hooks/quickbooks"
KEY = "sk_" + "A" * 43

# The number of webhook attempts in the round of an event's record. Without an entry, the record still waits.
ENDED = {
    "redeliver_queued_request": 0,
    "redeliver_webhooks": 1,
    "deliver_webhook": 0,
    "retry_webhook": 1,
    "log_and_forget": 1,
}

TOKEN = f"{CONNECTION_ID}.{'A' * 43}"
LINK = OnboardingLink(sha256(TOKEN.encode()).hexdigest(), timestamp(NOON), timestamp(NOON.replace(hour=20)))


class LambdaContext:
    """The context of an invocation."""

    def get_remaining_time_in_millis(self) -> int:
        """Return the remaining time."""
        return 60_000


@dataclass
class Receiver:
    """Takes every webhook."""

    urls: list[str] = field(default_factory=list)

    def post(self, url: str, headers: Mapping[str, str], body: bytes, timeout_seconds: float) -> HttpResponse:
        """Answer 200."""
        del headers, body, timeout_seconds
        self.urls.append(url)
        return HttpResponse(200, "thanks")


class NoRetries:
    """A queue that fails if an attempt is planned."""

    def plan(self, ticket: Planned) -> None:
        """Fail, because the receiver accepts every webhook."""
        raise AssertionError(f"nothing is to be tried again: {ticket}")

    def plan_all(self, planned_attempts: Sequence[AnyPlanned]) -> Mapping[AnyPlanned, Exception]:
        """Fail if there is an attempt."""
        for planned_attempt in planned_attempts:
            self.plan(planned_attempt)
        return {}


MOVED = {"code": "company_file_moved", "message": "The company file is open at another path.", "path": "D:\\acme.qbw"}


def filled_store(function: str) -> FakeStore:
    """Return a store with the records that the events mention."""
    store = FakeStore()
    samples.write(store, function, webhook_url=HOOK)
    if function == "log_and_forget":
        del store.records[REQUEST_ID]  # as time to live does
    return store


@pytest.fixture
def receiver(request: pytest.FixtureRequest) -> Iterator[Receiver]:
    """Put the functions in front of a filled store and a receiver that takes every webhook."""
    taking = Receiver()
    store = filled_store(request.node.callspec.params["function"])
    services = services_with(store, FixedClock(NOON.replace(minute=1)), sign_in=True)
    services.new_id, services.secrets = SequentialIds(), counting_bytes
    services.webhook_sender, services.retry_queue = taking, NoRetries()
    services.simulators = NotedSimulators()
    with using(services):
        yield taking


def test_there_is_one_event_for_each_function() -> None:
    events = {path.stem for path in EVENTS.iterdir()}
    assert events == set(CALLS), f"add or remove events of {sorted(events ^ set(CALLS))}"


@pytest.mark.parametrize(("function", "handler"), CALLS.items(), ids=CALLS)
def test_a_function_does_its_work_with_its_event(receiver: Receiver, handler: str, function: str) -> None:
    event = json.loads((EVENTS / f"{function}.json").read_text(encoding="utf-8"))

    result: dict[str, Any] | None = load(handler)(event, LambdaContext())

    match function:
        case "deliver_webhook" | "retry_webhook":
            assert result == {"batchItemFailures": []}
            assert receiver.urls == [HOOK]
        case "log_and_forget":
            assert result == {"batchItemFailures": []}
            assert isinstance(Services.current.store.request(REQUEST_ID), Tombstone)
        case "authorizer":
            assert result
            assert result["context"] == {
                "app_id": APP_ID,
                "scope": "full",
                "key_id": samples.API_KEY_ID,
                "key_family": samples.API_KEY_ID,
                "environment": "production",
                **asdict(AppLimits()),
            }
        case "operate":
            assert result
            assert result["name"] == "Shop"
        case "sign_in":
            assert result
            assert (result["statusCode"], result["multiValueHeaders"]["Location"]) == (
                303,
                ["https://queue.example.com/live/app/connections"],
            )
        case "method_not_allowed":
            assert result
            assert result["statusCode"] == 405
        case "sweep" | "pack_search_texts":
            assert result is None
        case _:
            assert result
            assert result["statusCode"] in {200, 201, 202, 204}
