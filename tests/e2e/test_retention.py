"""An expired request: the database removes it, and the stream triggers the removal of its bodies."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from local import stack
from local.dynamodb_local import server as dynamodb_local
from local.first_steps import Api, prepare
from local.programs import free_ports
from tests.e2e.support import QUERY, eventually

if TYPE_CHECKING:
    from collections.abc import Iterator

    from local.first_steps import Credentials

LONG_AGO = "1750000000"
"""In Unix seconds."""


@pytest.fixture
def database() -> Iterator[str | None]:
    """Yield the endpoint of an empty DynamoDB Local, or None for the embedded database.

    DynamoDB Local checks 20 items of a table every 10 seconds, so the items of other tests would take minutes.
    """
    if jars := os.environ.get(dynamodb_local.JARS_VARIABLE):
        with dynamodb_local.running(Path(jars), free_ports(1)[0]) as endpoint:
            yield endpoint
    else:
        yield None


@pytest.fixture
def here(database: str | None, tmp_path: Path) -> Iterator[tuple[stack.Stack, Credentials]]:
    """Yield a stack in this process, with access to its database."""
    if os.environ.get("STACK"):
        pytest.skip("the database of a given stack is out of reach")
    with stack.running(dynamodb_endpoint=database) as running:
        yield running, prepare(running.base_url, running.operator, tmp_path)


def test_an_expired_request_is_removed_with_its_bodies_and_counts(here: tuple[stack.Stack, Credentials]) -> None:
    local_stack, credentials = here
    dynamodb: Any = local_stack.clients["dynamodb"]
    api = Api(local_stack.base_url, credentials.api_key)
    path = f"/api/v1/connections/{credentials.connection_id}/queued_requests"
    old, other = (api.call("POST", path, {"request_json": QUERY})["data"]["id"] for _ in range(2))
    for request_id in (old, other):
        api.call("POST", f"/api/v1/queued_requests/{request_id}/discard")

    # DynamoDB Local removes an expired item only if every index of its table contains it. DynamoDB has no such rule.
    item = dynamodb.get_item(TableName="QueuedRequestsTable", Key={"id": {"S": old}})["Item"]
    keys_of_indexes = {
        definition["AttributeName"]: {"S": "x"} if definition["AttributeType"] == "S" else {"N": LONG_AGO}
        for definition in dynamodb.describe_table(TableName="QueuedRequestsTable")["Table"]["AttributeDefinitions"]
    }
    dynamodb.put_item(TableName="QueuedRequestsTable", Item={**keys_of_indexes, **item, "expires_at": {"N": LONG_AGO}})

    eventually(lambda: api.request("GET", f"/api/v1/queued_requests/{old}").status, lambda status: status == 410)
    page = api.call("GET", f"{path}?page_size=1")
    assert ([request["id"] for request in page["data"]], page["total_pages"]) == ([other], 1)
    body = {"request_id": {"S": old}, "part": {"S": "body"}}
    # The marker stays until the packer removes the text from its search block (decision 0023). It holds no text.
    marker = dynamodb.get_item(TableName="PayloadsTable", Key=body)["Item"]
    assert set(marker) == {"request_id", "part", "connection_id", "inserted_at", "removed", "commit_id"}
