"""What `if_exists` costs: a query if nothing is written, and otherwise less than a third more than the write alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from moto import mock_aws

from adapters.dynamodb import DynamoDBStore
from domain.records.lookup import IfExists, ObjectLookup
from domain.storage.changes import AddRequest, Put
from domain.timestamps import timestamp
from domain.web_connector.endpoint import WebConnector
from local.emulated_dynamodb import emulated_dynamodb
from local.tables import make_tables
from local.template import Template
from tests.contract.conftest import dynamodb_client
from tests.support.builders import CONNECTION_ID, FixedClock, a_connection, a_record
from tests.support.counted_units import CountedUnits
from tests.support.web_connector.connector import PASSWORD, PASSWORD_HASH, CountingSecrets, result_of, soap_call
from tests.support.web_connector.interruptions import RandomIds
from tests.support.web_connector.quickbooks import hcp, response_to

if TYPE_CHECKING:
    from typing import Any

ADDITION = "<CustomerAddRq requestID={0!r}><CustomerAdd><Name>Ada</Name></CustomerAdd></CustomerAddRq>"
QUERY = "<CustomerQueryRq requestID={0!r}><FullName>Ada</FullName></CustomerQueryRq>"
RET = "<CustomerRet><ListID>80-1</ListID><FullName>Ada</FullName></CustomerRet>"
SYNC = "<CustomerAddRq requestID={0!r}><CustomerAdd><Name>Ada</Name><Phone>1</Phone></CustomerAdd></CustomerAddRq>"
MOD = (
    "<CustomerModRq requestID={0!r}><CustomerMod><ListID>80-1</ListID><EditSequence>5</EditSequence><Phone>1</Phone>"
    "</CustomerMod></CustomerModRq>"
)
THERE = (
    "<CustomerRet><ListID>80-1</ListID><EditSequence>5</EditSequence><FullName>Ada</FullName><Phone>{}</Phone>"
    "</CustomerRet>"
)


def units(number: int, xml: str, lookup: ObjectLookup | None, ret: str | None) -> tuple[float, float]:
    """Return the write and read units of a session with a number of requests, which are queued before.

    QuickBooks returns `ret`, or has no object when it is asked.
    """
    with emulated_dynamodb(), mock_aws():
        client = dynamodb_client()
        store = DynamoDBStore(client, make_tables(client, ""))
        store.commit(Put(None, a_connection(password_hash=PASSWORD_HASH, read_batch_size=1)))
        definitions = {table["TableName"]: table for table in Template.load().table_definitions()}
        counted = CountedUnits(client, definitions)
        clock, new_id = FixedClock(), RandomIds()
        for _ in range(number):
            moment = timestamp(clock.advance(seconds=1))
            name, request_id = xml[1 : xml.index(" ")], new_id()
            record = a_record(
                id=request_id,
                request_label=request_id,
                request_name=name,
                inserted_at=moment,
                updated_at=moment,
                lookup=lookup,
            )
            request_xml = f'<QBXML><QBXMLMsgsRq onError="stopOnError">{xml.format(request_id)}</QBXMLMsgsRq></QBXML>'
            store.commit(AddRequest(record, request_xml, "ada"))
        endpoint = WebConnector(store, clock, new_id, CountingSecrets())

        def call(method: str, *texts: str) -> Any:
            clock.advance(seconds=1)
            return result_of(method, endpoint.reply(soap_call(method, *texts)).body)

        ticket, *_ = call("authenticate", CONNECTION_ID, PASSWORD)
        facts = hcp()
        while text := call("sendRequestXML", ticket, facts, "C:\\Books\\acme.qbw", "US", "16", "0"):
            facts = ""
            missing = "QueryRq" in text and not ret
            response = (
                response_to(text, code=500, severity="Warn") if missing else response_to(text, content=ret or RET)
            )
            if call("receiveResponseXML", ticket, response, "", "") == 100:
                break
        return counted.writes, counted.reads


def each(xml: str, lookup: ObjectLookup | None = None, ret: str | None = RET) -> tuple[float, float]:
    """Return the units of one of several requests."""
    few, many = (units(number, xml, lookup, ret) for number in (1, 5))
    return (many[0] - few[0]) / 4, (many[1] - few[1]) / 4


def test_a_request_that_finds_its_object_costs_a_query_and_one_that_adds_it_less_than_a_third_more() -> None:
    looks = ObjectLookup(IfExists.RETURN)
    query, plain = each(QUERY), each(ADDITION)
    found, created = each(ADDITION, looks), each(ADDITION, looks, None)

    print(f"query {query}, plain {plain}, found {found}, created {created}")  # noqa: T201
    assert found[0] <= query[0]
    assert found[1] <= query[1]
    assert created[0] <= 1.3 * plain[0]


def test_an_update_costs_a_query_if_nothing_differs_and_otherwise_less_than_a_third_more_than_a_mod() -> None:
    updates = ObjectLookup(IfExists.UPDATE)
    query, plain = each(QUERY), each(MOD)
    unchanged, updated = each(SYNC, updates, THERE.format(1)), each(SYNC, updates, THERE.format(9))
    created = each(SYNC, updates, None)

    print(f"query {query}, plain {plain}, unchanged {unchanged}, updated {updated}, created {created}")  # noqa: T201
    assert unchanged[0] <= query[0]
    assert unchanged[1] <= query[1]
    assert max(updated[0], created[0]) <= 1.3 * plain[0]
