"""The local gateway treats requests and responses as API Gateway does."""

from __future__ import annotations

import base64
import gzip
import threading
from typing import TYPE_CHECKING, Any

import pytest

from local.event_filters import passes
from local.functions import FunctionError, PayloadTooLarge, StillRunning
from local.gateway import Gateway, Request, Response
from local.pumps import QueuePump, StreamPump
from local.stack import for_hosts
from local.template import Template

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

TEMPLATE = """
Resources:
  Api:
    Type: AWS::Serverless::Api
    Properties:
      StageName: live
      BinaryMediaTypes: [application/json]
      MinimumCompressionSize: 100
      Auth:
        DefaultAuthorizer: Key
        Authorizers: {Key: {FunctionArn: !GetAtt Guard.Arn, Identity: {Header: Authorization, ReauthorizeEvery: 60}}}
      GatewayResponses:
        REQUEST_TOO_LARGE: {StatusCode: 413, ResponseTemplates: {application/json: '{"too": "large"}'}}
        DEFAULT_5XX:
          ResponseParameters: {Headers: {X-Kind: "'ours'"}}
          ResponseTemplates: {application/json: '{"id": "$context.requestId"}'}
  Guard: {Type: AWS::Serverless::Function, Properties: {Handler: a.b, CodeUri: src/}}
  Thing:
    Type: AWS::Serverless::Function
    Properties:
      Handler: a.b
      CodeUri: src/
      Events:
        Get: {Type: Api, Properties: {Method: get, Path: "/things/{id}"}}
        Post: {Type: Api, Properties: {Method: post, Path: "/things/{id}"}}
        Files: {Type: Api, Properties: {Method: get, Path: "/files/{path+}"}}
        File: {Type: Api, Properties: {Method: get, Path: /files/known}}
        Open: {Type: Api, Properties: {Method: get, Path: /things/open, Auth: {Authorizer: NONE}}}
"""
OK = {"statusCode": 200, "body": "ok"}


class Functions:
    """Functions that return prepared responses and record their events."""

    def __init__(self, function: Callable[[dict[str, Any]], Any], effect: str = "Allow") -> None:
        self.function = function
        self.effect = effect
        self.calls: list[tuple[str, dict[str, Any]]] = []

    def invoke(self, name: str, event: dict[str, Any], *, patience_seconds: float | None = None) -> Any:
        del patience_seconds
        self.calls.append((name, event))
        if name != "Guard":
            return self.function(event)
        if event["authorizationToken"] == "bad":
            raise FunctionError("Exception: Unauthorized")
        statement = {"Effect": self.effect, "Action": "execute-api:Invoke", "Resource": "arn:aws:execute-api:*/live/*"}
        return {"principalId": "ann", "policyDocument": {"Statement": [statement]}, "context": {"number": 7}}


def gateway(functions: Functions, tmp_path: Path) -> Gateway:
    path = tmp_path / "template.yaml"
    path.write_text(TEMPLATE, encoding="utf-8")
    return Gateway(Template.load(path), functions)  # type: ignore[arg-type]


def ask(
    functions: Functions,
    tmp_path: Path,
    method: str = "GET",
    target: str = "/things/1",
    body: bytes = b"",
    **headers: str,
) -> Response:
    all_headers = {"Authorization": "good", **{name.replace("_", "-"): value for name, value in headers.items()}}
    return gateway(functions, tmp_path).handle(Request(method, target, list(all_headers.items()), body))


def test_an_event_has_the_form_of_api_gateway(tmp_path: Path) -> None:
    functions = Functions(lambda _event: OK)

    ask(
        functions, tmp_path, "POST", "/things/a%20b?x=1&x=2&y=", b'{"a": 1}', Content_Type="application/json; charset=x"
    )

    event = functions.calls[-1][1]
    assert event["resource"] == "/things/{id}"
    assert event["pathParameters"] == {"id": "a b"}
    assert event["queryStringParameters"] == {"x": "2", "y": ""}
    assert event["multiValueQueryStringParameters"] == {"x": ["1", "2"], "y": [""]}
    assert (event["isBase64Encoded"], base64.b64decode(event["body"])) == (True, b'{"a": 1}')
    assert event["requestContext"]["authorizer"]["principalId"] == "ann"
    assert event["requestContext"]["authorizer"]["number"] == "7"
    assert event["requestContext"]["path"] == "/live/things/a%20b"


def test_a_body_of_another_type_is_text_and_a_fixed_path_takes_precedence(tmp_path: Path) -> None:
    functions = Functions(lambda _event: OK)

    ask(functions, tmp_path, "POST", body=b"<x/>", Content_Type="text/xml")
    ask(functions, tmp_path, target="/things/open")

    assert (functions.calls[1][1]["isBase64Encoded"], functions.calls[1][1]["body"]) == (False, "<x/>")
    assert functions.calls[2][1]["resource"] == "/things/open"
    assert "authorizer" not in functions.calls[2][1]["requestContext"]


def test_a_greedy_path_matches_last(tmp_path: Path) -> None:
    functions = Functions(lambda _event: OK)

    ask(functions, tmp_path, target="/files/a/b%20c.js")
    ask(functions, tmp_path, target="/files/known")

    events = [event for name, event in functions.calls if name == "Thing"]
    assert [event["resource"] for event in events] == ["/files/{path+}", "/files/known"]
    assert events[0]["pathParameters"] == {"path": "a/b c.js"}


@pytest.mark.parametrize(
    ("encodings", "size", "own", "compressed"),
    [
        ("gzip, deflate, br", 200, {}, True),
        ("gzip", 10, {}, False),
        ("br", 200, {}, False),
        ("", 200, {}, False),
        ("gzip", 200, {"Content-Encoding": "identity"}, False),
    ],
)
def test_a_large_response_is_compressed_for_callers_that_accept_it(
    tmp_path: Path, encodings: str, size: int, own: dict[str, str], *, compressed: bool
) -> None:
    functions = Functions(lambda _event: {"statusCode": 200, "headers": own, "body": "x" * size})

    response = ask(functions, tmp_path, Accept_Encoding=encodings)

    assert (("Content-Encoding", "gzip") in response.headers) is compressed
    assert (gzip.decompress(response.body) if compressed else response.body) == b"x" * size


def test_a_policy_is_remembered_for_its_token(tmp_path: Path) -> None:
    functions = Functions(lambda _event: OK)
    api = gateway(functions, tmp_path)

    for token in ("one", "one", "two"):
        api.handle(Request("GET", "/things/1", [("Authorization", token)], b""))

    assert [name for name, _ in functions.calls].count("Guard") == 2


@pytest.mark.parametrize(
    ("effect", "token", "status"), [("Deny", "good", 403), ("Allow", "bad", 401), ("Allow", "", 401)]
)
def test_the_gateway_refuses_an_unauthorized_caller(tmp_path: Path, effect: str, token: str, status: int) -> None:
    functions = Functions(lambda _event: OK, effect)

    assert ask(functions, tmp_path, Authorization=token).status == status
    assert "Thing" not in {name for name, _ in functions.calls}


def raising(error: Exception) -> Callable[[dict[str, Any]], Any]:
    def function(_event: dict[str, Any]) -> Any:
        raise error

    return function


@pytest.mark.parametrize(
    ("function", "status"),
    [
        (raising(FunctionError("ValueError: x")), 502),
        (raising(StillRunning("29 s")), 504),
        (raising(PayloadTooLarge("7 MB")), 413),
        (lambda _event: "no proxy answer", 502),
    ],
)
def test_a_function_that_fails_gets_a_gateway_response(
    tmp_path: Path, function: Callable[[dict[str, Any]], Any], status: int
) -> None:
    response = ask(Functions(function), tmp_path)

    assert response.status == status
    assert (status == 413) or ("X-Kind", "ours") in response.headers


def test_a_body_over_10_mb_does_not_reach_a_function(tmp_path: Path) -> None:
    functions = Functions(lambda _event: OK)

    response = ask(functions, tmp_path, "POST", body=b"x" * (10 * 1024 * 1024 + 1))

    assert (response.status, response.body, functions.calls) == (413, b'{"too": "large"}', [])


@pytest.mark.parametrize(("accept", "body"), [("application/json", b"bytes"), ("*/*", base64.b64encode(b"bytes"))])
def test_base64_becomes_bytes_only_for_a_binary_type_that_is_accepted_first(
    tmp_path: Path, accept: str, body: bytes
) -> None:
    text = base64.b64encode(b"bytes").decode()

    response = ask(Functions(lambda _event: {**OK, "body": text, "isBase64Encoded": True}), tmp_path, Accept=accept)

    assert response.body == body


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ({"a": {"S": ["x"]}}, True),
        ({"a": {"S": ["y"]}}, False),
        ({"b": {"S": ["x"]}}, False),
        ({"b": [{"exists": False}]}, True),
        ({"n": [{"numeric": [">", 1, "<=", 3]}]}, True),
        ({"t": [{"prefix": "he"}]}, True),
        ({"t": [{"suffix": "he"}]}, False),
        ({"t": [{"anything-but": ["hello"]}]}, False),
        ({"many": ["b"]}, True),
        ({"n": [True]}, False),
    ],
)
def test_a_filter_passes_the_same_records_as_lambda(pattern: dict[str, Any], *, expected: bool) -> None:
    record = {"a": {"S": "x"}, "n": 2, "t": "hello", "many": ["a", "b"]}

    assert passes(record, [pattern]) is expected


class Streams:
    """A stream of five records in one shard."""

    def describe_table(self, **_: Any) -> Any:
        return {"Table": {"LatestStreamArn": "arn"}}

    def describe_stream(self, **_: Any) -> Any:
        return {"StreamDescription": {"Shards": [{"ShardId": "s"}]}}

    def get_shard_iterator(self, **_: Any) -> Any:
        return {"ShardIterator": "0"}

    def get_records(self, **_: Any) -> Any:
        records = [{"dynamodb": {"Keys": {}, "SequenceNumber": str(n)}} for n in range(5)]
        return {"Records": records, "NextShardIterator": None}

    class exceptions:  # noqa: D106, N801 - boto3's name
        ExpiredIteratorException = TrimmedDataAccessException = KeyError


class Sqs:
    """A queue with two messages."""

    def __init__(self) -> None:
        self.sent: list[str] = []
        self.deleted: list[str] = []

    def send_message(self, *, QueueUrl: str, MessageBody: str) -> None:  # noqa: N803 - boto3's names
        self.sent.append(QueueUrl + MessageBody)

    def receive_message(self, **_: Any) -> Any:
        return {"Messages": [{"MessageId": n, "ReceiptHandle": n, "Body": "{}"} for n in ("1", "2")]}

    def delete_message(self, *, QueueUrl: str, ReceiptHandle: str) -> None:  # noqa: N803 - boto3's names
        del QueueUrl
        self.deleted.append(ReceiptHandle)


def test_a_stream_record_that_always_fails_is_isolated_and_dropped() -> None:
    numbers_done: set[str] = set()

    def function(event: dict[str, Any]) -> None:
        numbers = [record["dynamodb"]["SequenceNumber"] for record in event["Records"]]
        if "3" in numbers:
            raise FunctionError("ValueError: poison")
        numbers_done.update(numbers)

    sqs = Sqs()
    clients = {"dynamodb": Streams(), "dynamodbstreams": Streams(), "sqs": sqs}
    source = {
        "Stream": "Table.StreamArn",
        "StartingPosition": "TRIM_HORIZON",
        "BisectBatchOnFunctionError": True,
        "MaximumRetryAttempts": 4,
        "DestinationConfig": {"OnFailure": {"Destination": "Dead.Arn"}},
    }

    pump = StreamPump(Functions(function), "Thing", source, clients, {"Dead": "url"}, retry_seconds=0)  # type: ignore[arg-type]
    pump.step()

    assert numbers_done == {"0", "1", "2", "4"}
    assert len(sqs.sent) == 1
    assert "3" in sqs.sent[0]


def test_concurrent_batches_keep_the_order_of_each_key() -> None:
    batches: list[list[dict[str, Any]]] = []
    clients = {"dynamodb": Streams(), "dynamodbstreams": Streams(), "sqs": Sqs()}
    source = {
        "Stream": "Table.StreamArn",
        "StartingPosition": "TRIM_HORIZON",
        "BatchSize": 2,
        "ParallelizationFactor": 3,
    }
    records = [
        {"dynamodb": {"Keys": {"id": {"S": str(number % 7)}}, "SequenceNumber": str(number)}} for number in range(50)
    ]
    functions = Functions(lambda event: batches.append(event["Records"]))
    pump = StreamPump(functions, "Thing", source, clients, {})  # type: ignore[arg-type]

    lanes = pump.lanes_of(records)
    for lane in lanes:
        pump.deliver_lane(lane)

    assert len(lanes) == 3
    assert max(map(len, batches)) == 2
    stream_records = [record["dynamodb"] for batch in batches for record in batch]
    for key in {record["Keys"]["id"]["S"] for record in stream_records}:
        numbers = [int(record["SequenceNumber"]) for record in stream_records if record["Keys"]["id"]["S"] == key]
        assert numbers == sorted(numbers) == [number for number in range(50) if str(number % 7) == key]


def test_of_a_batch_of_messages_those_that_failed_are_delivered_again() -> None:
    sqs = Sqs()
    functions = Functions(lambda _event: {"batchItemFailures": [{"itemIdentifier": "1"}]})
    source = {"Queue": "Q.Arn", "FunctionResponseTypes": ["ReportBatchItemFailures"]}

    pump = QueuePump(functions, "Thing", source, sqs, {"Q": "url"})  # type: ignore[arg-type]
    pump.deliver(pump.receive())

    assert sqs.deleted == ["2"]


def test_batches_of_a_queue_are_delivered_side_by_side() -> None:
    """Both calls wait for each other and for the test, so one after the other they would never end."""
    together = threading.Barrier(3, timeout=5)
    source = {"Queue": "Q.Arn", "ScalingConfig": {"MaximumConcurrency": 2}}
    functions = Functions(lambda _event: together.wait())
    pump = QueuePump(functions, "Thing", source, Sqs(), {"Q": "url"})  # type: ignore[arg-type]

    assert pump.step()
    assert pump.step()

    together.wait()


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1:3000", 200),
        ("localhost:3000", 200),
        ("queue.example.com", 200),
        ("evil.example", 421),
        ("evil.example:3000", 421),
        ("localhost.evil.example:3000", 421),
        (None, 421),
    ],
)
def test_only_requests_for_its_own_hosts_are_answered(host: str | None, status: int) -> None:
    """A web page under a name that resolves to this machine cannot call the service."""
    handle = for_hosts({"127.0.0.1", "localhost", "queue.example.com"}, lambda _: Response(200, [], b""))

    headers = [("Host", host)] if host else []

    response = handle(Request("GET", "/things/open", headers, b"", "127.0.0.1"))

    assert response.status == status
    assert status == 200 or dict(response.headers)["X-Content-Type-Options"] == "nosniff"
