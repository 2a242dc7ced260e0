r"""Queue a request, wait for it, read a page of the list and the events, with a client of openapi-generator.

Usage:
    openapi-generator-cli generate -i "$BASE_URL/openapi-3.0.json" -g python -o client \
        --additional-properties=packageName=queue30
    PYTHONPATH=client python3 examples/generated_clients/first_call_30.py
"""

from __future__ import annotations

import os
import sys
import time
from uuid import UUID, uuid4

from queue30 import (
    ApiClient,
    Configuration,
    EventsApi,
    QueuedRequestCompletedEvent,
    QueuedRequestInput,
    QueuedRequestsApi,
    State,
)

if missing := [name for name in ("BASE_URL", "API_KEY", "CONNECTION_ID") if not os.environ.get(name)]:
    sys.exit(f"{missing[0]} is not set. In the folder of the project, run: set -a; . .local/env; set +a")

connection_id = UUID(os.environ["CONNECTION_ID"])
configuration = Configuration(host=os.environ["BASE_URL"], username=os.environ["API_KEY"], password="")
requests, events = QueuedRequestsApi(ApiClient(configuration)), EventsApi(ApiClient(configuration))

query = QueuedRequestInput(request_json={"CustomerQueryRq": {"MaxReturned": 2}}, label="Python")
record = requests.create_queued_request(connection_id, query, idempotency_key=str(uuid4())).data
print(record.request_name, record.state.value)

ended = {State.RESPONSE_RECEIVED, State.ERROR, State.DISCARDED}
while record.state not in ended:
    record = requests.get_queued_request(record.id, wait=20).data
    if record.state not in ended:
        time.sleep(2)  # if too many calls wait, the service responds at once
print(record.state.value)
if record.state != State.RESPONSE_RECEIVED:
    sys.exit(record.error.message if record.error else "discarded")

assert record.response_json
for customer in record.response_json[0]["QBXMLMsgsRs"]["CustomerQueryRs"]["CustomerRet"]:
    print(customer["ListID"], customer["FullName"])

page = requests.list_queued_requests(connection_id, page=1, label="Python")
print(f"page {page.page}: {page.data[0].request_name}")

after, completed = None, None
while completed is None:
    feed = events.list_events(after=after, wait=20)
    for event in feed.data:
        found = event.actual_instance
        if isinstance(found, QueuedRequestCompletedEvent) and found.page_request_id == record.id:
            completed = found
    after = feed.next
print("event:", completed.label)
