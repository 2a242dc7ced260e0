"""Companies of test connections: what a function forgets when it dies, what it repeats, and its limits."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from simulator.hosted import function, kept, sessions
from simulator.hosted.kept import Kept, NoCompany
from simulator.hosted.objects import FOLDER_PREFIX, Bucket, ChangedMeanwhile, Folder
from simulator.hosted.operations import answer
from simulator.hosted.sessions import MAX_TRIES, run_sessions
from simulator.tests.support import LOST, NOW, ScriptedService, document, qwc

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from simulator.hosted.objects import Objects
    from simulator.web_connector.connector import SessionResult
    from simulator.web_connector.transport import Transport

NAME = "c0000000-0000-4000-8000-000000000001"


class Died(BaseException):
    """The process of the function ends."""


@pytest.fixture
def objects(tmp_path: Path) -> Folder:
    folder = Folder(tmp_path)
    assert ask(folder, "create", company="empty", qwc=qwc(), password="secret") == {"data": {}}
    return folder


def ask(objects: Objects, operation: str, **arguments: Any) -> Any:
    return answer(objects, {"operation": operation, "connection_id": NAME, **arguments})


def add(name: str, label: str = "1") -> str:
    body = f'<CustomerAddRq requestID="{label}"><CustomerAdd><Name>{name}</Name></CustomerAdd></CustomerAddRq>'
    return document(body, sets=f' newMessageSetID="set-{label}"')


def writing(*names: str, **replies: Any) -> ScriptedService:
    """Return a service that sends writes, one after the other."""
    sent = [add(name, str(number)) for number, name in enumerate(names, 1)]
    received = [50] * (len(names) - 1) + [100]
    return ScriptedService(**{"sendRequestXML": sent, "receiveResponseXML": received, **replies})


def run(
    objects: Objects, service: Transport, seconds: Callable[[], float] = lambda: 60.0
) -> list[SessionResult | None]:
    return list(run_sessions(objects, NAME, seconds, line=service, sleep=lambda _: None))


def customers(objects: Objects) -> list[str]:
    shown = ask(objects, "books", path="lists/Customer", parameters={})
    return [customer["FullName"] for customer in shown["data"]["data"]]


def executed(objects: Objects) -> list[str]:
    shown = ask(objects, "books", path="executed", parameters={"writes": "true"})
    return [row["request_id"] for row in shown["data"]["data"]]


# --- what is kept


def test_the_next_function_finds_the_books_the_executed_requests_and_the_stored_responses(objects: Folder) -> None:
    run(objects, writing("Ada", "Bob"))

    assert customers(objects) == ["Ada", "Bob"]
    assert executed(objects) == ["1", "2"]
    run(objects, writing("Ada"))  # the same message set: QuickBooks answers from the stored response
    assert executed(objects) == ["1", "2"]


@pytest.mark.parametrize("call", range(1, 12))
def test_a_function_that_dies_at_any_call_forgets_nothing_that_was_answered_and_repeats_nothing(
    objects: Folder, call: int
) -> None:
    """Its service sends the same message sets again. Each write is in the books once, and answered ones at once."""
    service = writing("Ada", "Bob", "Eve")
    answered: list[str] = []
    post, count = service.post, 0

    def dying(url: str, headers: Mapping[str, str], body: bytes) -> tuple[int, bytes]:
        nonlocal count
        count += 1
        if b"receiveResponseXML" in body:  # the service gets it, whatever happens to the function then
            answered.append(f"{len(answered) + 1}")
        if count == call:
            raise Died
        return post(url, headers, body)

    line = SimpleNamespace(post=dying, get=service.get)
    try:
        run(objects, line)
    except Died:
        assert executed(objects) == answered
    run(objects, writing("Ada", "Bob", "Eve"))

    assert customers(objects) == ["Ada", "Bob", "Eve"]
    assert executed(objects) == ["1", "2", "3"]


def test_a_session_that_only_reads_is_saved_once_at_its_end(objects: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    run(objects, ScriptedService(authenticate=[["ticket", "none"]]))  # leaves the mark
    saves: list[str] = []
    put = Folder.put

    def noted(folder: Folder, name: str, content: bytes, version: str) -> str:
        saves.append(name)
        return put(folder, name, content, version)

    monkeypatch.setattr(Folder, "put", noted)
    query = document('<CustomerQueryRq requestID="1"/>')

    run(objects, ScriptedService(sendRequestXML=[query, query], receiveResponseXML=[50, 100]))

    assert saves == [NAME]


def test_a_reset_while_a_session_runs_is_not_overwritten(objects: Folder) -> None:
    service = writing("Ada")
    post = service.post

    def resetting(url: str, headers: Mapping[str, str], body: bytes) -> tuple[int, bytes]:
        if b"<strVersion>" in body and len(service.parts("authenticate")) == 0:
            ask(objects, "advance", days=1)
        return post(url, headers, body)

    results = run(objects, SimpleNamespace(post=resetting, get=service.get))

    assert [result.error for result in results if result] == [None]
    assert customers(objects) == ["Ada"]
    assert ask(objects, "show")["data"]["days_ahead"] >= 1


def test_others_who_change_the_company_all_the_time_end_the_sessions(
    objects: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def overtaken(*_: Any) -> str:
        raise ChangedMeanwhile

    monkeypatch.setattr(Folder, "put", overtaken)
    service = writing("Ada")

    with pytest.raises(ChangedMeanwhile):
        run(objects, service)
    assert service.parts("receiveResponseXML") == []


def test_a_deleted_company_does_not_come_back(objects: Folder) -> None:
    service = writing("Ada")
    post = service.post

    def deleting(url: str, headers: Mapping[str, str], body: bytes) -> tuple[int, bytes]:
        ask(objects, "delete")
        return post(url, headers, body)

    with pytest.raises(NoCompany):
        run(objects, SimpleNamespace(post=deleting, get=service.get))
    assert ask(objects, "show")["error"]["code"] == "not_found"
    assert ask(objects, "delete") == {"data": {}}


# --- sessions


def test_a_session_that_ends_with_an_error_is_followed_by_another_one(objects: Folder) -> None:
    results = run(objects, writing("Ada", authenticate=[LOST, ["ticket", ""]]))

    assert [result and result.error for result in results] == [1012, None]
    busy = run(objects, writing("Bob", authenticate=[["", "busy"], ["ticket", ""]]))
    assert [result and result.requests for result in busy] == [0, 1]
    assert len(run(objects, ScriptedService(authenticate=[LOST]))) == MAX_TRIES


def test_a_session_stops_in_time_and_between_two_requests(objects: Folder) -> None:
    service = writing("Ada", "Bob")

    run(objects, service, seconds=lambda: 0.0 if service.parts("receiveResponseXML") else 60.0)

    assert customers(objects) == ["Ada"]
    assert len(service.parts("sendRequestXML")) == 1


@pytest.mark.parametrize("limit", ["MAX_COMPANY_BYTES", "MAX_SECONDS_A_DAY"])
def test_a_company_beyond_a_limit_runs_no_session_until_it_is_reset(
    objects: Folder, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    monkeypatch.setattr(kept, limit, 0)
    service = writing("Ada")

    assert run(objects, service) == [None]
    assert service.calls == []


def test_seconds_are_counted_for_a_day(objects: Folder) -> None:
    today = Kept.read(objects, NAME, now=lambda: NOW)
    today.count_seconds(5)
    today.count_seconds(2)
    today.save()

    assert Kept.read(objects, NAME, now=lambda: NOW).seconds_today == 7
    assert Kept.read(objects, NAME, now=lambda: NOW + kept.DAY_SECONDS).seconds_today == 0


# --- operations


def test_a_reset_begins_again_and_keeps_the_mark_of_the_company_file(objects: Folder) -> None:
    ask(objects, "faults", steps=[{"on": "authenticate", "call": 9, "do": "lose-request"}], expect={})
    ask(objects, "advance", days=3)
    run(objects, writing("Ada"))
    mark = Kept.read(objects, NAME).company.private_fields

    state = ask(objects, "reset")["data"]

    assert mark
    assert Kept.read(objects, NAME).company.private_fields == mark
    assert (customers(objects), state["days_ahead"], state["faults"]) == ([], 0, [])


def test_days_pass_in_the_company_only(objects: Folder) -> None:
    before = ask(objects, "show")["data"]
    after = ask(objects, "advance", days=2)["data"]

    assert after["days_ahead"] == 2
    assert after["today"] > before["today"]
    refused = ask(objects, "advance", days=kept.MAX_DAYS - 1)["error"]
    assert refused["code"] == "invalid"
    assert "3650 days ahead at most" in refused["message"]


def test_faults_are_counted_from_one_function_to_the_next(objects: Folder) -> None:
    step = {"on": "receiveResponseXML", "call": 2, "do": "lose-request"}
    ask(objects, "faults", steps=[step], expect={"executed": {"CustomerAddRq": 3}})

    assert [result and result.error for result in run(objects, writing("Ada"))] == [None]
    assert ask(objects, "show")["data"]["faults_happened"] == []
    service = ScriptedService(sendRequestXML=[add("Bob", "2")], receiveResponseXML=[100])
    assert [result and result.error for result in run(objects, service)] == [1042, None]

    state = ask(objects, "show")["data"]
    assert state["faults_happened"] == ["receiveResponseXML:2:lose-request"]
    assert state["problems"] == ["CustomerAddRq was to be executed 3 times, and was twice"]
    assert ask(objects, "books", path="problems", parameters={})["data"]["data"] == state["problems"]


@pytest.mark.parametrize(
    ("operation", "arguments", "code", "words"),
    [
        ("create", {"company": "large", "qwc": "", "password": ""}, "invalid", "wholesale or empty"),
        ("faults", {"steps": [{"on": "nowhere", "do": "fail"}], "expect": {}}, "invalid", "step 1"),
        ("faults", {"steps": [{"on": "process", "request": {}, "do": "fail"}], "expect": {}}, "invalid", "wrong type"),
        ("faults", {"steps": [{"on": "x" * 60_000}], "expect": {}}, "invalid", "50000 bytes"),
        ("books", {"path": "nowhere", "parameters": {}}, "not_found", "There is no /nowhere"),
        ("books", {"path": "lists/Customer", "parameters": {"limit": "x"}}, "invalid", "limit"),
    ],
)
def test_an_operation_is_refused_with_the_reason(
    objects: Folder, operation: str, arguments: dict[str, Any], code: str, words: str
) -> None:
    error = ask(objects, operation, **arguments)["error"]

    assert error["code"] == code
    assert words in error["message"]


def test_an_answer_that_is_too_large_is_refused(objects: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("simulator.hosted.operations.MAX_ANSWER_BYTES", 100)

    assert ask(objects, "books", path="books", parameters={})["error"]["code"] == "invalid"


def test_the_credentials_are_in_no_answer(objects: Folder) -> None:
    answers = [ask(objects, "show"), ask(objects, "reset"), ask(objects, "books", path="books", parameters={})]

    assert "secret" not in json.dumps(answers)


# --- the function


def test_messages_of_one_connection_in_a_batch_wake_it_once(
    objects: Folder, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    service = ScriptedService(authenticate=[["ticket", "none"]])
    monkeypatch.setattr(sessions, "HttpTransport", lambda: service)
    monkeypatch.setenv("TEST_CONNECTION_BUCKET", f"{FOLDER_PREFIX}{objects.path}")
    records = [{"body": json.dumps({"connection_id": name})} for name in (NAME, "unknown", NAME)]
    context = SimpleNamespace(get_remaining_time_in_millis=lambda: 60_000)

    assert function.handler({"Records": records}, context) is None

    assert service.methods.count("authenticate") == 1
    lines = [(record.message, record.__dict__["connection_id"]) for record in caplog.records]
    assert lines == [
        ("test_connection.session", NAME),
        ("test_connection.no_company", "unknown"),
    ]
    state = function.handler({"operation": "show", "connection_id": NAME}, context)
    assert state
    assert state["data"]["company"] == "empty"


# --- the bucket


class S3Error(Exception):
    """Botocore's ClientError."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.response = {"Error": {"Code": code}}


class NoSuchKey(S3Error):
    """Botocore's error for an object that does not exist."""


class FakeS3:
    """Answers as S3 does, and notes the conditions."""

    exceptions = SimpleNamespace(NoSuchKey=NoSuchKey, ClientError=S3Error)

    def __init__(self, refusal: str = "") -> None:
        self.refusal = refusal
        self.conditions: list[dict[str, str]] = []

    def get_object(self, **_: str) -> dict[str, Any]:
        if self.refusal:
            raise NoSuchKey(self.refusal)
        return {"Body": SimpleNamespace(read=lambda: b"content"), "ETag": '"1"'}

    def put_object(self, *, Bucket: str, Key: str, Body: bytes, **condition: str) -> dict[str, str]:  # noqa: N803
        assert (Bucket, Key, Body) == ("bucket", NAME, b"content")
        self.conditions.append(condition)
        if self.refusal:
            raise S3Error(self.refusal)
        return {"ETag": '"2"'}


def test_each_write_to_the_bucket_names_the_version_that_it_replaces() -> None:
    client = FakeS3()
    bucket = Bucket(client, "bucket")

    assert bucket.get(NAME) == (b"content", '"1"')
    assert bucket.put(NAME, b"content", "") == '"2"'
    bucket.put(NAME, b"content", '"2"')
    assert client.conditions == [{"IfNoneMatch": "*"}, {"IfMatch": '"2"'}]


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("PreconditionFailed", ChangedMeanwhile),
        ("NoSuchKey", ChangedMeanwhile),
        ("ConditionalRequestConflict", ChangedMeanwhile),
        ("SlowDown", S3Error),
    ],
)
def test_only_a_condition_that_does_not_apply_is_a_change_of_others(code: str, expected: type[Exception]) -> None:
    with pytest.raises(expected):
        Bucket(FakeS3(code), "bucket").put(NAME, b"content", '"1"')


def test_an_object_that_does_not_exist_is_none() -> None:
    assert Bucket(FakeS3("NoSuchKey"), "bucket").get(NAME) is None


def test_a_file_is_replaced_only_if_its_version_is_named(tmp_path: Path) -> None:
    folder = Folder(tmp_path / "companies")
    version = folder.put("a", b"1", "")

    with pytest.raises(ChangedMeanwhile):
        folder.put("a", b"2", "")
    folder.put("a", b"2", version)
    with pytest.raises(ChangedMeanwhile):
        folder.put("a", b"3", version)
    assert folder.get("a") is not None
