"""The recipes of CONTRIBUTING.md are complete: everything in the code is documented and has its files.

`make test-recipes` follows each recipe in a copy of the repository and runs its checks.
Other steps are checked where their subject is: `test_imports` (handlers, events, template), `test_openapi` (errors,
queries, operations), `test_permissions` (roles and settings), `test_views` (fields of a record).
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_type_hints

import pytest

from domain.listing.filters import FILTERS, Lookup
from domain.queries import QUERIES
from handlers.rest.errors import STATUSES
from handlers.views.requests import QueuedRequestView
from local.template import Template
from tests.support.api_client import routes
from tests.support.request_filters import ORACLES
from tools.permissions_page import PAGE, page
from tools.query_events import text_of

ROOT = Path(__file__).resolve().parents[2]
SEARCHED = {Lookup.RECORDS, Lookup.INSERTED, Lookup.UPDATED}
"""A list reads the records for these filters, or for one of the two orders."""
CONTRACT = ROOT / "docs" / "reference" / "service-contract.md"


def section(heading: str) -> str:
    """Return the text below a heading of the contract."""
    text = CONTRACT.read_text(encoding="utf-8")
    match = re.search(rf"(?m)^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", text, re.DOTALL)
    assert match, f"{CONTRACT.relative_to(ROOT)} has no heading {heading}"
    return match[1]


def undocumented(names: set[str], heading: str) -> list[str]:
    """Return the names that a section does not mention as code."""
    without_blocks = re.sub(r"```.*?```", "", section(heading), flags=re.DOTALL)
    documented = set(re.findall(r"`([^`]+)`", without_blocks))
    return sorted(names - documented)


def test_every_error_code_is_in_the_contract() -> None:
    assert undocumented({error.code for error in STATUSES}, "Errors") == [], "add the code to the contract"


def test_every_field_of_a_record_is_in_the_contract() -> None:
    omitted = {"request_json_omitted", "response_omitted", "response_json_omitted", "result_omitted"}
    missing = undocumented(set(get_type_hints(QueuedRequestView)) - omitted, "Queued request record")
    assert missing == [], "add the field to the contract"


def test_every_filter_of_requests_is_in_the_contract_and_says_what_a_list_reads() -> None:
    rows = re.findall(r"(?m)^\| (`.+?) \|.*\| (.+?) \|$", section("Filters"))
    documented = {name: "search" in words for names, words in rows for name in re.findall(r"`(\w+)`", names)}

    assert sorted(set(FILTERS) - set(documented)) == [], "add the filter to the contract"
    wrong = [name for name in documented if documented[name] != (FILTERS[name].reading in SEARCHED)]
    assert wrong == [], "say in the contract whether such a list is a search"


def test_every_filter_of_requests_is_tested() -> None:
    missing = sorted(set(FILTERS) - set(ORACLES))

    assert missing == [], "add the filter to ORACLES in tests/support/request_filters.py"


def test_every_convenience_query_and_its_parameters_are_in_the_contract() -> None:
    names = {
        name for query in QUERIES.values() for name in (query.name, *(parameter.name for parameter in query.parameters))
    }

    assert undocumented(names, "Convenience queries") == [], "add the query to the contract"


def test_every_handler_of_a_query_has_its_query() -> None:
    handlers = {path.stem.removeprefix("query_") for path in (ROOT / "src" / "handlers").glob("query_*.py")}

    missing = sorted(handlers - set(QUERIES))
    assert not missing, f"add the query to QUERIES in src/domain/queries/tables.py: {missing}"


@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES)
def test_every_convenience_query_has_its_files(query: object) -> None:
    for file in (f"src/handlers/query_{query.name}.py", f"events/query_{query.name}.json"):  # type: ignore[attr-defined]
        assert (ROOT / file).exists(), f"add {file}; make generate writes events"


@pytest.mark.parametrize("name", QUERIES)
def test_the_event_of_a_convenience_query_is_generated(name: str) -> None:
    file = ROOT / "events" / f"query_{name}.json"

    assert file.read_text(encoding="utf-8") == text_of(name), "run make generate"


def test_the_page_of_permissions_is_generated() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run make generate"


def test_every_path_of_the_api_has_a_response_to_methods_that_it_does_not_have() -> None:
    answered = {
        event.properties["Path"]
        for function in Template.load().functions()
        for event in function.events
        if event.type == "Api" and event.properties["Method"] == "any"
    }

    paths = {route.path for route in routes() if route.path.startswith("/api/")} | {"/api/v1/{path+}"}
    differing = sorted(paths ^ answered)
    assert differing == [], f"give MethodNotAllowedFunction an event of each path, and correct {differing}"
