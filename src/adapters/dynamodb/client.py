"""The calls of DynamoDB and the pauses between them, which all parts of the store share."""

from __future__ import annotations

import random as system_random
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from botocore.exceptions import ClientError

from domain.errors import TooManyRequests

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from adapters.dynamodb.codec import Codec, CompressedCodec
    from adapters.dynamodb.keys import Item, TableNames

T = TypeVar("T")

MAX_BATCH_KEYS = 100
"""DynamoDB: BatchGetItem takes at most 100 keys."""


_OVERTAKEN = {"ConditionalCheckFailed", "TransactionConflict"}
"""The reasons of DynamoDB for rejecting a write that came too late. The codes of errors end in `Exception`."""


class Index(str):
    """The name of a global secondary index. `template.yaml` declares the index with its keys."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Policy:
    """How often to try again and how long to wait: a random time below a bound that doubles with each try."""

    retries: int
    first_seconds: float
    max_seconds: float
    message: str
    """The error message for the caller if all retries fail."""


@dataclass(slots=True)
class Tries:
    """Waits after each try without progress. Gives up after the number of tries that the policy allows.

    `random` returns numbers from 0 up to 1.
    """

    policy: Policy
    sleep: Callable[[float], None]
    random: Callable[[], float]
    failures: int = 0

    def wait(self) -> None:
        """Count a failure and sleep. Raises TooManyRequests if no retry is left."""
        self.failures += 1
        if self.failures > self.policy.retries:
            raise TooManyRequests(self.policy.message)
        bound = min(self.policy.max_seconds, self.policy.first_seconds * 2.0**self.failures)
        self.sleep(bound * self.random())

    def reset(self) -> None:
        """Start again with a short pause. Call this after progress."""
        self.failures = 0


BATCH_GET = Policy(
    retries=8, first_seconds=0.05, max_seconds=1.0, message="The database is busy. Try again in a moment."
)


@dataclass(frozen=True, slots=True)
class DynamoDB:
    """A botocore client, the names of the tables, and the reads that take several calls.

    `sleep` and `random` make the pauses. `monotonic` returns seconds of a clock that never jumps.
    """

    client: Any
    tables: TableNames
    sleep: Callable[[float], None] = time.sleep
    random: Callable[[], float] = system_random.random
    monotonic: Callable[[], float] = time.monotonic

    def backoff(self, policy: Policy) -> Tries:
        """Return the pauses of a policy."""
        return Tries(policy, self.sleep, self.random)

    def get(self, table: str, key: Item) -> Item | None:
        """Return an item, read consistently."""
        item: Item | None = self.client.get_item(TableName=table, Key=key, ConsistentRead=True).get("Item")
        return item

    def query(self, query: Mapping[str, Any], check: Callable[[], None] = lambda: None) -> Iterator[Item]:
        """Yield the items of every page of a query. `check` is called before each page and may raise."""
        for items in self.query_pages(query, check):
            yield from items

    def query_pages(self, query: Mapping[str, Any], check: Callable[[], None] = lambda: None) -> Iterator[list[Item]]:
        """Yield the items of each page of a query. `check` is called before each page and may raise."""
        query = dict(query)
        while True:
            check()
            page = self.client.query(**query)
            yield page["Items"]
            if "LastEvaluatedKey" not in page:
                return
            query["ExclusiveStartKey"] = page["LastEvaluatedKey"]

    def key_after(self, count: int, query: Mapping[str, Any]) -> Item | None:
        """Return the key with which a query continues after its first `count` items, or None if there are no more.

        DynamoDB reads and counts the items but does not send them.
        """
        query = dict(query)
        while True:
            page = self.client.query(**query, Select="COUNT", Limit=count)
            count -= page["Count"]
            key: Item | None = page.get("LastEvaluatedKey")
            if key is None or count == 0:
                return key
            query["ExclusiveStartKey"] = key

    def count(self, query: Mapping[str, Any], check: Callable[[], None] = lambda: None) -> int:
        """Return the number of items that a query finds. DynamoDB does not send them.

        `check` is called before each page and may raise.
        """
        query = dict(query)
        number = 0
        while True:
            check()
            page = self.client.query(**query, Select="COUNT")
            number += int(page["Count"])
            if "LastEvaluatedKey" not in page:
                return number
            query["ExclusiveStartKey"] = page["LastEvaluatedKey"]

    def batch_get(
        self,
        keys: Mapping[str, Sequence[Item]],
        eventually: Collection[str] = (),
        attributes: Mapping[str, Collection[str]] | None = None,
    ) -> dict[str, list[Item]]:
        """Return the items that exist, by table. Makes one call for each 100 keys.

        The reads are consistent, but for the tables in `eventually`. `attributes` are those to return, by table. Of
        another table, all are returned.
        """
        projections = {table: projection(names) for table, names in (attributes or {}).items()}
        items: dict[str, list[Item]] = {table: [] for table in keys}
        open_keys = [(table, key) for table, table_keys in keys.items() for key in table_keys]
        backoff = self.backoff(BATCH_GET)
        while open_keys:
            batch, open_keys = open_keys[:MAX_BATCH_KEYS], open_keys[MAX_BATCH_KEYS:]
            requests: dict[str, dict[str, Any]] = {}
            for table, key in batch:
                selection = {"Keys": [], "ConsistentRead": table not in eventually, **projections.get(table, {})}
                requests.setdefault(table, selection)["Keys"].append(key)
            result = self.client.batch_get_item(RequestItems=requests)
            for table, table_items in result["Responses"].items():
                items[table].extend(table_items)
            # DynamoDB leaves out keys if it throttles the call, and the items beyond 16 MB.
            unprocessed = [(table, key) for table, rest in result["UnprocessedKeys"].items() for key in rest["Keys"]]
            if len(unprocessed) == len(batch):
                backoff.wait()
            else:
                backoff.reset()
            open_keys = unprocessed + open_keys
        return items

    def entities(self, table: str, codec: Codec[T] | CompressedCodec[T], keys: Iterable[Item]) -> list[T]:
        """Return the entities that exist, read in batches, in no particular order."""
        return list(map(codec.entity, self.batch_get({table: list(keys)})[table]))


def projection(attributes: Collection[str]) -> dict[str, Any]:
    """Return the parameters of a read that returns these attributes alone, because each takes time to decode.

    Some of their names are reserved words, so each has a placeholder.
    """
    names = {f"#{number}": name for number, name in enumerate(attributes)}
    return {"ProjectionExpression": ",".join(names), "ExpressionAttributeNames": names}


def key_query(
    table: str,
    equal: Mapping[str, str],
    *,
    index: Index | None = None,
    between: tuple[str, str, str] | None = None,
    below: tuple[str, str | int] | None = None,
    attributes: Sequence[str] = (),
    consistent: bool = False,
) -> dict[str, Any]:
    """Return the parameters of a query by key.

    `equal` maps key attributes to their values. `between` is an attribute with its first and last value. `below` is an
    attribute with the value that it must be less than. `attributes` are the attributes to return; none means all.
    """
    conditions = [f"#{name} = :{name}" for name in equal]
    names = set(equal) | set(attributes)
    values: dict[str, str | int] = {f":{name}": value for name, value in equal.items()}
    if between:
        name, values[":first"], values[":last"] = between
        conditions.append(f"#{name} BETWEEN :first AND :last")
        names.add(name)
    if below:
        name, values[":limit"] = below
        conditions.append(f"#{name} < :limit")
        names.add(name)
    query: dict[str, Any] = {
        "TableName": table,
        "KeyConditionExpression": " AND ".join(conditions),
        "ExpressionAttributeNames": {f"#{name}": name for name in names},
        "ExpressionAttributeValues": {
            name: {"N": str(value)} if isinstance(value, int) else {"S": value} for name, value in values.items()
        },
    }
    if index:
        query["IndexName"] = index
    if attributes:
        query["ProjectionExpression"] = ", ".join(f"#{name}" for name in attributes)
    if consistent:
        query["ConsistentRead"] = True
    return query


@contextmanager
def unless_overtaken() -> Iterator[None]:
    """Ignore the failure of a conditional write, because another writer was first."""
    try:
        yield
    except ClientError as error:
        reasons = {reason.get("Code") for reason in error.response.get("CancellationReasons", [])}
        if not _OVERTAKEN & {*reasons, error.response["Error"]["Code"].removesuffix("Exception")}:
            raise
