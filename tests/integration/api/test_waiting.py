"""Calls that wait until a request has ended: `?wait=20` and `Prefer: wait=20`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from domain.errors import Unavailable
from domain.records.request import Paging, QueuedRequest, State
from domain.storage.changes import AddRequest, RemoveRequest
from domain.timestamps import timestamp
from handlers.common.settings import Settings
from tests.support.builders import APP_ID, CONNECTION_ID, NOON, REQUEST_XML, RESPONSE_XML, a_record
from tests.support.services import ENVIRONMENT

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.integration.api.conftest import Deployment

CUSTOMERS = f"/api/v1/connections/{CONNECTION_ID}/customers"


def when_paused(deployment: Deployment, seconds: float, event: Callable[[], object]) -> None:
    """Let something happen when calls have paused for this long in all. Pauses move the clock."""
    happened: list[bool] = []

    def pause(duration: float) -> None:
        deployment.clock.advance(seconds=duration)
        if not happened and (deployment.clock() - NOON).total_seconds() >= seconds:
            happened.append(True)
            event()

    deployment.services.pause = pause


def seconds(deployment: Deployment) -> float:
    """Return for how long calls have paused."""
    return (deployment.clock() - NOON).total_seconds()


def the_record(deployment: Deployment) -> QueuedRequest:
    """Return the only record."""
    (record,) = deployment.store.records.values()
    assert isinstance(record, QueuedRequest)
    return record


def ends_it(deployment: Deployment) -> Callable[[], object]:
    """Return the function that ends the only request."""
    return lambda: deployment.end(the_record(deployment).id)


def test_a_call_to_get_a_request_waits_until_it_has_ended(deployment: Deployment) -> None:
    queued = deployment.queue()
    when_paused(deployment, 3, ends_it(deployment))

    by_id = deployment.api.call("GET", f"/api/v1/queued_requests/{queued['id']}?wait=20&include[]=result")

    assert (by_id.status, by_id.json["data"]["state"]) == (200, "response_received")
    assert by_id.json["data"]["result"]
    assert 3 <= seconds(deployment) < 5
    assert deployment.store.leases == {}


@pytest.mark.parametrize(("wait_for", "least", "most"), [("page", 0, 0), ("query", 3, 5), (None, 3, 5)])
def test_a_call_waits_for_one_page_or_for_the_last_one(
    deployment: Deployment, wait_for: str | None, least: float, most: float
) -> None:
    app_id = deployment.app_id
    first = a_record(app_id=app_id, state=State.RESPONSE_RECEIVED, paging=Paging(continued=True))
    second = a_record(app_id=app_id, paging=Paging(2, first.id))
    deployment.store.commit(AddRequest(first, REQUEST_XML, ""))
    deployment.store.commit(AddRequest(second, REQUEST_XML, ""))
    when_paused(deployment, 3, lambda: deployment.end(second.id))
    chosen = "" if wait_for is None else f"&wait_for={wait_for}"

    answer = deployment.api.call("GET", f"/api/v1/queued_requests/{first.id}?wait=20{chosen}")

    assert (answer.status, answer.json["data"]["page"]) == (200, 1)
    assert least <= seconds(deployment) <= most


def test_an_unknown_thing_to_wait_for_is_refused(deployment: Deployment) -> None:
    queued = deployment.queue()

    answer = deployment.api.call("GET", f"{queued['links']['self']}?wait=20&wait_for=pages")

    assert (answer.status, answer.problem["field"]) == (400, "wait_for")


def test_a_call_is_answered_with_the_record_when_its_time_is_over(deployment: Deployment) -> None:
    queued = deployment.queue()
    when_paused(deployment, 100, lambda: None)

    answer = deployment.api.call("GET", f"{queued['links']['self']}?wait=7")

    assert (answer.status, answer.json["data"]["state"]) == (200, "waiting")
    assert seconds(deployment) == pytest.approx(7)


@pytest.mark.parametrize("prefer", ["wait=20", 'Wait = "20"', "respond-async, wait=20;why=because, wait=1"])
def test_a_create_waits_as_its_header_prefers(deployment: Deployment, prefer: str) -> None:
    when_paused(deployment, 3, ends_it(deployment))

    answer = deployment.api.call(
        "POST", deployment.requests_url, {"request_xml": REQUEST_XML}, headers={"prefer": prefer}
    )

    data = answer.json["data"]
    assert (answer.status, answer.headers["Preference-Applied"]) == (201, "wait=20")
    assert (data["state"], data["response_xml"], data["waiting_reason"]) == ("response_received", RESPONSE_XML, None)
    assert data["links"]["self"].startswith(f"/api/v1/connections/{CONNECTION_ID}/")
    assert 3 <= seconds(deployment) < 5


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_convenience_query_waits_as_its_header_prefers(deployment: Deployment, method: str) -> None:
    when_paused(deployment, 100, lambda: None)

    answer = deployment.api.call(method, CUSTOMERS, headers={"Prefer": "wait=5"})

    assert (answer.status, answer.headers["Preference-Applied"]) == (202, "wait=5")
    assert answer.json["data"]["state"] == "waiting"
    assert seconds(deployment) == pytest.approx(5)


def test_a_repeated_create_waits_for_the_first_request(deployment: Deployment) -> None:
    headers = {"Idempotency-Key": "order-17"}
    body = {"request_xml": REQUEST_XML}
    first = deployment.api.call("POST", deployment.requests_url, body, headers=headers)
    when_paused(deployment, 2, ends_it(deployment))

    repeated = deployment.api.call("POST", deployment.requests_url, body, headers=headers | {"Prefer": "wait=20"})
    later = deployment.api.call("POST", deployment.requests_url, body, headers=headers | {"Prefer": "wait=20"})

    assert "Preference-Applied" not in first.headers
    for answer in (repeated, later):
        assert (answer.status, answer.headers["Preference-Applied"]) == (200, "wait=20")
        assert answer.json["data"]["state"] == "response_received"
        assert answer.json["data"]["id"] == first.json["data"]["id"]
    assert seconds(deployment) < 4


@pytest.mark.parametrize("limit", [0, 2])
def test_above_the_limit_calls_are_answered_at_once(deployment: Deployment, limit: int) -> None:
    deployment.services.settings = Settings(ENVIRONMENT | {"MAX_WAITING_CALLS": str(limit)})
    when_paused(deployment, 100, lambda: None)
    queued = deployment.queue()
    leases = [deployment.services.waiting_calls._taken_lease(APP_ID) for _ in range(limit)]  # noqa: SLF001 - of calls elsewhere

    got = deployment.api.call("GET", f"{queued['links']['self']}?wait=20")
    created = deployment.api.call(
        "POST", deployment.requests_url, {"request_xml": REQUEST_XML}, headers={"Prefer": "wait=20"}
    )

    assert all(leases)
    assert (got.status, created.status) == (200, 201)
    assert "Preference-Applied" not in created.headers
    assert seconds(deployment) == 0


@pytest.mark.parametrize("wait", ["0", "21", "-1", "1.5", "x", "", "٣", "1_0", "9" * 5_000])
def test_a_wait_out_of_bounds_is_refused_and_nothing_is_queued(deployment: Deployment, wait: str) -> None:
    queued = deployment.queue()

    got = deployment.api.call("GET", f"{queued['links']['self']}?wait={wait}")
    created = deployment.api.call(
        "POST", deployment.requests_url, {"request_xml": REQUEST_XML}, headers={"Prefer": f"wait={wait}"}
    )
    query = deployment.api.call("POST", CUSTOMERS, headers={"Prefer": f"wait={wait}"})

    assert (got.status, created.status, query.status) == (400, 400, 400)
    assert [answer.problem["field"] for answer in (got, created, query)] == ["wait", "Prefer", "Prefer"]
    assert list(deployment.store.records) == [queued["id"]]


def test_a_create_without_the_preference_to_wait_does_not_wait(deployment: Deployment) -> None:
    for prefer in ("return=minimal", "", "waiting=20", "respond-async"):
        answer = deployment.api.call(
            "POST", deployment.requests_url, {"request_xml": REQUEST_XML}, headers={"Prefer": prefer}
        )
        assert (answer.status, "Preference-Applied" in answer.headers) == (201, False)


def a_failing_pause(_seconds: float) -> None:
    """Fail like the database does when a call of it cannot be made."""
    raise ConnectionError("no connection")


def test_a_create_whose_waiting_fails_is_answered_with_what_it_queued(
    deployment: Deployment, caplog: pytest.LogCaptureFixture
) -> None:
    deployment.services.pause = a_failing_pause

    answer = deployment.api.call(
        "POST", deployment.requests_url, {"request_xml": REQUEST_XML}, headers={"Prefer": "wait=20"}
    )

    assert (answer.status, answer.json["data"]["id"]) == (201, the_record(deployment).id)
    assert "Preference-Applied" not in answer.headers
    assert "fault" in caplog.messages


@pytest.mark.parametrize("fails", ["deleted", "unavailable"])
def test_a_create_whose_request_cannot_be_read_after_waiting_is_answered_with_what_it_queued(
    deployment: Deployment, fails: str
) -> None:
    def delete() -> None:
        deployment.store.commit(RemoveRequest(the_record(deployment), timestamp(NOON)))

    def break_down() -> None:
        raise Unavailable("The database did not respond.")

    when_paused(deployment, 1, delete if fails == "deleted" else break_down)

    answer = deployment.api.call(
        "POST", deployment.requests_url, {"request_xml": REQUEST_XML}, headers={"Prefer": "wait=20"}
    )

    assert (answer.status, answer.json["data"]["state"]) == (201, "waiting")


def test_a_request_that_is_deleted_while_a_call_waits_is_gone(deployment: Deployment) -> None:
    queued = deployment.queue()
    when_paused(deployment, 1, lambda: deployment.store.commit(RemoveRequest(the_record(deployment), timestamp(NOON))))

    answer = deployment.api.call("GET", f"{queued['links']['self']}?wait=20")

    assert answer.status == 410
    assert seconds(deployment) < 3


def test_a_stranger_does_not_wait(deployment: Deployment) -> None:
    queued = deployment.queue()
    when_paused(deployment, 100, lambda: None)

    answer = deployment.stranger.call("GET", f"/api/v1/queued_requests/{queued['id']}?wait=20")

    assert (answer.status, seconds(deployment)) == (404, 0)


def test_a_read_only_key_can_wait(deployment: Deployment) -> None:
    queued = deployment.queue()
    when_paused(deployment, 3, lambda: deployment.end(queued["id"], State.RESPONSE_RECEIVED))

    answer = deployment.readonly.call("GET", f"/api/v1/queued_requests/{queued['id']}?wait=20")

    assert answer.json["data"]["state"] == "response_received"
