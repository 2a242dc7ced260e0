from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest
from qbxml_queue import FileCursor

if TYPE_CHECKING:
    from pathlib import Path

    from service import Service

NUMBERS = [1, 2, 3, 4, 5]


@pytest.fixture
def cursor(tmp_path: Path) -> FileCursor:
    return FileCursor(tmp_path / "events.cursor")


@pytest.fixture(autouse=True)
def _events(service: Service) -> None:
    service.events = [
        {
            "cursor": str(number),
            "type": "queued_request.completed",
            "request_json": {"request": {"name": "CustomerQueryRq"}},
            "result": {"CustomerRet": [{"Balance": f"{number}.50"}]},
        }
        for number in NUMBERS
    ]


def numbers(events: Any) -> list[int]:
    return [int(event["cursor"]) for event in events]


def test_events_are_yielded_to_the_end_and_not_again(client: Any, service: Service, cursor: FileCursor) -> None:
    assert numbers(client.events(cursor)) == NUMBERS
    assert numbers(client.events(cursor)) == []
    service.events.append({**service.events[0], "cursor": "6"})
    assert numbers(client.events(cursor)) == [6]


@pytest.mark.parametrize("processed", range(5))
def test_a_program_that_ends_gets_the_event_again_that_it_was_processing(
    client: Any, cursor: FileCursor, processed: int
) -> None:
    events = client.events(cursor)
    for _ in range(processed + 1):
        event = next(events)
    del events

    assert int(event["cursor"]) == processed + 1
    assert numbers(client.events(cursor)) == NUMBERS[processed:]


def test_the_results_of_events_have_pythons_types(client: Any, cursor: FileCursor) -> None:
    assert next(client.events(cursor))["result"] == {"CustomerRet": [{"Balance": Decimal("1.50")}]}


def test_an_event_without_content_is_yielded(client: Any, service: Service, cursor: FileCursor) -> None:
    service.events = [{"cursor": "1", "type": "queued_request.deleted", "state": "deleted"}]

    assert numbers(client.events(cursor)) == [1]


def test_only_the_events_of_the_connection_are_asked_for(client: Any, service: Service, cursor: FileCursor) -> None:
    list(client.events(cursor))
    list(client.events(cursor, every_connection=True))

    assert "connection_id" in service.calls[0].url.params
    assert "connection_id" not in service.calls[-1].url.params


def test_an_empty_file_is_no_cursor(tmp_path: Path) -> None:
    path = tmp_path / "cursor"
    path.touch()

    assert FileCursor(path).load() is None
