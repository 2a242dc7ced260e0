"""The document of a request, for support and test tools, is the one that the Web Connector got."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from defusedxml.ElementTree import fromstring

from domain.storage.ports import RequestDetail
from domain.web_connector.outcomes.sent_document import sent_document
from tests.support.web_connector.quickbooks import set_response
from tests.unit.web_connector.test_sets import batch, labels_in, send_set

if TYPE_CHECKING:
    from tests.support.web_connector.connector import Connector

__all__ = ["batch"]


def document(qbwc: Connector, request_id: str) -> str:
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

        assert labels_in(text) == [label]
        (message_set,) = fromstring(text)
        assert message_set.get("newMessageSetID") == set_id
        assert f"<!-- Request {position} of {size} in its message set. The others are left out. -->" in text
