"""Counts the units of additions with `if_exists` by their outcome, and of plain requests to compare with.

`benchmarks.call_costs` runs it. Each is counted from the call that queues it to its end, in a session of several,
without the quotas of the app, its webhook and its event. An approval is counted with its call.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from moto import mock_aws

from adapters.dynamodb import DynamoDBStore
from domain.queueing.approvals import Approvals
from domain.queueing.service import RequestService
from domain.records.approval import Approval, Author
from domain.records.lookup import IfExists, ObjectLookup
from domain.records.request import QueuedRequest
from domain.storage.changes import AddRequest, Put
from domain.timestamps import timestamp
from domain.web_connector.endpoint import WebConnector
from local.emulated_dynamodb import emulated_dynamodb
from local.tables import make_tables
from local.template import Template
from tests.contract.conftest import dynamodb_client
from tests.support.builders import AN_ACTOR, APP_ID, CONNECTION_ID, FixedClock, a_connection, a_record
from tests.support.counted_units import CountedUnits
from tests.support.web_connector.connector import PASSWORD, PASSWORD_HASH, CountingSecrets, result_of, soap_call
from tests.support.web_connector.interruptions import RandomIds
from tests.support.web_connector.quickbooks import hcp, labels_in, response_to

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ADDITION = "<CustomerAddRq requestID={0!r}><CustomerAdd><Name>Ada</Name><Phone>1</Phone></CustomerAdd></CustomerAddRq>"
QUERY = "<CustomerQueryRq requestID={0!r}><FullName>Ada</FullName></CustomerQueryRq>"
MOD = (
    "<CustomerModRq requestID={0!r}><CustomerMod><ListID>80-1</ListID><EditSequence>5</EditSequence><Phone>1</Phone>"
    "</CustomerMod></CustomerModRq>"
)
THERE = (
    "<CustomerRet><ListID>80-1</ListID><EditSequence>5</EditSequence><FullName>Ada</FullName><Phone>{}</Phone>"
    "</CustomerRet>"
)
SAME, OTHER = THERE.format(1), THERE.format(9)
FEW, MANY = 1, 5
BETWEEN = '</QBXMLMsgsRs>\n</QBXML>\n<?xml version="1.0" ?>\n<QBXML>\n<QBXMLMsgsRs>\n'
"""What is between two responses as they are returned alone."""
AUTHOR, APPROVER = Author("key_author"), Author("key_approver")


@dataclass(frozen=True, slots=True)
class Kind:
    """A request and the customer that QuickBooks has, or None. `messages` are those that are sent for it.

    The queries of `set_size` requests share one, which counts in parts.
    """

    xml: str
    messages: float = 1
    if_exists: IfExists | None = None
    there: str | None = SAME
    needs_approval: bool = False
    set_size: int = 1


KINDS: Mapping[str, Kind] = {
    "a query": Kind(QUERY),
    "a plain addition": Kind(ADDITION),
    "a plain Mod": Kind(MOD),
    "`return`, `found`": Kind(ADDITION, 1, IfExists.RETURN),
    "`return`, `created`": Kind(ADDITION, 2, IfExists.RETURN, None),
    "`update`, `unchanged`": Kind(ADDITION, 1, IfExists.UPDATE),
    "`update`, `created`": Kind(ADDITION, 2, IfExists.UPDATE, None),
    "`update`, `updated`": Kind(ADDITION, 2, IfExists.UPDATE, OTHER),
    "`update`, `unchanged`, in sets of 20": Kind(ADDITION, 1 / 20, IfExists.UPDATE, set_size=20),
    "`update`, `updated`, in sets of 20": Kind(ADDITION, 1 + 1 / 20, IfExists.UPDATE, OTHER, set_size=20),
    "`update`, `updated` after an approval": Kind(ADDITION, 3, IfExists.UPDATE, OTHER, needs_approval=True),
}


class _Run:
    """A store with requests of one kind, and sessions that send them."""

    def __init__(self, kind: Kind, store: DynamoDBStore) -> None:
        self._kind, self._store = kind, store
        self._clock, self._new_id = FixedClock(), RandomIds()
        self._endpoint = WebConnector(store, self._clock, self._new_id, CountingSecrets())
        self.messages = 0

    def queue(self) -> str:
        """Queue a request."""
        kind, request_id = self._kind, self._new_id()
        moment = timestamp(self._clock.advance(seconds=1))
        record = a_record(
            id=request_id,
            request_label=request_id,
            request_name=kind.xml[1 : kind.xml.index(" ")],
            inserted_at=moment,
            updated_at=moment,
            lookup=kind.if_exists and ObjectLookup(kind.if_exists),
            approval=Approval(AUTHOR.id) if kind.needs_approval else None,
        )
        # Requests for one object would not be sent together.
        xml = kind.xml.format(request_id).replace(">Ada<", f">Ada {request_id[:8]}<")
        request_xml = f'<QBXML><QBXMLMsgsRq onError="stopOnError">{xml}</QBXMLMsgsRq></QBXML>'
        self._store.commit(AddRequest(record, request_xml, "ada"))
        return request_id

    def approve(self, request_ids: Sequence[str]) -> None:
        """Approve requests, each with a call."""
        approvals = Approvals(RequestService(self._store, self._clock), self._clock)
        for request_id in request_ids:
            record = self._store.request(request_id)
            assert isinstance(record, QueuedRequest)
            self._clock.advance(seconds=1)
            approvals.approve(APP_ID, request_id, actor=AN_ACTOR, author=APPROVER, revision=record.revision)

    def session(self) -> None:
        """Run a session. QuickBooks has the customer or not, and returns it after each write."""
        ticket, *_ = self._call("authenticate", CONNECTION_ID, PASSWORD)
        facts, there = hcp(), self._kind.there
        while text := self._call("sendRequestXML", ticket, facts, "C:\\Books\\acme.qbw", "US", "16", "0"):
            self.messages += 1
            facts = ""
            missing = "QueryRq" in text and not there
            status = {"code": 500, "severity": "Warn"} if missing else {"content": there or SAME}
            answer = "".join(response_to(text, label=label, **status) for label in labels_in(text))
            answer = answer.replace(BETWEEN, "")
            if self._call("receiveResponseXML", ticket, answer, "", "") == 100:
                break
        self._call("closeConnection", ticket)

    def _call(self, method: str, *texts: str) -> Any:
        self._clock.advance(seconds=1)
        return result_of(method, self._endpoint.reply(soap_call(method, *texts)).body)


def units(kind: Kind, number: int) -> tuple[float, float]:
    """Return the write and read units of a number of sets of requests, with their sessions."""
    with emulated_dynamodb(), mock_aws():
        client = dynamodb_client()
        settings: dict[str, Any] = {"read_batch_size": kind.set_size, "read_set_size": kind.set_size}
        settings["password_hash"] = PASSWORD_HASH
        store = DynamoDBStore(client, make_tables(client, ""))
        store.commit(Put(None, a_connection(**settings)))
        counted = CountedUnits(client, {table["TableName"]: table for table in Template.load().table_definitions()})
        run = _Run(kind, store)
        ids = [run.queue() for _ in range(number * kind.set_size)]
        run.session()
        if kind.needs_approval:
            run.approve(ids)
            run.session()
        assert run.messages == round(kind.messages * len(ids))
        return counted.writes, counted.reads


def counted() -> Mapping[str, Mapping[str, float]]:
    """Return what a request of each kind uses."""
    return {name: _of(kind) for name, kind in KINDS.items()}


def _of(kind: Kind) -> dict[str, float]:
    few, many = units(kind, FEW), units(kind, MANY)
    number = (MANY - FEW) * kind.set_size
    writes, reads = ((after - before) / number for before, after in zip(few, many, strict=True))
    rest, soap = 1 + kind.needs_approval, 2 * kind.messages
    return {
        "http_calls": rest + soap,
        "rest_calls": rest,
        "http_api_units": soap,
        "functions": rest + soap,
        "messages": kind.messages,
        "reads": round(reads, 1),
        "writes": round(writes, 1),
    }
