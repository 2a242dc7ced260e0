"""Every type of request: random valid requests get a response that the schema of responses accepts."""

from __future__ import annotations

import random

import defusedxml.ElementTree
import pytest

from simulator.requests.dispatch import HANDLERS
from simulator.schema import schema
from simulator.schema.checking import check_element
from tests.unit.simulator.random_requests import random_request
from tests.unit.simulator.support import a_company, document

REQUESTS = 8
"""Random requests of each type."""

VERSION = (14, 0)


@pytest.mark.parametrize("name", sorted(schema().requests))
def test_random_requests_get_a_response_that_the_schema_accepts(name: str) -> None:
    company = a_company(customers=10, sales_orders=10)
    chance = random.Random(name)

    for _ in range(REQUESTS):
        request = random_request(schema().requests[name], company.books, chance)
        text = company.process_request(document(request, version="14.0"))

        response = defusedxml.ElementTree.fromstring(text)[0][0]
        check_element(response, schema().responses[response.tag], VERSION)
        assert response.get("statusCode") != "1000"


def test_every_request_of_the_schema_has_a_handler() -> None:
    without = {name for name in schema().requests if name not in HANDLERS}

    assert {name for name in without if not name.endswith("ReportQueryRq")} == set()
