"""HEAD returns the status and the headers of GET without the body, wherever GET only reads."""

from __future__ import annotations

import json
from typing import Any

import pytest

from handlers.method_not_allowed import methods
from tests.integration.api.test_events import EVENTS, FUNCTIONS, LambdaContext, filled_store
from tests.support.api_client import load, routes
from tests.support.builders import NOON, FixedClock
from tests.support.services import services_with, using
from tests.support.simulators import NotedSimulators

CALLED_BY_MACHINES = {"/qbwc", "/onboarding/connection", "/onboarding/qwc", "/session/login", "/session/callback"}
"""Paths outside of `/api/v1` that only the Web Connector, the onboarding page and an identity provider lead to."""

HEADS = [route for route in routes() if route.method == "HEAD"]


def call(handler: str, **changes: str) -> dict[str, Any]:
    """Return the response of a function to its sample event with these changes."""
    function = FUNCTIONS[handler]
    event = json.loads((EVENTS / f"{function}.json").read_text(encoding="utf-8"))
    with using(services_with(filled_store(function), FixedClock(NOON))) as services:
        services.simulators = NotedSimulators()
        response: dict[str, Any] = load(handler)(event | changes, LambdaContext())
    return response


@pytest.mark.parametrize("handler", sorted({route.handler for route in HEADS}))
def test_head_is_get_without_the_body(handler: str) -> None:
    got, head = call(handler, httpMethod="GET"), call(handler, httpMethod="HEAD")

    assert got["statusCode"] == 200
    assert got["body"]
    assert head == {**got, "body": "", "isBase64Encoded": False}


def test_head_of_what_does_not_exist_has_the_status_of_get() -> None:
    unknown = {"path": "/api/v1/connections/c0000000-0000-4000-8000-0000000000ff"}
    parameters = {"pathParameters": {"connection_id": unknown["path"].rpartition("/")[2]}}
    responses = [
        call("handlers.get_connection.handler", **unknown, **parameters, httpMethod=method)  # type: ignore[arg-type]
        for method in ("GET", "HEAD")
    ]

    assert [(response["statusCode"], bool(response["body"])) for response in responses] == [(404, True), (404, False)]


def test_every_get_that_only_reads_has_a_head() -> None:
    queueing = {path for path, names in methods().items() if "GET" in names and "HEAD" not in names}
    reading = {route.path for route in routes() if route.method == "GET"} - queueing - CALLED_BY_MACHINES

    assert {route.path for route in HEADS} == reading
    assert {path.rpartition("/")[2] for path in queueing} == {
        "customers", "invoices", "items", "sales_orders", "vendors",
    }  # fmt: skip


def test_the_header_allow_names_head() -> None:
    path = "/api/v1/connections"

    response = call("handlers.method_not_allowed.handler", resource=path, path=path, httpMethod="PUT")

    assert response["headers"]["Allow"] == "GET, HEAD, POST"
