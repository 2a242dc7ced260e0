"""When API keys end, and when they were used last."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.dynamodb import DynamoDBStore
from domain.apps.administration import MAX_KEY_LIFETIME
from domain.apps.key_uses import KeyUses
from domain.records.app import ApiKey, Scope
from domain.timestamps import timestamp
from handlers import operate
from local.emulated_dynamodb import emulated_dynamodb
from local.tables import make_tables
from local.template import Template
from tests.contract.conftest import dynamodb_client
from tests.integration.api.conftest import make_deployment
from tests.support.api_client import ApiClient
from tests.support.builders import APP_ID, NOON, FixedClock
from tests.support.counted_units import CountedUnits
from tests.support.fake_store import FakeStore
from tests.support.services import using

if TYPE_CHECKING:
    from tests.integration.api.conftest import Deployment

HOUR = timedelta(hours=1)
WHO_AM_I = "/api/v1/api_key"


def do(operation: str, **arguments: Any) -> dict[str, Any]:
    """Call the operator's function."""
    return operate.handler({"operation": operation, **arguments}, None)


def last_use(deployment: Deployment, key_id: str) -> Any:
    """Return the last use of a key, as the operator sees it."""
    (listed,) = (key for key in do("list_keys", app_id=deployment.app_id)["keys"] if key["key_id"] == key_id)
    return listed["last_used_at"]


@settings(max_examples=40)
@given(
    lifetime=st.timedeltas(timedelta(microseconds=1), MAX_KEY_LIFETIME),
    after=st.timedeltas(timedelta(0), MAX_KEY_LIFETIME),
)
def test_a_key_works_before_its_expiry_and_not_from_then_on(lifetime: timedelta, after: timedelta) -> None:
    with using((deployment := make_deployment(FakeStore())).services):
        expires_at = timestamp(NOON + lifetime)
        key = do("create_key", app_id=deployment.app_id, expires_at=expires_at)
        deployment.clock.advance(seconds=after.total_seconds())

        status = ApiClient(key["api_key"]).call("GET", WHO_AM_I).status

        assert key["expires_at"] == expires_at
        assert status == (200 if after < lifetime else 401)


def test_an_expired_key_is_logged_without_the_key(deployment: Deployment, caplog: pytest.LogCaptureFixture) -> None:
    key = do("create_key", app_id=deployment.app_id, expires_at=timestamp(NOON + HOUR))
    deployment.clock.advance(hours=1)

    assert ApiClient(key["api_key"]).call("GET", WHO_AM_I).status == 401

    (refusal,) = (vars(record) for record in caplog.records if record.message == "api_key.refused")
    assert (refusal["reason"], refusal["key_hash"]) == ("expired", key["key_hash"])
    assert key["api_key"] not in str(refusal)
    assert last_use(deployment, key["key_id"]) is None


@pytest.mark.parametrize(
    ("expires_at", "message"),
    [
        ("2027-01-31", "must be a time with a time zone"),
        (timestamp(NOON), "must be in the future"),
        (timestamp(NOON - HOUR), "must be in the future"),
        (timestamp(NOON + MAX_KEY_LIFETIME + timedelta(microseconds=1)), "at most 10 years from now"),
        ("9999-12-31T23:59:59-23:00", "must be"),
    ],
)
def test_a_wrong_expiry_is_refused_and_nothing_is_stored(deployment: Deployment, expires_at: str, message: str) -> None:
    before = do("list_keys", app_id=deployment.app_id)

    error = do("create_key", app_id=deployment.app_id, expires_at=expires_at)["error"]

    (problem,) = error["details"]["problems"]
    assert problem["field"] == "expires_at"
    assert message in problem["message"]
    assert do("list_keys", app_id=deployment.app_id) == before


USES = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 1), st.timedeltas(-3 * HOUR, 3 * HOUR)), min_size=1, max_size=20
)
"""The process, the key, and the time of the process's clock."""


def test_a_last_use_is_the_hour_of_the_newest_use_whatever_the_order_and_the_clocks() -> None:
    """A process never sets back what another one has stored, although their clocks differ."""
    with emulated_dynamodb():
        client = dynamodb_client()
        stores = (FakeStore(), DynamoDBStore(client, make_tables(client, "")))

        @settings(max_examples=60)
        @given(uses=USES)
        def whatever_the_order(uses: list[tuple[int, int, timedelta]]) -> None:
            app_id = str(uuid4())
            keys = [ApiKey(f"{number:064x}", app_id, Scope.FULL, "sk_", timestamp(NOON)) for number in range(2)]
            for store in stores:
                clocks = [FixedClock() for _ in range(3)]
                processes = [KeyUses(store, clock) for clock in clocks]
                expected: dict[str, str] = {}
                for process, number, time in uses:
                    clocks[process].now = NOON + time
                    processes[process].note(keys[number])
                    hour = timestamp((NOON + time).replace(minute=0, second=0, microsecond=0))
                    expected[keys[number].id] = max(hour, expected.get(keys[number].id, hour))
                    assert store.last_uses(app_id) == expected

        whatever_the_order()


@pytest.mark.parametrize("failing", ["last_use", "set_last_use"])
def test_a_call_is_accepted_although_its_use_cannot_be_stored(
    deployment: Deployment, failing: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    key = do("create_key", app_id=deployment.app_id)
    api = ApiClient(key["api_key"])

    def refuse(*_: object) -> None:
        raise OSError("The table is throttled.")

    with monkeypatch.context() as failure:
        failure.setattr(deployment.store, failing, refuse)
        assert api.call("GET", WHO_AM_I).status == 200
        (line,) = (vars(record) for record in caplog.records if record.message == "api_key.use_not_noted")
        assert (line["key_id"], line["reason"]) == (key["key_id"], "The table is throttled.")
        assert last_use(deployment, key["key_id"]) is None

    assert api.call("GET", WHO_AM_I).status == 200
    assert last_use(deployment, key["key_id"]) == timestamp(NOON)


def test_all_calls_of_a_key_in_an_hour_write_once_in_all_processes() -> None:
    """Each process reads the last use once in an hour, one unit, and the first one writes it, one unit."""
    with emulated_dynamodb():
        client = dynamodb_client()
        store = DynamoDBStore(client, make_tables(client, ""))
        units = CountedUnits(client, {table["TableName"]: table for table in Template.load().table_definitions()})
        clock = FixedClock()
        processes = [KeyUses(store, clock) for _ in range(3)]
        key = ApiKey("ab" * 32, APP_ID, Scope.FULL, "sk_", timestamp(NOON))
        for hours in range(1, 4):
            for _ in range(59):
                for process in processes:
                    process.note(key)
                clock.advance(minutes=1)
            clock.advance(minutes=1)
            assert (units.writes, units.reads) == (hours, len(processes) * hours)


def test_the_last_use_goes_with_the_app_and_with_time() -> None:
    with emulated_dynamodb():
        client = dynamodb_client()
        tables = make_tables(client, "")
        store = DynamoDBStore(client, tables)
        deployment = make_deployment(store)  # type: ignore[arg-type]
        with using(deployment.services):
            app_id = do("create_app", name="Warehouse")["app_id"]
            key = do("create_key", app_id=app_id)
            assert ApiClient(key["api_key"]).call("GET", WHO_AM_I).status == 200
            (item,) = client.scan(TableName=tables.usages)["Items"]
            assert int(item["expires_at"]["N"]) == int((NOON + timedelta(days=400)).timestamp())

            do("delete_app", app_id=app_id)

            assert client.scan(TableName=tables.usages)["Items"] == []
