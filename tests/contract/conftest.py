"""The implementations under test.

`DYNAMODB_ENDPOINT` adds a real endpoint, such as DynamoDB Local's (`make test-dynamodb`).
"""

from __future__ import annotations

import os
import time
import uuid
from typing import TYPE_CHECKING, Any

import pytest
from botocore.config import Config

from adapters.dynamodb import DynamoDBStore
from local.emulated_dynamodb import emulated_dynamodb
from local.tables import drop_tables, empty_tables, make_tables, table_names
from tests.support import clients
from tests.support.fake_store import FakeStore
from tests.support.services import using
from tests.support.whole_service import WholeService

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from adapters.dynamodb import TableNames

ENDPOINT = os.environ.get("DYNAMODB_ENDPOINT")
CREDENTIALS = {"region_name": "us-east-1", "aws_access_key_id": "local", "aws_secret_access_key": "local"}

RETENTION_DAYS = 30


def sized(number: int) -> int:
    """Return a number of examples or steps: a quarter of it on an endpoint, where each takes much longer."""
    return number // 4 if ENDPOINT else number


def dynamodb_client(endpoint: str | None = None) -> Any:
    """Return a client for the emulation or an endpoint."""
    return clients.client(
        "dynamodb", endpoint_url=endpoint, config=Config(retries={"total_max_attempts": 2}), **CREDENTIALS
    )


def keeping_for_a_time(client: Any, tables: TableNames, sleep: Callable[[float], None] = time.sleep) -> DynamoDBStore:
    """Return a store whose records expire."""
    return DynamoDBStore(client, tables, retention_days=lambda: RETENTION_DAYS, sleep=sleep)


@pytest.fixture
def emulated() -> Iterator[DynamoDBStore]:
    """Yield a store on DynamoDB emulated in the process. It does not pause between attempts."""
    with emulated_dynamodb():
        client = dynamodb_client()
        yield keeping_for_a_time(client, make_tables(client, ""), sleep=lambda _: None)


@pytest.fixture
def service() -> Iterator[WholeService]:
    """Yield all functions on DynamoDB and its streams, emulated in the process."""
    with emulated_dynamodb():
        client = dynamodb_client()
        service = WholeService(client, clients.client("dynamodbstreams", **CREDENTIALS), make_tables(client, ""))
        with using(service.services):
            yield service


@pytest.fixture(scope="session")
def endpoint_tables() -> Iterator[tuple[Any, str]]:
    """Yield a client of the endpoint that the environment names, and the prefix of the tables that the tests share."""
    client = dynamodb_client(ENDPOINT)
    prefix = f"t{uuid.uuid4().hex[:8]}-"
    make_tables(client, prefix, with_stream=False)
    yield client, prefix
    drop_tables(client, prefix)
    client.close()


@pytest.fixture
def endpoint(endpoint_tables: tuple[Any, str]) -> Iterator[DynamoDBStore]:
    """Yield a store on the endpoint. Its tables are emptied, because new ones take half a second."""
    client, prefix = endpoint_tables
    yield keeping_for_a_time(client, table_names(prefix))
    empty_tables(client, prefix)


IMPLEMENTATIONS = ["fake", "emulated"]
if ENDPOINT:
    IMPLEMENTATIONS.append(pytest.param("endpoint", marks=pytest.mark.dynamodb_local))  # type: ignore[arg-type]


@pytest.fixture(params=IMPLEMENTATIONS)
def store(request: pytest.FixtureRequest) -> FakeStore | DynamoDBStore:
    """Return each implementation of the ports, empty."""
    if request.param == "fake":
        return FakeStore(RETENTION_DAYS)
    dynamodb_store: DynamoDBStore = request.getfixturevalue(request.param)
    return dynamodb_store


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Run each value of a parameter on an endpoint once: the emulation has all combinations, with the same calls."""
    seen: set[tuple[object, str, str]] = set()
    repeated = []
    for item in sorted(items, key=lambda item: item.nodeid):  # the same ones in each process
        if not isinstance(item, pytest.Function) or "[endpoint" not in item.name:
            continue
        values = {(item.obj, name, repr(value)) for name, value in item.callspec.params.items()}
        if values <= seen:
            repeated.append(item)
        seen |= values
    config.hook.pytest_deselected(items=repeated)
    items[:] = [item for item in items if item not in repeated]
