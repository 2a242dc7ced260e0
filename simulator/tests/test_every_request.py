"""Every type of request: random valid requests get a response that the schema of responses accepts."""

from __future__ import annotations

import random

import defusedxml.ElementTree
import pytest

from simulator.company.dispatch import HANDLERS
from simulator.schema import schema
from simulator.schema.checking import check_element
from simulator.tests.random_requests import random_request
from simulator.tests.support import a_company, contents_of, document

REQUESTS = 4
"""Random requests of each type."""

VERSION = (16, 0)


@pytest.mark.parametrize("seed", range(4))
def test_random_requests_of_every_type_get_a_response_that_the_schema_accepts(seed: int) -> None:
    company = a_company(customers=20)
    chance = random.Random(seed)
    names_of_successes = set()
    copy, contents = company.books.copy(), contents_of(company.books)
    assert contents_of(copy) == contents

    # In the schema's order: a Mod finds the records that the Adds before it made.
    for name, model in schema().requests.items():
        for _ in range(REQUESTS):
            request = random_request(model, company.books, chance)
            text = company.process_request(document(request, version="16.0"))

            response = defusedxml.ElementTree.fromstring(text)[0][0]
            check_element(response, schema().responses[response.tag], VERSION)
            assert response.get("statusCode") != "1000", request
            if response.get("statusCode") == "0":
                names_of_successes.add(name)

    assert len(names_of_successes) > len(schema().requests) / 2
    assert contents_of(copy) == contents != contents_of(company.books)


def test_every_request_of_the_schema_has_a_handler() -> None:
    assert {name for name in schema().requests if name not in HANDLERS} == set()
