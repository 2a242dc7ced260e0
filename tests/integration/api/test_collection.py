"""The collection for Postman and Bruno calls the API as it is imported."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from handlers.serve_console import LOCAL_URL
from tests.support.builders import CONNECTION_ID
from tests.support.openapi import whole_document
from tools import postman

if TYPE_CHECKING:
    from tests.integration.api.conftest import Deployment

COLLECTION = json.loads(postman.TARGET.read_text(encoding="utf-8"))
REQUESTS = [item["request"] for folder in COLLECTION["item"] for item in folder["item"]]


def url_of(request: dict[str, Any], request_id: str) -> str:
    """Return the URL that is called, with the values of the variables."""
    url: str = request["url"]["raw"].removeprefix("{{base_url}}")
    query = [f"{each['key']}={each['value']}" for each in request["url"].get("query", ()) if not each.get("disabled")]
    path = url.replace("{{connection_id}}", CONNECTION_ID).replace("{{request_id}}", request_id)
    return "?".join(filter(None, (path, "&".join(query))))


def test_the_collection_is_up_to_date() -> None:
    assert postman.TARGET.read_text(encoding="utf-8") == postman.rendered(), "run make generate"


def test_it_has_every_operation_once() -> None:
    described = [(method, path) for method, path, _ in postman.operations(whole_document())]
    written = [(each["method"], "/" + "/".join(each["url"]["path"])) for each in REQUESTS]

    assert sorted(written) == sorted((method, path.replace("{", "{{").replace("}", "}}")) for method, path in described)


def test_every_optional_parameter_is_switched_off_and_has_an_example() -> None:
    pairs = [pair for each in REQUESTS for pair in (*each["header"], *each["url"].get("query", ()))]

    assert all(pair["value"] for pair in pairs)
    assert {pair["key"] for pair in pairs if not pair.get("disabled")} == {"Content-Type", "value"}


@pytest.mark.parametrize("request_", REQUESTS, ids=lambda each: f"{each['method']} {each['url']['raw']}")
def test_each_request_is_understood_as_imported(deployment: Deployment, request_: dict[str, Any]) -> None:
    request_id = deployment.queue()["id"]
    body = json.loads(request_["body"]["raw"]) if "body" in request_ else None

    response = deployment.api.call(request_["method"], url_of(request_, request_id), body)

    is_refused = response.status >= 400
    assert not is_refused or response.code in {"invalid_state", "not_found", "in_flight", "forbidden"}, response.text


def test_the_first_server_of_the_document_is_one_that_works() -> None:
    assert whole_document()["servers"][0]["url"] == LOCAL_URL
    assert COLLECTION["variable"][0] == {"key": "base_url", "value": LOCAL_URL}


def test_every_parameter_has_an_example() -> None:
    for method, path, operation in postman.operations(whole_document()):
        for parameter in operation.get("parameters", ()):
            assert parameter.get("example") not in (None, ""), f"{method} {path} {parameter['name']}"
