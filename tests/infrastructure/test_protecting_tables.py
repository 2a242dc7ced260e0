"""`make deploy` protects the tables of a new stack by a second change set, whatever happens to its calls."""

from __future__ import annotations

import boto3
import pytest
from botocore.stub import ANY, Stubber

from local import change_sets, deploy

ARN = "arn:aws:cloudformation:us-east-1:123456789012:changeSet/protect-tables/1"
STACK = {
    "StackName": "books",
    "CreationTime": "2026-11-28T08:00:00Z",
    "StackStatus": "CREATE_COMPLETE",
    "EnableTerminationProtection": True,
    "Parameters": [{"ParameterKey": "ProtectTables", "ParameterValue": "false"}],
}


@pytest.mark.parametrize("response", ["arrives", "is lost"])
def test_the_change_set_is_executed_also_if_the_response_to_its_creation(
    response: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    executed: list[str] = []
    monkeypatch.setattr(change_sets, "execute", lambda _client, name, _show: executed.append(name))
    client = boto3.client("cloudformation", "us-east-1", aws_access_key_id="x", aws_secret_access_key="x")
    with Stubber(client) as stub:
        stub.add_response("describe_stacks", {"Stacks": [STACK]})
        if response == "arrives":
            stub.add_response("create_change_set", {"Id": ARN})
        else:  # botocore repeats the call, and CloudFormation has the change set already
            stub.add_client_error("create_change_set", "AlreadyExistsException")
        stub.add_response("describe_change_set", {"ChangeSetId": ARN}, {"StackName": "books", "ChangeSetName": ANY})
        stub.add_response("describe_change_set", {"Status": "CREATE_COMPLETE"}, {"ChangeSetName": ARN})

        deploy.protect(client, "books")

        stub.assert_no_pending_responses()
    assert executed == [ARN]
