"""The change sync of the guide fetches every change, in every time zone, season and version of QuickBooks."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import defusedxml.ElementTree
import pytest
from customers import start_of
from hypothesis import given
from hypothesis import strategies as st

from simulator import Company

if TYPE_CHECKING:
    from collections.abc import Iterable

NEW_YORK, JULY = "America/New_York", datetime(2026, 7, 1, 16, tzinfo=UTC)

zones = st.sampled_from([NEW_YORK, "America/Phoenix", "Europe/London", "Australia/Adelaide", "-03:30", "UTC"])
moments = st.datetimes(datetime(2025, 1, 1), datetime(2027, 12, 31), timezones=st.just(UTC))  # noqa: DTZ001 - see timezones
minutes = st.integers(0, 600)


class Machine:
    """A QuickBooks machine whose clock a test sets, and the queries of a change sync."""

    def __init__(self, zone: str, now: datetime, *, is_old: bool) -> None:
        self.now = now
        self.company = Company.empty(
            now=self.seconds,
            time_zone=zone,
            standard_offset_in_summer=is_old,
        )

    def seconds(self) -> float:
        """Return the time of the clock in Unix seconds."""
        return self.now.timestamp()

    def process(self, request: str) -> str:
        document = f'<QBXML><QBXMLMsgsRq onError="stopOnError">{request}</QBXMLMsgsRq></QBXML>'
        return self.company.process_request(f'<?xml version="1.0"?><?qbxml version="13.0"?>{document}')

    def add(self, name: str) -> None:
        response = self.process(f"<CustomerAddRq><CustomerAdd><Name>{name}</Name></CustomerAdd></CustomerAddRq>")
        assert 'statusCode="0"' in response

    def changed_since(self, start: str) -> dict[str, str]:
        """Return the names of customers and when they changed."""
        response = self.process(f"<CustomerQueryRq><FromModifiedDate>{start}</FromModifiedDate></CustomerQueryRq>")
        customers = defusedxml.ElementTree.fromstring(response).iter("CustomerRet")
        return {customer.findtext("FullName", ""): customer.findtext("TimeModified", "") for customer in customers}


@given(zone=zones, now=moments, is_old=st.booleans(), waits=st.lists(minutes, min_size=4, max_size=4))
def test_a_sync_fetches_what_changed_since_the_former_one_was_queued(
    zone: str, now: datetime, *, is_old: bool, waits: Iterable[int]
) -> None:
    first, execution, second, third = (timedelta(minutes=wait) for wait in waits)
    machine = Machine(zone, now, is_old=is_old)
    machine.add("Before")
    machine.now += first
    queued_at = machine.now.isoformat()
    machine.now += execution
    fetched = machine.changed_since("1970-01-02")
    machine.add("After its page was read")
    machine.now += second
    machine.add("Later")
    machine.now += third

    changed = machine.changed_since(start_of(queued_at, fetched["Before"]))

    assert {"After its page was read", "Later"} <= changed.keys()


def test_the_newest_time_modified_with_its_offset_loses_a_customer_in_an_older_quickbooks() -> None:
    """The reason for the rule: this is how a sync is usually written."""
    machine = Machine(NEW_YORK, JULY, is_old=True)
    machine.add("Before")
    newest = machine.changed_since("1970-01-02")["Before"]
    queued_at = machine.now.isoformat()
    machine.now += timedelta(minutes=30)
    machine.add("Lost")

    assert "Lost" not in machine.changed_since(newest)
    assert "Lost" in machine.changed_since(start_of(queued_at, newest))


def test_a_start_has_no_offset_and_overlaps_by_70_minutes() -> None:
    assert start_of("2026-07-01T16:00:00.000000Z", "2026-03-14T08:00:00-05:00") == "2026-07-01T09:50:00"
    assert start_of("2026-07-01T00:30:00.000000Z", "2026-03-14T08:00:00+09:30") == "2026-07-01T08:50:00"


@pytest.mark.parametrize("modified", ["2026-01-14T08:00:00-05:00", "2026-07-14T08:00:00-04:00"])
@pytest.mark.parametrize("month", [1, 7])
def test_the_season_of_the_known_time_may_differ_from_that_of_the_query(modified: str, month: int) -> None:
    machine = Machine(NEW_YORK, datetime(2026, month, 1, 16, tzinfo=UTC), is_old=False)
    queued_at = machine.now.isoformat()
    machine.now += timedelta(seconds=1)
    machine.add("Changed")

    assert "Changed" in machine.changed_since(start_of(queued_at, modified))
