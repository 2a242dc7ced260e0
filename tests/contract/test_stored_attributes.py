"""The attributes of a stored record. Tables outlive the code, so their names change only on purpose."""

from __future__ import annotations

from moto import mock_aws

from domain.records.request import QueuedRequest
from local.emulated_dynamodb import emulated_dynamodb
from local.tables import make_tables
from tests.contract.conftest import dynamodb_client, keeping_for_a_time
from tests.contract.stores import add
from tests.contract.test_every_field import filled_entity

ATTRIBUTES = {
    "app_id",
    "commit_id",
    "connection_id",
    "continued",
    "error",
    "expires_at",
    "failed_sessions",
    "first_page_id",
    "id",
    "inserted_at",
    "last_session_id",
    "lost_responses",
    "page",
    "page_size",
    "paging_may_begin",
    "priority",
    "qbxml_version",
    "recovery_active",
    "recovery_company_file_key",
    "recovery_begun",
    "recovery_running_until",
    "recovery_sessions",
    "request_label",
    "request_name",
    "response_chunks",
    "response_size",
    "revision",
    "round_attempts",
    "sessions",
    "state",
    "updated_at",
    "webhook_attempts",
    "webhook_error",
    "webhook_round",
    "webhook_state",
    "webhook_url",
}
"""Every attribute of an item of QueuedRequests."""


def test_a_record_is_stored_under_the_names_that_its_table_has() -> None:
    with emulated_dynamodb(), mock_aws():
        client = dynamodb_client()
        tables = make_tables(client, "")
        record = filled_entity(QueuedRequest, response_chunks="7 parts")
        add(keeping_for_a_time(client, tables), record)
        item = client.get_item(TableName=tables.queued_requests, Key={"id": {"S": record.id}})["Item"]

    new, missing = sorted(item.keys() - ATTRIBUTES), sorted(ATTRIBUTES - item.keys())
    assert not missing, f"{missing} are in the tables and no longer read: keep the name by `renamed` of the codec"
    assert not new, f"{new} are stored and not in ATTRIBUTES: add them, or keep the earlier name by `renamed`"
