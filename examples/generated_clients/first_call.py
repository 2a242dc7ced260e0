"""Queue a request and read its response with a client that openapi-python-client has generated.

Usage:
    openapi-python-client generate --path docs/openapi.json --meta none --output-path qbxml_queue_client
    PYTHONPATH=. python3 examples/generated_clients/first_call.py
"""

from __future__ import annotations

import base64
import os
import sys
import time
from uuid import UUID, uuid4

from qbxml_queue_client import AuthenticatedClient
from qbxml_queue_client.api.queued_requests import create_queued_request, get_queued_request
from qbxml_queue_client.models import Error, NewJsonRequest, NewRequestNode, NewRequestTree, State

if missing := [name for name in ("BASE_URL", "API_KEY", "CONNECTION_ID") if not os.environ.get(name)]:
    sys.exit(f"{missing[0]} is not set. In the folder of the project, run: set -a; . .local/env; set +a")

client = AuthenticatedClient(
    base_url=os.environ["BASE_URL"],
    token=base64.b64encode(f"{os.environ['API_KEY']}:".encode()).decode(),
    prefix="Basic",
)

query = NewRequestNode(name="CustomerQueryRq", children=[NewRequestNode(name="MaxReturned", text=2)])
queued = create_queued_request.sync(
    UUID(os.environ["CONNECTION_ID"]),
    client=client,
    body=NewJsonRequest(request_json=NewRequestTree(request=query)),
    idempotency_key=str(uuid4()),
)
assert queued, "no response"
assert not isinstance(queued, Error), queued
record = queued.data
print(record.request_name, record.state)

while record.state not in {State.RESPONSE_RECEIVED, State.ERROR, State.DISCARDED}:
    time.sleep(0.5)
    answer = get_queued_request.sync(record.id, client=client)
    assert answer, "no response"
    assert not isinstance(answer, Error), answer
    record = answer.data

print(record.state)
assert record.response_json
response = record.response_json[0].to_dict()["QBXMLMsgsRs"]["CustomerQueryRs"]
for customer in response["CustomerRet"]:
    print(customer["ListID"], customer["FullName"])
