"""A receiver in Django: the URLs of a project."""

import os

from django.urls import path
from qbxml_queue import Event
from qbxml_queue.receivers.django import webhook


@webhook(os.environ["WEBHOOK_SECRET"])
def store(event: Event, webhook_id: str) -> None:
    print(webhook_id, event["type"], flush=True)


urlpatterns = [path("webhooks/quickbooks", store)]
