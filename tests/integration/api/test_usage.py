"""Usage by month, through the functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from domain.records.app import AppLimits
from domain.storage.changes import AddRequest
from domain.timestamps import day_of, timestamp
from tests.support.builders import CONNECTION_ID, NOON, REQUEST_XML, a_record

if TYPE_CHECKING:
    from tests.integration.api.conftest import Deployment

PATH = "/api/v1/usage"
NONE = {"number": 0, "median_seconds": None, "p95_seconds": None}


def test_requests_are_the_same_before_and_after_they_were_moved_to_their_month(deployment: Deployment) -> None:
    for name in ("InvoiceAddRq", "InvoiceQueryRq"):
        record = a_record(app_id=deployment.app_id, request_name=name)
        deployment.store.commit(AddRequest(record, REQUEST_XML, ""))

    before = deployment.api.call("GET", PATH).json
    deployment.store.move_statistics(CONNECTION_ID, day_of(timestamp(NOON)))

    assert deployment.api.call("GET", PATH).json == before
    [connection] = before["data"].pop("connections")
    assert before["data"] == {
        "first_month": "2024-04",
        "last_month": "2026-03",
        "unread_connections": [],
        "omitted_connections": 0,
    }
    assert connection == {
        "id": CONNECTION_ID,
        "name": connection["name"],
        "months": [{"month": "2026-03", "requests": 2, "writes": 1, "failures": 0}],
        "waiting_time": NONE,
        "executing_time": NONE,
    }


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("?first_month=2026", "first_month"),
        ("?first_month=2026-13", "first_month"),
        ("?last_month=today", "last_month"),
        ("?first_month=2024-03", "first_month"),
        ("?first_month=2026-04", "first_month"),
        ("?first_month=2020-01&last_month=2022-01", "first_month"),
    ],
)
def test_months_that_are_none_or_too_many_are_refused(deployment: Deployment, query: str, field: str) -> None:
    response = deployment.api.call("GET", PATH + query)

    assert response.status == 400
    assert response.json["error"]["details"]["problems"][0]["field"] == field


@pytest.mark.parametrize("query", ["?first_month=2024-04", "?last_month=2021-12", "?first_month=2026-03"])
def test_up_to_two_years_are_returned(deployment: Deployment, query: str) -> None:
    assert deployment.api.call("GET", PATH + query).status == 200


def test_usage_counts_as_a_search(deployment: Deployment) -> None:
    """It reads every connection, so an app may not ask for it as often as for a record."""
    statuses = {deployment.api.call("GET", PATH).status for _ in range(AppLimits().searches_per_minute + 1)}

    assert statuses == {200, 429}
