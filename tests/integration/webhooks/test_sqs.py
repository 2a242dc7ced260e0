"""Planning attempts with a queue that checks its parameters as SQS does."""

from __future__ import annotations

from datetime import timedelta

from moto import mock_aws

from adapters.sqs import SqsRetryQueue, planned_attempt_of
from domain.webhooks.ports import Planned, PlannedAttempt
from tests.support import clients
from tests.support.builders import APP_ID, NOON, FixedClock


@mock_aws
def test_a_planned_attempt_is_received_from_the_queue() -> None:
    client = clients.client("sqs", "us-east-1", aws_access_key_id="none", aws_secret_access_key="none")
    url = client.create_queue(QueueName="retries")["QueueUrl"]
    queue = SqsRetryQueue(client, url, FixedClock())
    due = PlannedAttempt("11111111-1111-4111-8111-111111111111", APP_ID, 0, 1, "", NOON)

    queue.plan(due)
    queue.plan(PlannedAttempt(due.request_id, APP_ID, 0, 5, "", NOON + timedelta(hours=10)))

    # The second message is accepted with the longest possible delay and is not visible yet.
    messages = client.receive_message(QueueUrl=url, MaxNumberOfMessages=10)["Messages"]
    assert [planned_attempt_of(message["Body"]) for message in messages] == [due]


@mock_aws
def test_many_attempts_are_received_from_the_queue() -> None:
    client = clients.client("sqs", "us-east-1", aws_access_key_id="none", aws_secret_access_key="none")
    url = client.create_queue(QueueName="retries")["QueueUrl"]
    attempts = [PlannedAttempt(f"{number}", APP_ID, 0, 0, "", NOON) for number in range(25)]

    assert SqsRetryQueue(client, url, FixedClock()).plan_all(attempts) == {}

    received: set[Planned] = set()
    while messages := client.receive_message(QueueUrl=url, MaxNumberOfMessages=10).get("Messages"):
        received |= {planned_attempt_of(message["Body"]) for message in messages}
    assert received == set(attempts)
