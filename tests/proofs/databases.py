"""The databases of the proofs: a store in memory, or the one at `DYNAMODB_ENDPOINT`."""

from __future__ import annotations

import os
import uuid
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

import boto3
from botocore.config import Config

from adapters.dynamodb import DynamoDBStore
from local.tables import drop_tables, make_tables

if TYPE_CHECKING:
    from collections.abc import Iterator

ENDPOINT = os.environ.get("DYNAMODB_ENDPOINT")

ATTEMPTS = 10
"""DynamoDB Local gives up when many threads wait for a lock; a client that retries often gets through."""

THREADS = 50


@cache
def client() -> Any:
    """Return a client of the endpoint."""
    return boto3.client(
        "dynamodb",
        endpoint_url=ENDPOINT,
        region_name="us-east-1",
        aws_access_key_id="local",
        aws_secret_access_key="local",
        config=Config(retries={"mode": "standard", "total_max_attempts": ATTEMPTS}, max_pool_connections=THREADS),
    )


@contextmanager
def new_dynamodb_store() -> Iterator[DynamoDBStore]:
    """Yield a store with new tables at the endpoint."""
    prefix = f"proof{uuid.uuid4().hex[:8]}-"
    try:
        yield DynamoDBStore(client(), make_tables(client(), prefix, with_stream=False))
    finally:
        drop_tables(client(), prefix)
