"""`make run` keeps data in a database, and refuses data that it cannot continue with."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from dataclasses import asdict, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from moto import mock_aws

from adapters.dynamodb import DynamoDBStore
from domain.connections.passwords import hash_password
from domain.records.app import ApiKey, App, Scope, api_key_hash
from domain.storage.changes import Put
from domain.timestamps import timestamp
from local.database import DatabaseUnusable, create_tables, differences
from local.emulated_dynamodb import emulated_dynamodb
from local.first_steps import Credentials, write_credentials
from local.kept_credentials import PREVIOUS, DoNotFit, folder_of, of_earlier_run, put_aside
from local.kept_state import DEFINITION, KeptState
from local.programs import ROOT, free_ports
from local.pumps import StreamPump
from local.run import Options, company_of_last_run
from local.tables import table_names
from local.template import Template
from local.terminal import Terminal
from tests.support.builders import APP_ID, NOON, a_connection, counting_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TEMPLATE = Template.load()
ENDPOINT = "http://127.0.0.1:8127"
KEY = "sk_" + "A" * 43
SECRET = "whsec_" + "A" * 43 + "="
PASSWORD = "correct horse battery staple"
REGION = {"region_name": "us-east-1", "aws_access_key_id": "local", "aws_secret_access_key": "local"}


@pytest.fixture
def clients() -> Iterator[dict[str, Any]]:
    """Yield clients of an emulated AWS."""
    with mock_aws(), emulated_dynamodb():
        yield {name: boto3.client(name, **REGION) for name in ("dynamodb", "sqs")}


# --- tables


def test_existing_tables_are_used_unchanged(clients: dict[str, Any]) -> None:
    create_tables(TEMPLATE, clients["dynamodb"], [DEFINITION])
    DynamoDBStore(clients["dynamodb"], table_names()).commit(Put(None, an_app()))

    create_tables(TEMPLATE, clients["dynamodb"], [DEFINITION])

    assert DynamoDBStore(clients["dynamodb"], table_names()).app(APP_ID) == an_app()


def test_a_table_of_another_shape_is_refused_by_name_before_anything_is_made(clients: dict[str, Any]) -> None:
    definition = next(table for table in TEMPLATE.table_definitions() if table["TableName"] == "PayloadsTable")
    other = [replace_attribute(index, "inserted_at", "updated_at") for index in definition["GlobalSecondaryIndexes"]]
    attributes = [
        replace_attribute(attribute, "inserted_at", "updated_at") for attribute in definition["AttributeDefinitions"]
    ]
    clients["dynamodb"].create_table(
        **{**definition, "GlobalSecondaryIndexes": other, "AttributeDefinitions": attributes}
    )

    with pytest.raises(DatabaseUnusable) as caught:
        create_tables(TEMPLATE, clients["dynamodb"])

    text = str(caught.value)
    assert "PayloadsTable" in text
    assert "index search: partition (connection_id S), sort (inserted_at S, request_id S)" in text
    assert "sort (updated_at S, request_id S)" in text
    assert "QueuedRequestsTable" not in text
    assert "remove .local/dynamodb" in text
    assert clients["dynamodb"].list_tables()["TableNames"] == ["PayloadsTable"]


def replace_attribute(value: Any, old: str, new: str) -> Any:
    return json.loads(json.dumps(value).replace(f'"{old}"', f'"{new}"'))


@pytest.mark.parametrize(
    ("change", "beginning"),
    [
        ({"KeySchema": [{"AttributeName": "id", "KeyType": "RANGE"}]}, "key: partition (id S)"),
        ({"GlobalSecondaryIndexes": None}, "index by_inserted: partition (connection_id S, l_state S, l_webhook S)"),
        ({"StreamSpecification": None}, "stream: NEW_AND_OLD_IMAGES in template.yaml, none in the database"),
    ],
)
def test_differences_of_a_table_are_named(change: dict[str, Any], beginning: str) -> None:
    definition = next(table for table in TEMPLATE.table_definitions() if table["TableName"] == "QueuedRequestsTable")

    lines = differences(definition, {**definition, **change})

    assert any(line.startswith(beginning) for line in lines), lines


def test_a_different_billing_mode_is_accepted() -> None:
    definition = TEMPLATE.table_definitions()[0]

    assert differences(definition, {**definition, "BillingMode": "PROVISIONED"}) == []


def test_an_unreachable_database_is_named_with_a_remedy() -> None:
    nobody = boto3.client("dynamodb", endpoint_url="http://127.0.0.1:9", **REGION)

    with pytest.raises(DatabaseUnusable, match=r"no DynamoDB answers at http://127.0.0.1:9\. .*make dynamodb"):
        create_tables(TEMPLATE, nobody)


@pytest.mark.parametrize("url", ["127.0.0.1:8127", "localhost", "ftp://127.0.0.1", "http://"])
def test_an_endpoint_that_is_not_a_url_is_refused_by_name(url: str) -> None:
    with pytest.raises(ValueError, match="DYNAMODB_ENDPOINT must be a URL like"):
        Options.of({"DYNAMODB_ENDPOINT": url})


# --- queues and streams


def test_messages_that_were_not_deleted_are_delivered_again_in_the_next_run(clients: dict[str, Any]) -> None:
    create_tables(TEMPLATE, clients["dynamodb"], [DEFINITION])
    state = KeptState(clients["dynamodb"])
    with state.keeping_messages():
        url = clients["sqs"].create_queue(QueueName="Q")["QueueUrl"]
        for body in ("done", "open"):
            clients["sqs"].send_message(QueueUrl=url, MessageBody=body)
        first = clients["sqs"].receive_message(QueueUrl=url, MaxNumberOfMessages=1)["Messages"][0]
        clients["sqs"].delete_message(QueueUrl=url, ReceiptHandle=first["ReceiptHandle"])
    clients["sqs"].delete_queue(QueueUrl=url)
    again = clients["sqs"].create_queue(QueueName="Q")["QueueUrl"]

    with state.keeping_messages():
        count = state.restore_messages(clients["sqs"], {"Q": again})
        messages = clients["sqs"].receive_message(QueueUrl=again, MaxNumberOfMessages=10)["Messages"]

    assert first["Body"] == "done"
    assert count == 1
    assert [message["Body"] for message in messages] == ["open"]
    assert [message.body for message in state.messages()] == ["open"]


def test_a_delayed_message_keeps_its_delay(clients: dict[str, Any]) -> None:
    create_tables(TEMPLATE, clients["dynamodb"], [DEFINITION])
    state = KeptState(clients["dynamodb"])
    with state.keeping_messages():
        url = clients["sqs"].create_queue(QueueName="Q")["QueueUrl"]
        clients["sqs"].send_message(QueueUrl=url, MessageBody="later", DelaySeconds=600)
        state.restore_messages(clients["sqs"], {"Q": url})

    (message,) = state.messages()
    assert 590 < message.due - datetime.now(UTC).timestamp() <= 600


def test_messages_of_a_removed_queue_are_kept(clients: dict[str, Any]) -> None:
    create_tables(TEMPLATE, clients["dynamodb"], [DEFINITION])
    state = KeptState(clients["dynamodb"])
    with state.keeping_messages():
        url = clients["sqs"].create_queue(QueueName="Old")["QueueUrl"]
        clients["sqs"].send_message(QueueUrl=url, MessageBody="x")

    assert state.restore_messages(clients["sqs"], {}) == 0
    assert [message.queue for message in state.messages()] == ["Old"]


def test_a_message_in_a_dead_letter_queue_is_kept_there(clients: dict[str, Any]) -> None:
    create_tables(TEMPLATE, clients["dynamodb"], [DEFINITION])
    state = KeptState(clients["dynamodb"])
    sqs = clients["sqs"]
    with state.keeping_messages():
        dead = sqs.create_queue(QueueName="Dead")["QueueUrl"]
        arn = sqs.get_queue_attributes(QueueUrl=dead, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
        policy = json.dumps({"deadLetterTargetArn": arn, "maxReceiveCount": 1})
        url = sqs.create_queue(QueueName="Q", Attributes={"RedrivePolicy": policy, "VisibilityTimeout": "0"})[
            "QueueUrl"
        ]
        sqs.send_message(QueueUrl=url, MessageBody="poison")
        for _ in range(2):
            sqs.receive_message(QueueUrl=url)

    assert [(message.queue, message.body) for message in state.messages()] == [("Dead", "poison")]


class Stream:
    """A stream of three records in one shard. `calls` has the parameters of each request for an iterator."""

    def __init__(self, *, trimmed: bool = False) -> None:
        self.calls: list[dict[str, Any]] = []
        self._trimmed = trimmed

    def describe_table(self, **_: Any) -> Any:
        return {"Table": {"LatestStreamArn": "arn"}}

    def describe_stream(self, **_: Any) -> Any:
        return {"StreamDescription": {"Shards": [{"ShardId": "s"}]}}

    def get_shard_iterator(self, **arguments: Any) -> Any:
        self.calls.append(arguments)
        if self._trimmed and "SequenceNumber" in arguments:
            raise KeyError
        return {"ShardIterator": arguments.get("SequenceNumber", "0")}

    def get_records(self, *, ShardIterator: str, **_: Any) -> Any:  # noqa: N803 - boto3's name
        records = [{"dynamodb": {"Keys": {}, "SequenceNumber": str(n)}} for n in range(int(ShardIterator) + 1, 4)]
        return {"Records": records, "NextShardIterator": "3"}

    class exceptions:  # noqa: D106, N801 - boto3's name
        ExpiredIteratorException = TrimmedDataAccessException = KeyError


class Functions:
    """A function that records the sequence numbers of its events."""

    def __init__(self) -> None:
        self.numbers: list[str] = []

    def invoke(self, _name: str, event: dict[str, Any]) -> None:
        self.numbers += [record["dynamodb"]["SequenceNumber"] for record in event["Records"]]


def a_pump(functions: Functions, stream: Stream, state: KeptState) -> StreamPump:
    source = {"Stream": "Table.StreamArn", "StartingPosition": "TRIM_HORIZON"}
    clients = {"dynamodb": stream, "dynamodbstreams": stream, "sqs": None}
    return StreamPump(functions, "Thing", source, clients, {}, state=state)  # type: ignore[arg-type]


def test_a_stream_continues_after_the_last_handled_record(clients: dict[str, Any]) -> None:
    create_tables(TEMPLATE, clients["dynamodb"], [DEFINITION])
    state = KeptState(clients["dynamodb"])
    first, second = Functions(), Functions()
    a_pump(first, Stream(), state).step()

    a_pump(second, stream := Stream(), state).step()

    assert (first.numbers, second.numbers) == (["1", "2", "3"], [])
    assert [call["ShardIteratorType"] for call in stream.calls] == ["AFTER_SEQUENCE_NUMBER"]


def test_records_skipped_by_a_stop_are_delivered_again(clients: dict[str, Any]) -> None:
    create_tables(TEMPLATE, clients["dynamodb"], [DEFINITION])
    state = KeptState(clients["dynamodb"])
    first, second = Functions(), Functions()
    stopping = a_pump(first, Stream(), state)
    stopping.stop()
    stopping.step()

    a_pump(second, Stream(), state).step()

    assert (first.numbers, second.numbers) == ([], ["1", "2", "3"])


def test_a_position_that_the_stream_no_longer_has_means_its_oldest_record(clients: dict[str, Any]) -> None:
    create_tables(TEMPLATE, clients["dynamodb"], [DEFINITION])
    state = KeptState(clients["dynamodb"])
    state.put_position("Thing arn", "s", "2")
    functions = Functions()

    a_pump(functions, Stream(trimmed=True), state).step()

    assert functions.numbers == ["1", "2", "3"]


# --- credentials


def an_app() -> App:
    return App(APP_ID, "Shop", "2026-03-14T12:00:00.000000Z", (SECRET,))


def an_earlier_run(folder: Path, dynamodb: Any) -> Credentials:
    """Store the app and the connection of an earlier run, and write its credentials."""
    create_tables(TEMPLATE, dynamodb)
    store = DynamoDBStore(dynamodb, table_names())
    connection = a_connection(password_hash=hash_password(PASSWORD, counting_bytes(16)))
    store.commit(Put(None, an_app()))
    store.commit(Put(None, ApiKey(api_key_hash(KEY), APP_ID, Scope.FULL, KEY[:11], timestamp(NOON))))
    store.commit(Put(None, connection))
    credentials = Credentials(
        base_url="http://127.0.0.1:3000",
        app_id=APP_ID,
        api_key=KEY,
        webhook_secret=SECRET,
        connection_id=connection.id,
        qbwc_username=connection.id,
        qbwc_password=PASSWORD,
        qwc_path="quickbooks.qwc",
        operate_function="OperateFunction",
        operate_endpoint="http://127.0.0.1:3001",
        operate_secret="generated",
        webhook_url="http://127.0.0.1:4000/",
    )
    write_credentials(credentials, folder)
    return credentials


def test_credentials_that_fit_are_used_again(tmp_path: Path, clients: dict[str, Any]) -> None:
    earlier = an_earlier_run(tmp_path, clients["dynamodb"])

    assert of_earlier_run(tmp_path, clients["dynamodb"]) == earlier


def test_without_credentials_nothing_is_printed(tmp_path: Path, clients: dict[str, Any]) -> None:
    assert of_earlier_run(tmp_path, clients["dynamodb"]) is None


def test_each_database_has_its_own_folder(tmp_path: Path) -> None:
    """A run without one, or with another one, leaves the credentials alone."""
    folders = {folder_of(tmp_path, url) for url in (ENDPOINT, "http://127.0.0.1:8128", "https://127.0.0.1:8127")}

    assert len(folders) == 3
    assert folder_of(tmp_path, ENDPOINT) == tmp_path / "kept" / "http-127.0.0.1-8127"


@pytest.mark.parametrize("text", ["{", "[]", '{"base_url": "http://127.0.0.1:3000"}'])
def test_credentials_of_another_form_do_not_fit(text: str, tmp_path: Path, clients: dict[str, Any]) -> None:
    (tmp_path / "credentials.json").write_text(text, encoding="utf-8")

    with pytest.raises(DoNotFit, match="not what this version writes"):
        of_earlier_run(tmp_path, clients["dynamodb"])


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"app_id": "a0000000-0000-4000-8000-00000000dead"}, "app is not in the database"),
        ({"webhook_secret": "whsec_b2xk"}, "webhook secret is no longer active"),
        ({"api_key": "sk_B"}, "API key is not in the database"),
        ({"connection_id": "a0000000-0000-4000-8000-00000000dead"}, "connection was deleted"),
        ({"qbwc_password": "another"}, "another password now"),
    ],
)
def test_mismatched_credentials_have_a_reason(
    change: dict[str, str], reason: str, tmp_path: Path, clients: dict[str, Any]
) -> None:
    write_credentials(replace(an_earlier_run(tmp_path, clients["dynamodb"]), **change), tmp_path)

    with pytest.raises(DoNotFit, match=reason):
        of_earlier_run(tmp_path, clients["dynamodb"])


def test_a_revoked_key_and_a_deleted_connection_do_not_fit(tmp_path: Path, clients: dict[str, Any]) -> None:
    credentials = an_earlier_run(tmp_path, clients["dynamodb"])
    store = DynamoDBStore(clients["dynamodb"], table_names())
    connection = store.connection(credentials.connection_id)
    assert connection is not None
    store.commit(Put(connection, replace(connection, deleted_at=timestamp(NOON)).changed(timestamp(NOON))))
    with pytest.raises(DoNotFit, match="connection was deleted"):
        of_earlier_run(tmp_path, clients["dynamodb"])

    key = store.api_key(api_key_hash(KEY))
    assert key is not None
    store.commit(Put(key, replace(key, revoked_at=timestamp(NOON), revision=key.revision + 1)))
    with pytest.raises(DoNotFit, match="API key was revoked"):
        of_earlier_run(tmp_path, clients["dynamodb"])


def test_files_that_no_longer_fit_are_kept_in_another_folder(tmp_path: Path, clients: dict[str, Any]) -> None:
    credentials = an_earlier_run(tmp_path, clients["dynamodb"])

    put_aside(tmp_path)

    previous = json.loads((tmp_path / PREVIOUS / "credentials.json").read_text(encoding="utf-8"))
    assert previous == asdict(credentials)
    assert not (tmp_path / "credentials.json").exists()


def test_a_company_file_of_an_earlier_format_is_put_aside_for_a_new_company(tmp_path: Path) -> None:
    output = io.StringIO()
    company_file = tmp_path / "company.json"
    company_file.write_text('{"format": 1}')

    company = company_of_last_run(company_file, Terminal(output))

    assert len(company.books["Customer"]) > 0
    assert "has the format 1" in output.getvalue()
    assert [path.name for path in tmp_path.iterdir()] == ["company.previous.json"]


@pytest.mark.parametrize(
    "program",
    [
        ["local.run"],
        ["tests.proofs", "connectors"],
        ["pytest", "tests/contract/test_labels.py"],
        ["benchmarks.line"],
        ["benchmarks.costs"],
        ["benchmarks.draining", "1"],
        ["benchmarks.listing_times"],
    ],
    ids=lambda program: program[0],
)
def test_a_database_that_does_not_answer_ends_every_program_with_one_sentence(
    program: list[str], tmp_path: Path
) -> None:
    [closed] = free_ports(1)
    endpoint = f"http://127.0.0.1:{closed}"
    variables = {**os.environ, "DYNAMODB_ENDPOINT": endpoint, "PORT": "0", "STATE_DIR": str(tmp_path)}
    command = [sys.executable, "-m", *program]

    process = subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, text=True, check=False)  # noqa: S603 - ours

    assert process.returncode != 0
    [line] = [line for line in (process.stdout + process.stderr).splitlines() if line and "Starting" not in line]
    assert f"no DynamoDB answers at {endpoint}. Start it (`make dynamodb`" in line
