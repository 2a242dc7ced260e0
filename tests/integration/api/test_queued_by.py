"""Lists of what a key or a person has queued are those of a plain comparison of the records."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.dynamodb import DynamoDBStore
from domain.maintenance.search_packing import pack_days
from domain.records.app import Scope
from domain.records.request import ENDED, QueuedRequest, State
from domain.records.search_text import author_mark, normalized_phrase
from domain.storage.changes import AddRequest
from local.emulated_dynamodb import emulated_dynamodb
from local.tables import make_tables
from tests.contract.conftest import dynamodb_client
from tests.integration.api.conftest import Deployment, make_deployment
from tests.support.api_client import ApiClient
from tests.support.builders import CONNECTION_ID, REQUEST_XML, a_record
from tests.support.fake_store import FakeStore
from tests.support.services import using

if TYPE_CHECKING:
    from collections.abc import Iterator

CONNECTION = f"/api/v1/connections/{CONNECTION_ID}"
REQUEST = {"request_xml": REQUEST_XML}
PAIR = {"requests": [{**REQUEST, "ref": "first"}, {**REQUEST, "depends_on": ["first"]}]}
KEYS = 3
HOUR = timedelta(hours=1)

STEPS = st.lists(
    st.tuples(
        st.sampled_from(["queue", "batch", "query", "again", "respond", "fail", "discard", "delete", "pack"]),
        st.integers(0, KEYS - 1),
        st.integers(0, 100),
    ),
    min_size=3,
    max_size=25,
)
"""What is done, with which key, and to which request."""


class History:
    """A connection whose requests several keys queue, end, delete and queue again."""

    def __init__(self, deployment: Deployment) -> None:
        self._deployment = deployment
        keys = [deployment.administration.create_key(deployment.app_id, Scope.FULL) for _ in range(KEYS)]
        self.key_ids = [key.key.id for key in keys]
        self._apis = [ApiClient(key.text) for key in keys]
        self.ids: list[str] = []

    def do(self, step: str, key: int, place: int) -> None:
        """Do a step. One that a request does not allow does nothing."""
        api, chosen = self._apis[key], self.ids[place % len(self.ids)] if self.ids else None
        record = self._deployment.store.request(chosen) if chosen else None
        match step:
            case "queue":
                self._note(api.call("POST", f"{CONNECTION}/queued_requests", REQUEST).json["data"])
            case "batch":
                self._note(*api.call("POST", f"{CONNECTION}/queued_requests/batch", PAIR).json["data"])
            case "query":
                self._note(api.call("POST", f"{CONNECTION}/customers").json["data"])
            case "pack":
                self._deployment.clock.advance(days=2)
                for _ in range(4):  # mark the days, copy the texts, remove them from the index, unmark the days
                    pack_days(self._deployment.store, self._deployment.clock, self._deployment.clock() + HOUR)
            case _ if isinstance(record, QueuedRequest):
                self._change(step, api, record)

    def _change(self, step: str, api: ApiClient, record: QueuedRequest) -> None:
        is_free = record.state is State.WAITING and not record.dependencies
        match step:
            case "again" if record.state in ENDED:
                response = api.call("POST", f"/api/v1/queued_requests/{record.id}/queue_again?force=true")
                if response.status == 201:
                    self._note(response.json["data"])
            case "respond" if is_free:
                self._deployment.respond(record.id, "<QBXML>answer</QBXML>")
            case "fail" if is_free:
                self._deployment.refuse(record.id)
            case "discard":
                api.call("POST", f"/api/v1/queued_requests/{record.id}/discard?dependants=true")
            case "delete" if record.state in ENDED:
                api.call("DELETE", f"/api/v1/queued_requests/{record.id}?force=true")

    def _note(self, *records: dict[str, Any]) -> None:
        self.ids += [record["id"] for record in records]

    def of(self, key_id: str, **parameters: str) -> set[str]:
        """Return what the list of a key has."""
        query = "&".join(f"{name}={value}" for name, value in {"queued_by": key_id, **parameters}.items())
        page = self._apis[0].call("GET", f"{CONNECTION}/queued_requests?page_size=100&{query}")
        assert page.status == 200, page.json
        return {record["id"] for record in page.json["data"]}

    def compared(self) -> dict[str, set[str]]:
        """Return the requests of each key by the records themselves."""
        found: dict[str, set[str]] = {key_id: set() for key_id in self.key_ids}
        for request_id in self.ids:
            response = self._apis[0].call("GET", f"/api/v1/queued_requests/{request_id}")
            if response.status == 200:
                found[response.json["data"]["queued_by"]["id"]].add(request_id)
        return found


def check(deployment: Deployment, steps: list[tuple[str, int, int]]) -> None:
    """Do the steps, and compare the lists with the records."""
    with using(deployment.services):
        history = History(deployment)
        for step in steps:
            history.do(*step)
            deployment.clock.advance(seconds=1)
        expected = history.compared()
        assert {key_id: history.of(key_id) for key_id in history.key_ids} == expected
        waiting = {
            request_id
            for request_id in expected[history.key_ids[0]]
            if getattr(deployment.store.request(request_id), "state", None) is State.WAITING
        }
        assert history.of(history.key_ids[0], state="waiting") == waiting
        assert history.of("key_ffffffffffffffff") == set()


@settings(max_examples=20)
@given(steps=STEPS)
def test_the_list_of_a_key_has_exactly_what_it_has_queued(steps: list[tuple[str, int, int]]) -> None:
    check(make_deployment(FakeStore()), steps)


@pytest.fixture
def database() -> Iterator[Any]:
    """Return a client of an emulated DynamoDB."""
    with emulated_dynamodb():
        yield dynamodb_client()


def test_the_list_of_a_key_has_exactly_what_it_has_queued_in_dynamodb_also_after_packing(database: Any) -> None:
    number = iter(range(100))

    @settings(max_examples=5)
    @given(steps=STEPS)
    def whatever_is_done(steps: list[tuple[str, int, int]]) -> None:
        store = DynamoDBStore(database, make_tables(database, f"t{next(number)}-"))
        check(make_deployment(store), steps)  # type: ignore[arg-type]

    whatever_is_done()


@given(digits=st.text("0123456789abcdef", min_size=16, max_size=16), phrase=st.text(min_size=1), cut=st.integers(0, 17))
def test_no_phrase_finds_a_mark(digits: str, phrase: str, cut: int) -> None:
    mark = author_mark(f"key_{digits}")
    for one in (phrase, digits, mark, mark[cut:], mark[:cut]):
        assert not normalized_phrase(one) or normalized_phrase(one) not in mark


def test_a_request_from_before_the_mark_is_in_no_list_of_a_key(deployment: Deployment) -> None:
    history = History(deployment)
    deployment.store.commit(AddRequest(a_record(app_id=deployment.app_id), REQUEST_XML, "ann"))

    assert [history.of(key_id) for key_id in history.key_ids] == [set()] * KEYS


@pytest.mark.parametrize("value", ["", "key_1", "KEY_00000000000000A1", "sk_abc", "nobody"])
def test_a_value_that_is_no_id_is_refused_with_the_form_of_ids(deployment: Deployment, value: str) -> None:
    error = deployment.api.call("GET", f"{CONNECTION}/queued_requests?queued_by={value}").json["error"]

    (problem,) = error["details"]["problems"]
    assert problem["field"] == "queued_by"
    assert "key_ and 16 hexadecimal digits" in problem["message"]


def test_it_counts_as_a_search(deployment: Deployment) -> None:
    deployment.administration.set_limits(deployment.app_id, searches_per_minute=1)
    history = History(deployment)
    deployment.queue()
    list_of = f"{CONNECTION}/queued_requests?queued_by={history.key_ids[0]}"

    statuses = [deployment.api.call("GET", list_of).status for _ in range(2)]

    assert statuses == [200, 429]
    deployment.clock.advance(seconds=timedelta(minutes=1).total_seconds())
    assert deployment.api.call("GET", list_of).status == 200
