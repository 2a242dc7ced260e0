"""Write the sample events of the convenience queries, which differ only in their names: `make generate`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from domain.queries import QUERIES

EVENTS = Path(__file__).resolve().parents[1] / "events"
CONNECTION = "c0000000-0000-4000-8000-000000000001"
APP = "a0000000-0000-4000-8000-000000000001"
PARAMETERS = {"max_returned": "5"}
HEADERS = {
    "Host": "queue.example.com",
    "X-Forwarded-Proto": "https",
    "User-Agent": "curl/8.5.0",
    "Accept": "*/*",
}


def query_event(name: str) -> dict[str, Any]:
    """Return an event of `GET /connections/{connection_id}/<name>`, as a REST API of API Gateway sends it."""
    resource, path = (f"/api/v1/connections/{connection}/{name}" for connection in ("{connection_id}", CONNECTION))
    return {
        "resource": resource,
        "path": path,
        "httpMethod": "GET",
        "headers": HEADERS,
        "multiValueHeaders": {name: [value] for name, value in HEADERS.items()},
        "queryStringParameters": PARAMETERS,
        "multiValueQueryStringParameters": {name: [value] for name, value in PARAMETERS.items()},
        "pathParameters": {"connection_id": CONNECTION},
        "stageVariables": None,
        "requestContext": {
            "accountId": "123456789012",
            "apiId": "a1b2c3d4e5",
            "authorizer": {"app_id": APP, "scope": "full", "principalId": APP},
            "domainName": "queue.example.com",
            "domainPrefix": "queue",
            "extendedRequestId": "JKJaXmPLvHcESHA=",
            "httpMethod": "GET",
            "identity": {"sourceIp": "203.0.113.7", "userAgent": "curl/8.5.0"},
            "path": f"/live{path}",
            "protocol": "HTTP/1.1",
            "requestId": "c6af9ac6-7b61-11e6-9a41-93e8deadbeef",
            "requestTime": "14/Mar/2026:12:00:00 +0000",
            "requestTimeEpoch": 1773489600000,
            "resourceId": "0nsolv",
            "resourcePath": resource,
            "stage": "live",
        },
        "body": None,
        "isBase64Encoded": False,
    }


def text_of(name: str) -> str:
    """Return the contents of the event's file."""
    return json.dumps(query_event(name), indent=2) + "\n"


if __name__ == "__main__":
    for query in QUERIES:
        (EVENTS / f"query_{query}.json").write_text(text_of(query), encoding="utf-8")
