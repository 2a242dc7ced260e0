"""Reaches the simulators of test connections: wakes them with SQS, and calls their function in Lambda."""

from __future__ import annotations

import json
import uuid
from typing import TYPE_CHECKING, Any

from domain.errors import TestConnectionsOff, Unavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


class LambdaSimulators:
    """Implements `Simulators`.

    `client` returns a client of botocore. `function` and `queue_url` return the names, which are empty without test
    connections. Both are called when they are needed: most functions need one of the two, and only for these.
    """

    def __init__(self, client: Callable[[str], Any], function: Callable[[], str], queue_url: Callable[[], str]) -> None:
        self._client = client
        self._function = function
        self._queue_url = queue_url

    def wake(self, connection_id: str) -> None:
        """Send a message. The connection is the message group: SQS gives its messages to one function at a time.

        Each message has an id of its own. With one for each connection, SQS would drop a message for five minutes.
        """
        queue_url = _present(self._queue_url())
        self._client("sqs").send_message(
            QueueUrl=queue_url,
            MessageBody=json.dumps({"connection_id": connection_id}),
            MessageGroupId=connection_id,
            MessageDeduplicationId=str(uuid.uuid4()),
        )

    def call(self, connection_id: str, operation: str, **arguments: Any) -> Mapping[str, Any]:
        """Invoke the function and wait for its result. Raises Unavailable if it fails, and TestConnectionsOff."""
        function = _present(self._function())
        event = {"operation": operation, "connection_id": connection_id, **arguments}
        response = self._client("lambda").invoke(FunctionName=function, Payload=json.dumps(event).encode())
        result = json.loads(response["Payload"].read())
        if "FunctionError" in response:
            raise Unavailable(f"The simulator failed ({result.get('errorType')}). Try again in a moment.")
        data: Mapping[str, Any] = result
        return data


def _present(name: str) -> str:
    if not name:
        raise TestConnectionsOff("This deployment has no test connections. Deploy it with TestConnections=on.")
    return name
