"""The document of a request, for support and test tools, is the one that the Web Connector got."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from defusedxml.ElementTree import fromstring

from domain.records.lookup import IfExists, ObjectLookup
from domain.storage.ports import RequestDetail
from domain.web_connector.outcomes.sent_document import sent_document
from tests.support.web_connector.quickbooks import response_to, set_response
from tests.unit.web_connector.test_sets import batch, labels_in, send_set

if TYPE_CHECKING:
    from tests.support.web_connector.connector import Connector

__all__ = ["batch"]


def document(qbwc: Connector, request_id: str) -> str | None:
    """Return the document of a request, as the API returns it."""
    detail = qbwc.store.request_detail(request_id)
    assert isinstance(detail, RequestDetail)
    return sent_document(detail.stored)


@pytest.mark.parametrize("ended", [False, True])
@pytest.mark.parametrize("name", ["CustomerQueryRq", "CustomerAddRq"])
def test_the_document_of_a_request_that_was_sent_alone_is_the_text_that_was_sent(
    qbwc: Connector, name: str, *, ended: bool
) -> None:
    request_id = qbwc.queue("CustomerQueryRq", "<MaxReturned>2</MaxReturned>") if "Query" in name else qbwc.write()
    before = document(qbwc, request_id)

    sent = qbwc.begin()
    if ended:
        qbwc.receive(set_response(sent))

    assert document(qbwc, request_id) == sent == before
    assert sent.startswith('<?xml version="1.0"')
    assert ("newMessageSetID" in sent) == (name == "CustomerAddRq")


@pytest.mark.parametrize("size", [2, 4])
def test_the_document_of_a_set_has_only_this_request_and_says_so(batch: Connector, size: int) -> None:
    ids, sent = send_set(batch, size=size)
    (set_id,) = re.findall(r'newMessageSetID="([^"]+)"', sent)

    for position, (request_id, label) in enumerate(zip(ids, labels_in(sent), strict=True), 1):
        text = document(batch, request_id)

        assert text
        assert labels_in(text) == [label]
        (message_set,) = fromstring(text)
        assert message_set.get("newMessageSetID") == set_id
        assert f"<!-- Request {position} of {size} in its message set. The others are left out. -->" in text


# --- Requests that ask for their object first

UPDATE = ObjectLookup(IfExists.UPDATE)
PHONE = "<CustomerAdd><Name>Ada</Name><Phone>1</Phone></CustomerAdd>"


def there(sequence: int) -> str:
    """Return the object as QuickBooks returns it."""
    return (
        f"<CustomerRet><ListID>80-1</ListID><EditSequence>{sequence}</EditSequence><Name>Ada</Name>"
        "<Phone>9</Phone></CustomerRet>"
    )


def test_a_request_that_has_only_asked_has_no_document(qbwc: Connector) -> None:
    found = qbwc.queue("CustomerAddRq", PHONE, lookup=ObjectLookup(IfExists.RETURN))
    assert document(qbwc, found) is None
    qbwc.receive(response_to(qbwc.begin(), content=there(5)))

    assert (qbwc.record(found).outcome, document(qbwc, found)) == ("found", None)


def test_the_document_is_the_write_that_was_sent_last_and_never_one_that_was_only_made(qbwc: Connector) -> None:
    request_id = qbwc.queue("CustomerAddRq", PHONE, lookup=UPDATE)
    qbwc.receive(response_to(qbwc.begin(), content=there(5)))
    assert document(qbwc, request_id) is None
    first = qbwc.send()
    assert document(qbwc, request_id) == first
    qbwc.receive(response_to(first, code=3200, severity="Error", message="Out of date."))
    query = qbwc.send()
    assert document(qbwc, request_id) == first
    qbwc.receive(response_to(query, content=there(6)))
    # The second Mod was made, and the session ends before it is sent.
    qbwc.close()
    assert document(qbwc, request_id) is None
    query = qbwc.begin()
    qbwc.receive(response_to(query, code=500, severity="Warn"))
    assert document(qbwc, request_id) is None
    addition = qbwc.send()
    assert "<CustomerAddRq" in addition
    assert document(qbwc, request_id) == addition


def test_the_same_mod_that_is_made_again_stays_the_document(qbwc: Connector) -> None:
    request_id = qbwc.queue("CustomerAddRq", PHONE, lookup=UPDATE)
    qbwc.receive(response_to(qbwc.begin(), content=there(5)))
    first = qbwc.send()
    qbwc.receive(response_to(first, code=3200, severity="Error", message="Out of date."))
    qbwc.receive(response_to(qbwc.send(), content=there(5)))

    assert document(qbwc, request_id) == first


def test_a_mod_whose_text_is_missing_has_no_document(qbwc: Connector) -> None:
    request_id = qbwc.queue("CustomerAddRq", PHONE, lookup=UPDATE)
    qbwc.receive(response_to(qbwc.begin(), content=there(5)))
    qbwc.send()
    qbwc.store.bodies[request_id] = replace(qbwc.store.bodies[request_id], modification_xml=None)

    assert document(qbwc, request_id) is None
