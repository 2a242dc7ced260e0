"""The attributes of a stored record. Tables outlive the code, so their names change only on purpose.

DynamoDB charges a write by the KB, so a record has to fit one.
"""

from __future__ import annotations

import hashlib
import random
import string
import uuid
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
from typing import TYPE_CHECKING

from adapters.dynamodb.queue import queue_key
from adapters.dynamodb.records import RECORDS, hash_of_label
from domain.records.batch import MAX_DEPENDANTS, MAX_REQUESTS
from domain.records.request import (
    Attempts,
    Claim,
    Paging,
    QueuedRequest,
    Recovery,
    RequestError,
    State,
    WhetherExecuted,
)
from domain.records.webhook import Webhook, WebhookAttempt, WebhookState
from domain.storage.changes import ChangeRequest
from domain.timestamps import timestamp
from local.emulated_dynamodb import emulated_dynamodb
from local.emulated_dynamodb.values import size_of
from local.tables import make_tables
from tests.contract.conftest import dynamodb_client, keeping_for_a_time
from tests.contract.stores import add
from tests.contract.test_every_field import filled_entity
from tests.support.builders import NOON, a_record
from tests.support.cases import for_each

if TYPE_CHECKING:
    from adapters.dynamodb.keys import Item

ATTRIBUTES = {
    "approval",
    "app_id",
    "commit_id",
    "connection_id",
    "dependants",
    "dependencies",
    "error",
    "event",
    "expires_at",
    "failed_sessions",
    "fields",
    "id",
    "l_label",
    "l_state",
    "l_updated",
    "l_webhook",
    "inserted_at",
    "last_session_id",
    "label",
    "lookup",
    "lost_responses",
    "message_set",
    "paging_continued",
    "paging_may_begin",
    "paging_page",
    "paging_page_size",
    "qbxml_version",
    "queued_at",
    "query_id",
    "queue_priority",
    "recovery_active",
    "recovery_begun",
    "recovery_company_file_key",
    "recovery_first_sent_at",
    "recovery_running_until",
    "recovery_sessions",
    "request_label",
    "request_name",
    "responded_at",
    "response_attempt",
    "response_chunks",
    "response_size",
    "revision",
    "round_attempts",
    "send_by",
    "is_low",
    "sent_at",
    "sessions",
    "settles",
    "settling_executed",
    "settling_times",
    "simulated",
    "state",
    "state_before_claim",
    "subject",
    "updated_at",
    "updated_before_claim",
    "webhook_attempts",
    "webhook_error",
    "webhook_round",
    "webhook_state",
    "webhook_url",
}
"""Every attribute of an item of QueuedRequests, also those that `fields` contains."""


def test_a_record_is_stored_under_the_names_that_its_table_has() -> None:
    with emulated_dynamodb():
        client = dynamodb_client()
        tables = make_tables(client, "")
        record = filled_entity(QueuedRequest, response_chunks="7 parts")
        add(keeping_for_a_time(client, tables), record)
        item = client.get_item(TableName=tables.queued_requests, Key={"id": {"S": record.id}})["Item"]

    item |= RECORDS.decompressed(item)
    new, missing = sorted(item.keys() - ATTRIBUTES), sorted(ATTRIBUTES - item.keys())
    assert not missing, f"{missing} are in the tables and no longer read: keep the name by `renamed` of the codec"
    assert not new, f"{new} are stored and not in ATTRIBUTES: add them, or keep the earlier name by `renamed`"


# --- Sizes

WRITE_UNIT = 1024
"""DynamoDB: a write is charged for each 1,024 bytes of the item, names included."""

SCRIPTS = {
    "ASCII": (0x21, 0x7E),
    "Latin": (0xC0, 0x17F),
    "Cyrillic": (0x400, 0x45F),
    "Chinese": (0x4E00, 0x9FA5),
    "emoji": (0x1F300, 0x1F6FF),
}
URL_LENGTH = 100
"""Longer URLs are rare, and then a write costs one unit more."""


STORED_BESIDE = {
    "l_state": {"S": "r"},
    "l_webhook": {"S": "s"},
    "l_updated": {"S": timestamp(NOON)},
    "l_label": {"S": hash_of_label("nightly")},
    "commit_id": {"S": "k3Jf9-Qx0aZb"},
    "expires_at": {"N": "1795550000"},
}
"""The keys of the listing indexes, the id of the commit and the time to live."""


def the_largest(chance: random.Random, script: str) -> QueuedRequest:
    """Return a write that was executed and whose webhook was delivered, with the longest texts. No value repeats."""

    def an_id() -> str:
        return str(uuid.UUID(int=chance.getrandbits(128), version=4))

    def a_time() -> str:
        return timestamp(NOON + timedelta(microseconds=chance.randrange(10**12)))

    def a_text(characters: int, first: int, last: int) -> str:
        return "".join(chr(chance.randint(first, last)) for _ in range(characters))

    url = f"https://hooks.{''.join(chance.choices(string.ascii_lowercase + string.digits, k=URL_LENGTH))}"[:URL_LENGTH]
    attempt = WebhookAttempt(a_time(), "OK", 200, chance.randrange(1000))
    return QueuedRequest(
        id=an_id(),
        connection_id=an_id(),
        app_id=an_id(),
        request_name="BillPaymentCreditCardAddRq",
        request_label=a_text(50, *SCRIPTS["ASCII"]),
        qbxml_version="16.0",
        inserted_at=a_time(),
        updated_at=a_time(),
        state=State.RESPONSE_RECEIVED,
        webhook=Webhook(WebhookState.SUCCEEDED, url, (attempt,), attempts_in_round=1),
        recovery=Recovery(company_file_key=chance.randbytes(8).hex()),
        attempts=Attempts(1),
        claim=Claim(chance.randbytes(32).hex()),
        sent_at=a_time(),
        responded_at=a_time(),
        response_size=chance.randrange(10**8),
        response_attempt="k3Jf9-Qx0aZb",
        label=a_text(50, *SCRIPTS[script]),
        subject=a_text(80, *SCRIPTS[script]).encode()[:80].decode(errors="ignore"),
        dependants=tuple(sorted(chance.sample(range(MAX_REQUESTS), MAX_DEPENDANTS))),
        send_by=1_795_550_000,
        is_low=True,
        revision=12,
    )


def item_of(record: QueuedRequest) -> Item:
    """Return the item of a record with everything that is stored beside its fields."""
    return RECORDS.item(record) | STORED_BESIDE


@for_each("script", SCRIPTS)
@for_each("seed", range(20))
def test_the_largest_usual_record_takes_one_write_unit(script: str, seed: int) -> None:
    record = the_largest(random.Random(f"{script} {seed}"), script)

    item = item_of(record)

    assert RECORDS.entity(item) == record
    assert size_of(item) <= WRITE_UNIT


@for_each("script", SCRIPTS)
@for_each("seed", range(20))
def test_the_entry_of_the_queue_with_the_largest_usual_record_takes_one_write_unit(script: str, seed: int) -> None:
    """It is retried after a lost response, so it has everything but a response and an attempt."""
    record = the_largest(random.Random(f"{script} {seed}"), script)
    queued = replace(record, state=State.RETRYABLE, responded_at=None, response_size=0, response_attempt="")
    webhook, recovery = Webhook.to(record.webhook.url), replace(record.recovery, begun=True, active=True)
    queued = replace(queued, webhook=webhook, recovery=recovery, queued_at=queued.updated_at)

    assert size_of(item_of(queued) | queue_key(queued)) <= WRITE_UNIT


@for_each("script", SCRIPTS)
@for_each("seed", range(20))
def test_the_largest_usual_page_of_a_query_takes_one_write_unit(script: str, seed: int) -> None:
    """A page after the first also has the id of its query.

    As a read, it has no key of a company file. It has no dependants, because it was not queued in a batch.
    """
    chance = random.Random(f"{script} {seed}")
    record = the_largest(chance, script)
    first_page_id = str(uuid.UUID(int=chance.getrandbits(128), version=4))
    page = replace(
        record,
        request_name="BillPaymentCreditCardQueryRq",
        recovery=Recovery(),
        paging=Paging(10_000, first_page_id, 100, continued=True),
        queue_priority=0,
        dependants=(),
        send_by=None,
    )

    item = item_of(page)

    assert RECORDS.entity(item) == page
    assert size_of(item) <= WRITE_UNIT


DICTIONARY = "e1266ac8b5e30b26da185bc1a4078358a4a0c9dc89669f0a5175593af45796df"


def test_the_dictionary_with_which_records_were_stored_has_not_changed() -> None:
    """Every stored record is unreadable with another one."""
    assert hashlib.sha256(RECORDS.dictionary).hexdigest() == DICTIONARY


def test_only_the_change_that_settled_a_write_has_the_mark_for_the_stream() -> None:
    with emulated_dynamodb():
        client = dynamodb_client()
        tables = make_tables(client, "")
        store = keeping_for_a_time(client, tables)
        record = a_record(request_name="VendorDelRq", state=State.ERROR, error=RequestError("outcome_unknown", "…"))
        add(store, record)
        marks = []
        unknown = record.asked(NOON).settled(NOON, WhetherExecuted.UNKNOWN).as_change_of(record)
        asked = unknown.asked(NOON)
        settled = asked.settled(NOON, WhetherExecuted.NO)
        changes = [unknown, asked, settled, settled.with_webhook(NOON, Webhook())]
        for before, after in pairwise([record, *changes]):
            store.commit(ChangeRequest(before, after))
            item = client.get_item(TableName=tables.queued_requests, Key={"id": {"S": record.id}})["Item"]
            marks.append(item.get("event"))

    assert marks == [None, None, {"S": "s"}, None]
