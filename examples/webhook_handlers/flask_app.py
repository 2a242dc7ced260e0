"""A receiver in Flask: `flask --app flask_app run --port 3001`."""

import os

from flask import Flask
from qbxml_queue import Event
from qbxml_queue.receivers.flask import webhook

app = Flask(__name__)


@app.post("/webhooks/quickbooks")
@webhook(os.environ["WEBHOOK_SECRET"])
def store(event: Event, webhook_id: str) -> None:
    print(webhook_id, event["type"], flush=True)
