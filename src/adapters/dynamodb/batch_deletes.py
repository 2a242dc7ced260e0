"""Deletes many items in parallel batches."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

from adapters.dynamodb.client import DynamoDB, Policy

if TYPE_CHECKING:
    from collections.abc import Iterable

    from adapters.dynamodb.keys import Item

WRITERS = 8
"""The number of batches that are written in parallel."""

MAX_BATCH_DELETES = 25
"""DynamoDB: BatchWriteItem takes at most 25 items."""

BATCH_WRITE = Policy(
    retries=10, first_seconds=0.05, max_seconds=2.0, message="The database is busy. The next sweep continues."
)
"""All entries of a connection are in one partition of an index. DynamoDB accepts 1,000 writes a second for a partition.
Above that, it throttles writes to the table."""

_THROTTLED = frozenset({"ProvisionedThroughputExceededException", "ThrottlingException", "RequestLimitExceeded"})


class BatchDeletes:
    """Deletes items by their keys."""

    def __init__(self, dynamodb: DynamoDB) -> None:
        self._dynamodb = dynamodb

    def delete(self, table: str, item_keys: Iterable[Item]) -> None:
        """Delete items in parallel batches and return when all are deleted. Each item must be named only once.

        Raises TooManyRequests if DynamoDB throttles every retry.
        """
        remaining = iter(item_keys)
        batches = iter(lambda: list(islice(remaining, MAX_BATCH_DELETES)), [])
        with ThreadPoolExecutor(WRITERS) as writers:
            list(writers.map(partial(self._delete_batch, table), batches))

    def _delete_batch(self, table: str, item_keys: list[Item]) -> None:
        backoff = self._dynamodb.backoff(BATCH_WRITE)
        while item_keys:
            unprocessed = self._try_delete(table, item_keys)
            if len(unprocessed) < len(item_keys):
                backoff.reset()
            if unprocessed:
                backoff.wait()
            item_keys = unprocessed

    def _try_delete(self, table: str, item_keys: list[Item]) -> list[Item]:
        """Delete a batch once; return the keys that DynamoDB did not process."""
        requests = [{"DeleteRequest": {"Key": key}} for key in item_keys]
        try:
            result = self._dynamodb.client.batch_write_item(RequestItems={table: requests})
        except ClientError as error:
            if error.response["Error"]["Code"] not in _THROTTLED:
                raise
            return item_keys
        return [request["DeleteRequest"]["Key"] for request in result.get("UnprocessedItems", {}).get(table, [])]
