"""Clients of AWS for tests, which share a session."""

from __future__ import annotations

from functools import cache
from typing import Any

import boto3
import moto.core  # noqa: F401 - see below

import local.emulated_dynamodb  # noqa: F401 - a session has the handlers that were registered before it


@cache
def session() -> Any:
    """Return the session. A new one reads the models of the services again, which takes a tenth of a second."""
    return boto3.Session()


def client(service: str, *arguments: Any, **options: Any) -> Any:
    """Return a new client, with the arguments of `boto3.client`."""
    return session().client(service, *arguments, **options)
