"""The queues of the local stack keep every message, and are fair between message groups."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest
from moto import mock_aws

from local.emulated_queues import emulated_queues
from tests.support import clients

if TYPE_CHECKING:
    from collections.abc import Iterator


class QueueUnderTest:
    """A queue of the local stack."""

    def __init__(self) -> None:
        self.client = clients.client("sqs", "us-east-1", aws_access_key_id="none", aws_secret_access_key="none")
        self.url = self.client.create_queue(QueueName="retries")["QueueUrl"]

    def send(self, body: str, group: str = "app") -> None:
        """Send a message."""
        self.client.send_message(QueueUrl=self.url, MessageBody=body, MessageGroupId=group)

    def receive(self, number: int = 10) -> list[dict[str, Any]]:
        """Return the next messages, which are in flight then."""
        messages: list[dict[str, Any]] = self.client.receive_message(QueueUrl=self.url, MaxNumberOfMessages=number).get(
            "Messages", []
        )
        return messages

    def delete(self, message: dict[str, Any]) -> None:
        """Delete a message."""
        self.client.delete_message(QueueUrl=self.url, ReceiptHandle=message["ReceiptHandle"])


@pytest.fixture
def queue() -> Iterator[QueueUnderTest]:
    with mock_aws(), emulated_queues():
        yield QueueUnderTest()


def test_messages_that_are_sent_while_others_are_deleted_are_kept(queue: QueueUnderTest) -> None:
    for number in range(100):
        queue.send(f"before {number}")

    def send_more() -> None:
        for number in range(100):
            queue.send(f"meanwhile {number}")

    sender = threading.Thread(target=send_more)
    sender.start()
    bodies = set()
    while (messages := queue.receive()) or sender.is_alive():
        for message in messages:
            bodies.add(message["Body"])
            queue.delete(message)

    assert len(bodies) == 200


def test_the_group_with_fewer_messages_in_flight_is_served_first(queue: QueueUnderTest) -> None:
    for number in range(30):
        queue.send(f"noisy {number}", "noisy")
    in_flight = queue.receive()
    queue.send("quiet", "quiet")

    assert queue.receive(1)[0]["Body"] == "quiet"
    assert queue.receive(1)[0]["Body"] == "noisy 10"
    for message in in_flight:
        queue.delete(message)
