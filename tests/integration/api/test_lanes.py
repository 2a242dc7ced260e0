"""`priority` of calls that queue: what it accepts, what the record shows, and what a first use marks."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from domain.queries.tables import QUERIES
from domain.records.request import QueuedRequest, State
from domain.records.session import Session
from domain.storage.changes import Put
from domain.timestamps import timestamp
from tests.support.builders import CONNECTION_ID, NOON, REQUEST_XML

if TYPE_CHECKING:
    from tests.integration.api.conftest import Deployment

LOW = {"request_xml": REQUEST_XML, "priority": "low"}
ITERATED = {"CustomerQueryRq": {"@iterator": "Start", "MaxReturned": 10}}


def queued(deployment: Deployment, body: dict[str, Any], path: str = "", **headers: str) -> list[dict[str, Any]]:
    """Queue requests and return their records."""
    answer = deployment.api.call("POST", deployment.requests_url + path, body, headers=headers)
    assert answer.status in {200, 201}, answer.json
    data = answer.json["data"]
    return data if isinstance(data, list) else [data]


def test_a_request_is_in_the_normal_lane_unless_it_says_otherwise(deployment: Deployment) -> None:
    records = [
        *queued(deployment, {"request_xml": REQUEST_XML}),
        *queued(deployment, {"request_xml": REQUEST_XML, "priority": "normal"}),
        *queued(deployment, LOW),
        *queued(deployment, {"requests": [{"request_xml": REQUEST_XML}] * 2, "priority": "low"}, "/batch"),
    ]

    assert [record["priority"] for record in records] == ["normal", "normal", "low", "low", "low"]
    listed = deployment.api.call("GET", f"{deployment.requests_url}?sort=inserted_at&sort_direction=asc").json["data"]
    assert [record["priority"] for record in listed] == [record["priority"] for record in records]


def test_only_the_first_request_of_the_low_lane_marks_the_connection_and_its_live_session(
    deployment: Deployment,
) -> None:
    session = Session("0" * 64, CONNECTION_ID, timestamp(NOON))
    connection = deployment.store.connections[CONNECTION_ID]
    deployment.store.commit(
        Put(None, session), Put(connection, replace(connection, session_id=session.id).changed(timestamp(NOON)))
    )
    queued(deployment, {"request_xml": REQUEST_XML})
    assert not deployment.store.connections[CONNECTION_ID].has_low_lane

    queued(deployment, LOW)
    marked = deployment.store.connections[CONNECTION_ID], deployment.store.sessions[session.id]
    queued(deployment, LOW)

    assert marked[0].has_low_lane
    assert marked[1].limits.has_low_lane
    assert (deployment.store.connections[CONNECTION_ID], deployment.store.sessions[session.id]) == marked


@pytest.mark.parametrize(
    "body",
    [
        {"request_json": ITERATED, "priority": "low"},
        {"request_json": {"CustomerQueryRq": {}}, "iterate": "auto", "priority": "low"},
    ],
)
@pytest.mark.parametrize("in_batch", [False, True])
def test_an_iterated_query_is_refused_with_the_way_to_cut_it(
    deployment: Deployment, body: dict[str, Any], *, in_batch: bool
) -> None:
    request = {name: value for name, value in body.items() if name != "priority"}
    call = {"requests": [{"request_xml": REQUEST_XML}, request], "priority": "low"} if in_batch else body

    answer = deployment.api.call("POST", deployment.requests_url + ("/batch" if in_batch else ""), call)

    (problem,) = answer.json["error"]["details"]["problems"]
    assert (answer.status, problem["field"]) == (400, "priority")
    assert "ModifiedDateRangeFilter" in problem["message"]
    assert problem.get("index") == (1 if in_batch else None)
    assert not deployment.store.connections[CONNECTION_ID].has_low_lane


@pytest.mark.parametrize("name", QUERIES)
@pytest.mark.parametrize("priority", ["normal", "low"])
def test_a_convenience_query_takes_a_priority(deployment: Deployment, name: str, priority: str) -> None:
    url = f"/api/v1/connections/{CONNECTION_ID}/{name}"

    answer = deployment.api.call("POST", f"{url}?priority={priority}")

    record = deployment.store.request(answer.json["data"]["id"])
    assert isinstance(record, QueuedRequest)
    assert (answer.status, record.is_low) == (202, priority == "low")
    assert record.paging.may_begin == (priority == "normal" and "MaxReturned" not in answer.json["data"]["request_xml"])
    assert deployment.store.connections[CONNECTION_ID].has_low_lane == record.is_low


@pytest.mark.parametrize("iterate", ["auto", "true", "never"])
def test_a_convenience_query_of_the_low_lane_is_not_iterated(deployment: Deployment, iterate: str) -> None:
    url = f"/api/v1/connections/{CONNECTION_ID}/customers?priority=low&iterate={iterate}"

    answer = deployment.api.call("POST", url)

    assert answer.status == (202 if iterate == "never" else 400)
    if answer.status == 400:
        (problem,) = answer.json["error"]["details"]["problems"]
        assert (problem["field"], "ModifiedDateRangeFilter" in problem["message"]) == ("priority", True)


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("", {"request_xml": REQUEST_XML, "priority": "high"}),
        ("/batch", {"requests": [{"request_xml": REQUEST_XML, "priority": "low"}]}),
    ],
)
def test_other_priorities_and_those_of_single_requests_of_a_batch_are_refused(
    deployment: Deployment, path: str, body: dict[str, Any]
) -> None:
    assert deployment.api.call("POST", deployment.requests_url + path, body).status == 400


def test_a_priority_belongs_to_what_an_idempotency_key_repeats(deployment: Deployment) -> None:
    (first,) = queued(deployment, {"request_xml": REQUEST_XML}, **{"Idempotency-Key": "a"})
    (same,) = queued(deployment, {"request_xml": REQUEST_XML, "priority": "normal"}, **{"Idempotency-Key": "a"})
    other = deployment.api.call("POST", deployment.requests_url, LOW, headers={"Idempotency-Key": "a"})

    assert (same["id"], other.status) == (first["id"], 409)


def test_every_copy_keeps_the_lane(deployment: Deployment) -> None:
    one, bulk, batch_first, batch_second = [
        *queued(deployment, LOW),
        *queued(deployment, LOW),
        *queued(
            deployment,
            {"requests": [{"ref": "a", "request_xml": REQUEST_XML}, {"request_xml": REQUEST_XML, "depends_on": ["a"]}]}
            | {"priority": "low"},
            "/batch",
        ),
    ]
    for record in (one, bulk, batch_first):
        deployment.refuse(record["id"])
    which = {"filter": {"ids": [bulk["id"]]}}

    copies = [
        deployment.api.call("POST", f"/api/v1/queued_requests/{one['id']}/queue_again").json["data"],
        *deployment.api.call(
            "POST", f"/api/v1/connections/{CONNECTION_ID}/batches/{batch_first['batch_id']}/continue", {}
        ).json["data"],
    ]
    assert deployment.api.call("POST", f"{deployment.requests_url}/queue_again", which).json["data"]["queued"] == 1

    assert [copy["priority"] for copy in copies] == ["low"] * 3
    assert batch_second["priority"] == "low"
    waiting = [record for record in deployment.store.queue_front(CONNECTION_ID, 100) if record.state is State.WAITING]
    assert {record.is_low for record in waiting} == {True}
    assert len(waiting) == 3


def test_a_bulk_discard_finds_new_requests_of_both_lanes(deployment: Deployment) -> None:
    queued(deployment, {"request_xml": REQUEST_XML, "label": "x"})
    queued(deployment, LOW | {"label": "x"})
    deployment.clock.advance(seconds=1)

    answer = deployment.api.call("POST", f"{deployment.requests_url}/discard", {"filter": {"label": "x"}})

    assert answer.json["data"]["discarded"] == 2
