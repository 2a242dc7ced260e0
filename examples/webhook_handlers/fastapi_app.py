"""A receiver in FastAPI: `uvicorn fastapi_app:app --port 3001`."""

import os

from fastapi import FastAPI
from qbxml_queue import Event
from qbxml_queue.receivers.fastapi import webhook

app = FastAPI()


@app.post("/webhooks/quickbooks")
@webhook(os.environ["WEBHOOK_SECRET"])
def store(event: Event, webhook_id: str) -> None:
    print(webhook_id, event["type"], flush=True)
