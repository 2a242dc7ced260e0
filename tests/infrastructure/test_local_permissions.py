"""The local stack refuses calls that the role of a function does not allow, as AWS does."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import ClientError
from moto import mock_aws

from local import first_steps, stack
from local.emulated_dynamodb import emulated_dynamodb
from local.permissions import PermittedClient, permissions_of
from local.programs import ROOT
from local.tables import make_tables
from local.template import Template
from tests.support import clients

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

REQUEST = {"request_json": {"request": {"name": "CustomerQueryRq"}}}

KEY = {"id": {"S": "a"}}


def statuses_of_create(folder: Path, old: str, new: str) -> list[int]:
    """Return the statuses of a create and of its repetition, with `old` replaced by `new` in the role."""
    text = (ROOT / "template.yaml").read_text(encoding="utf-8")
    before, role = text.split("  RequestCreatingRole:\n")
    assert old in role
    path = folder / "template.yaml"
    path.write_text(before + "  RequestCreatingRole:\n" + role.replace(old, new, 1), encoding="utf-8")
    with stack.running(template_path=path) as service:
        who = first_steps.prepare(service.base_url, service.operator, folder)
        api = first_steps.Api(who.base_url, who.api_key)
        url = f"/api/v1/connections/{who.connection_id}/queued_requests"
        headers = {"Idempotency-Key": str(uuid.uuid4())}
        return [api.request("POST", url, REQUEST, headers).status for _ in range(2)]


@pytest.mark.parametrize(
    ("permissions", "statuses"),
    [
        ('["dynamodb:BatchGetItem", "dynamodb:ConditionCheckItem", "dynamodb:GetItem"]', [500, 500]),
        ('"dynamodb:BatchGetItem", "dynamodb:ConditionCheckItem"', [201, 500]),
    ],
)
def test_a_create_fails_when_its_role_lacks_a_permission(
    tmp_path: Path, permissions: str, statuses: list[int], caplog: pytest.LogCaptureFixture
) -> None:
    """In the second case, only a repeated create needs the permission that is missing."""
    replacement = '["dynamodb:GetItem"]' if permissions.startswith("[") else '"dynamodb:ConditionCheckItem"'

    assert statuses_of_create(tmp_path, permissions, replacement) == statuses

    assert "is not authorized to perform: dynamodb:" in caplog.text


@pytest.fixture
def client() -> Iterator[PermittedClient]:
    """Yield a client of DynamoDB for the function that looks up API keys."""
    template = Template.load(ROOT / "template.yaml")
    (authorizer,) = (function for function in template.functions() if function.handler == "handlers.authorizer.handler")
    with emulated_dynamodb(), mock_aws():
        database = clients.client("dynamodb", region_name="us-east-1")
        make_tables(database, "")
        yield PermittedClient(database, authorizer, permissions_of(template, authorizer))


def test_a_permitted_call_is_made(client: PermittedClient) -> None:
    assert "Item" not in client.get_item(TableName="AppsTable", Key=KEY)


@pytest.mark.parametrize(
    ("method", "parameters", "action", "resource"),
    [
        ("get_item", {"TableName": "ConnectionsTable", "Key": KEY}, "GetItem", "ConnectionsTable"),
        ("put_item", {"TableName": "AppsTable", "Item": KEY}, "PutItem", "AppsTable"),
        ("query", {"TableName": "AppsTable", "IndexName": "keys_of_app"}, "Query", "AppsTable/index/keys_of_app"),
        ("batch_get_item", {"RequestItems": {"UsagesTable": {"Keys": [KEY]}}}, "BatchGetItem", "UsagesTable"),
        (
            "transact_write_items",
            {"TransactItems": [{"ConditionCheck": {"TableName": "AppsTable", "Key": KEY}}]},
            "ConditionCheckItem",
            "AppsTable",
        ),
    ],
)
def test_another_action_table_or_index_is_refused_in_the_words_of_aws(
    client: PermittedClient, method: str, parameters: dict[str, Any], action: str, resource: str
) -> None:
    with pytest.raises(ClientError) as caught:
        getattr(client, method)(**parameters)

    assert caught.value.response["Error"] == {
        "Code": "AccessDeniedException",
        "Message": "User: arn:aws:sts::123456789012:assumed-role/AuthorizingRole/AuthorizerFunction is not authorized "
        f"to perform: dynamodb:{action} on resource: arn:aws:dynamodb:us-east-1:123456789012:table/{resource} "
        f"because no identity-based policy allows the dynamodb:{action} action",
    }


def test_a_queue_that_the_role_does_not_name_is_refused() -> None:
    template = Template.load(ROOT / "template.yaml")
    (function,) = (
        function for function in template.functions() if function.handler == "handlers.deliver_webhook.handler"
    )
    with mock_aws():
        sqs = PermittedClient(
            clients.client("sqs", region_name="us-east-1"), function, permissions_of(template, function)
        )

        with pytest.raises(ClientError, match=r"\(AccessDenied\).*sqs:SendMessage on resource: .*:OtherQueue "):
            sqs.send_message(QueueUrl="https://sqs.us-east-1.amazonaws.com/123456789012/OtherQueue", MessageBody="x")
