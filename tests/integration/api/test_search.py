"""The search for whole values in all connections, through the functions."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest

from domain.listing.overview import MAX_CONNECTIONS
from domain.listing.value_search import MAX_HITS, Hit, Unsearched, UnsearchedConnection, ValueReport
from domain.records.app import AppLimits
from domain.records.request import RequestError
from domain.storage.changes import AddRequest, ChangeRequest, Put
from domain.timestamps import timestamp
from domain.whole_values import MatchedAs, marked
from handlers.views.search import search
from tests.support.builders import (
    CONNECTION_ID,
    NOON,
    OTHER_APP_ID,
    REQUEST_XML,
    a_connection,
    a_record,
)
from tests.support.qbxml_samples import STATUS_OK, response_xml

if TYPE_CHECKING:
    from tests.integration.api.conftest import Deployment

PATH = "/api/v1/search"
OTHER = "c0000000-0000-4000-8000-0000000000ff"
QUEUED_REQUESTS = f"/api/v1/connections/{CONNECTION_ID}/queued_requests"


def found(deployment: Deployment, value: str, **query: Any) -> dict[str, Any]:
    """Return the data of the answer."""
    rest = "".join(f"&{name}={quote(str(one))}" for name, one in query.items())
    response = deployment.api.call("GET", f"{PATH}?value={quote(value)}{rest}")
    assert response.status == 200, response.json
    data: dict[str, Any] = response.json["data"]
    return data


def queue_an_invoice(deployment: Deployment) -> str:
    """Queue an invoice through the API, and return its id."""
    invoice = {"CustomerRef": {"FullName": "Kristy Abercrombie"}, "RefNumber": "A-1042", "Memo": "Repair"}
    body = {"request_json": {"InvoiceAddRq": {"InvoiceAdd": invoice}}, "label": "Nightly Sync"}
    response = deployment.api.call("POST", QUEUED_REQUESTS, body)
    assert response.status == 201, response.json
    return str(response.json["data"]["id"])


@pytest.mark.parametrize(
    ("value", "matched"),
    [
        ("nightly sync", ["label"]),
        (" NIGHTLY  Sync ", ["label"]),
        ("a-1042", ["number"]),
        ("kristy abercrombie", ["name"]),
        ("Kristy", None),
        ("1042", None),
        ("Repair", None),
        ("InvoiceAddRq", None),
    ],
)
def test_a_request_is_found_by_its_whole_values(deployment: Deployment, value: str, matched: list[str] | None) -> None:
    request_id = queue_an_invoice(deployment)

    data = found(deployment, value)

    assert [(hit["id"], hit["connection_id"], hit["matched"]) for hit in data["hits"]] == (
        [(request_id, CONNECTION_ID, matched)] if matched else []
    )
    assert (data["next"], data["unsearched_connections"], data["omitted_connections"]) == (None, [], 0)


def test_a_hit_says_what_the_request_is(deployment: Deployment) -> None:
    request_id = queue_an_invoice(deployment)

    (hit,) = found(deployment, "a-1042")["hits"]

    assert hit == {
        "id": request_id,
        "connection_id": CONNECTION_ID,
        "connection_name": hit["connection_name"],
        "matched": ["number"],
        "request_name": "InvoiceAddRq",
        "subject": "Kristy Abercrombie · A-1042 · Repair",
        "label": "Nightly Sync",
        "state": "waiting",
        "awaits_approval": False,
        "executed": None,
        "cause": None,
        "message": None,
        "inserted_at": hit["inserted_at"],
    }


def test_a_response_adds_its_values_once_it_is_stored(deployment: Deployment) -> None:
    """A response can be stored without its transaction. Then its values are not those of the request."""
    body = "<InvoiceRet><TxnID>8-77</TxnID><CustomerRef><FullName>Kristy</FullName></CustomerRef></InvoiceRet>"
    response = response_xml(f"<InvoiceAddRs {STATUS_OK}>{body}</InvoiceAddRs>")
    record = a_record(app_id=deployment.app_id)
    sent = record.claimed("", NOON).sent(NOON).as_change_of(record)
    deployment.store.commit(AddRequest(record, REQUEST_XML, ""))
    deployment.store.commit(ChangeRequest(record, sent, search_text=marked(MatchedAs.NUMBER, "8-77")))
    bodies = deployment.store.bodies[record.id]
    deployment.store.bodies[record.id] = replace(bodies, response_xml=response)

    assert found(deployment, "8-77")["hits"] == []

    ended = sent.changed(NOON)
    deployment.store.commit(ChangeRequest(sent, replace(ended, response_size=len(response)), response_xml=response))
    assert [hit["id"] for hit in found(deployment, "8-77")["hits"]] == [record.id]


def test_pages_continue_where_the_last_one_ended(deployment: Deployment) -> None:
    deployment.store.commit(Put(None, a_connection(id=OTHER, app_id=OTHER_APP_ID)))
    ids = []
    for number in range(5):
        moment = timestamp(NOON - timedelta(minutes=number // 2))
        record = a_record(app_id=deployment.app_id, inserted_at=moment)
        ids.append((moment, record.id))
        deployment.store.commit(AddRequest(record, REQUEST_XML, marked(MatchedAs.NAME, "ann")))
    stranger = a_record(app_id=OTHER_APP_ID, connection_id=OTHER)
    deployment.store.commit(AddRequest(stranger, REQUEST_XML, marked(MatchedAs.NAME, "ann")))

    first = found(deployment, "Ann", limit=3)
    rest = found(deployment, "Ann", limit=3, cursor=first["next"])

    hits = [(hit["inserted_at"], hit["id"]) for hit in first["hits"] + rest["hits"]]
    assert hits == sorted(ids, reverse=True)
    assert (len(first["hits"]), rest["next"]) == (3, None)


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("", "value"),
        ("?value=", "value"),
        ("?value=%20%E2%80%83", "value"),
        (f"?value={'x' * 210}", "value"),
        ("?value=1042&cursor=2026", "cursor"),
        ("?value=1042&cursor=%2D%2D%2D%2D-14T12:00:00.000000Z~c0000000-0000-4000-8000-000000000001", "cursor"),
        ("?value=1042&limit=101", "limit"),
    ],
)
def test_a_search_for_no_value_or_from_no_place_is_refused(deployment: Deployment, query: str, field: str) -> None:
    response = deployment.api.call("GET", PATH + query)

    assert response.status == 400
    assert response.json["error"]["details"]["problems"][0]["field"] == field


def test_the_longest_full_name_is_a_value(deployment: Deployment) -> None:
    assert found(deployment, ":".join(["x" * 41] * 5))["hits"] == []


def test_a_search_counts_as_one(deployment: Deployment) -> None:
    statuses = {
        deployment.api.call("GET", f"{PATH}?value=1042").status for _ in range(AppLimits().searches_per_minute + 1)
    }

    assert statuses == {200, 429}


def test_the_largest_answer_fits_into_a_response_of_a_function() -> None:
    connection = a_connection(name="é" * 200)
    error = RequestError("quickbooks_error", "é" * 10_000, {"status_code": 3170})
    record = a_record(label="é" * 50, subject="é" * 40, error=error)
    report = ValueReport(
        [Hit(connection, record, list(MatchedAs))] * MAX_HITS,
        (record.inserted_at, record.id),
        [UnsearchedConnection(connection, record.inserted_at, Unsearched.TIME)] * MAX_CONNECTIONS,
    )

    assert len(json.dumps(search(report)).encode()) < 3_000_000
