"""With a database that keeps its data, `make run` continues after any kind of stop."""

from __future__ import annotations

import json
import os
import queue
import threading
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

import pytest

from local.dynamodb_local import server as dynamodb_local
from local.gateway import Request, Response
from local.programs import free_ports
from local.server import Server
from tests.e2e.runs import Run, running
from tests.e2e.support import PATIENCE_SECONDS, QUERY, eventually

if TYPE_CHECKING:
    from collections.abc import Iterator

JARS = os.environ.get(dynamodb_local.JARS_VARIABLE)

pytestmark = [
    pytest.mark.dynamodb_local,
    pytest.mark.skipif(not JARS, reason="needs DynamoDB Local: make test-dynamodb"),
]


@dataclass(frozen=True, slots=True)
class Place:
    """A database that keeps its data, and a state directory."""

    endpoint: str
    folder: Path


@pytest.fixture(scope="module")
def databases() -> Path:
    assert JARS
    return Path(JARS)


@pytest.fixture
def place(databases: Path, tmp_path: Path) -> Iterator[Place]:
    """Yield a new database on disk."""
    with dynamodb_local.running(databases, free_ports(1)[0], kept_in=tmp_path / "database") as endpoint:
        yield Place(endpoint, tmp_path)


@contextmanager
def stack(place: Place, quickbooks: str = "off") -> Iterator[Run]:
    """Run the stack on the database."""
    with running(place.folder, QUICKBOOKS=quickbooks, DYNAMODB_ENDPOINT=place.endpoint) as run:
        yield run


class Receiver:
    """A webhook receiver that returns `statuses` in turn, then 204."""

    def __init__(self, *statuses: int) -> None:
        self.ids: queue.Queue[str] = queue.Queue()
        self.may_answer = threading.Event()
        self.may_answer.set()
        self._statuses = list(statuses)
        self._server = Server(0)
        self.url = f"{self._server.base_url}/"

    def __enter__(self) -> Self:
        self._server.start(self._answer)
        return self

    def __exit__(self, *_: object) -> None:
        self.may_answer.set()
        self._server.stop()

    def next_id(self) -> str:
        """Wait for the next webhook; return its id."""
        return self.ids.get(timeout=PATIENCE_SECONDS)

    def _answer(self, request: Request) -> Response:
        self.ids.put(request.header("webhook-id") or "")
        self.may_answer.wait()
        return Response(self._statuses.pop(0) if self._statuses else 204, [], b"")


def test_a_request_queued_before_a_hard_stop_is_drained_once_by_the_next_run(place: Place) -> None:
    with Receiver() as receiver:
        with stack(place) as first:
            request_id = first.queue({"request_json": QUERY, "webhook_url": receiver.url})
            first.kill()
        with stack(place, "on") as second:
            webhook_id = receiver.next_id()
            record = eventually(
                lambda: second.record(request_id), lambda record: record["webhook_state"] == "succeeded"
            )

    assert webhook_id == request_id
    assert receiver.ids.empty()
    assert record["state"] == "response_received"
    assert len(record["webhook_attempts"]) == 1
    names = ("app_id", "api_key", "webhook_secret", "connection_id", "qbwc_password", "webhook_url")
    assert {name: first.credentials[name] for name in names} == {name: second.credentials[name] for name in names}


def test_a_planned_retry_outlives_a_hard_stop(place: Place) -> None:
    with Receiver(500) as receiver:
        with stack(place) as first:
            request_id = first.queue({"request_json": QUERY, "webhook_url": receiver.url})
            first.api().call("POST", f"/api/v1/queued_requests/{request_id}/discard")
            receiver.next_id()
            eventually(lambda: first.record(request_id), lambda record: len(record["webhook_attempts"]) == 1)
            first.kill()
        with stack(place) as second:
            again = receiver.next_id()
            record = eventually(
                lambda: second.record(request_id), lambda record: record["webhook_state"] == "succeeded"
            )

    assert again == request_id
    assert len(record["webhook_attempts"]) == 2


def test_a_webhook_that_was_under_way_at_a_hard_stop_is_sent_by_the_next_run(databases: Path, tmp_path: Path) -> None:
    """The stream continues after the last record that was handled. The database is restarted as well."""
    (port,) = free_ports(1)
    with Receiver() as receiver:
        receiver.may_answer.clear()
        with dynamodb_local.running(databases, port, kept_in=tmp_path / "database") as endpoint:
            place = Place(endpoint, tmp_path)
            with stack(place) as first:
                request_id = first.queue({"request_json": QUERY, "webhook_url": receiver.url})
                first.api().call("POST", f"/api/v1/queued_requests/{request_id}/discard")
                receiver.next_id()
                first.kill()
        receiver.may_answer.set()
        with (
            dynamodb_local.running(databases, port, kept_in=tmp_path / "database"),
            stack(place) as second,
        ):
            again = receiver.next_id()
            record = eventually(
                lambda: second.record(request_id), lambda record: record["webhook_state"] == "succeeded"
            )

    assert again == request_id
    assert len(record["webhook_attempts"]) == 1


def test_outdated_credentials_are_replaced_and_the_reason_is_printed(place: Place) -> None:
    with stack(place) as first:
        first.api().call("POST", f"/api/v1/connections/{first.credentials['connection_id']}/password")
    with stack(place) as second:
        pass

    assert "another password now" in second.output
    assert second.credentials["connection_id"] != first.credentials["connection_id"]
    (previous,) = (place.folder / ".local").glob("kept/*/previous/credentials.json")
    assert json.loads(previous.read_text(encoding="utf-8")) == first.credentials


def test_a_run_without_the_database_leaves_its_credentials_alone(place: Place) -> None:
    with stack(place) as first:
        pass
    with running(place.folder, QUICKBOOKS="off") as between:
        pass
    with stack(place) as second:
        pass

    assert between.credentials["connection_id"] != first.credentials["connection_id"]
    assert second.credentials["connection_id"] == first.credentials["connection_id"]
