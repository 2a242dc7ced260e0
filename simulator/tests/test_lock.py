"""One session changes the books at a time. Inspection reads them beside a session that only reads, too."""

from __future__ import annotations

import threading
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from simulator import Company
from simulator.company.lock import CompanyLock
from simulator.inspection.inspector import Inspector
from simulator.tests.support import NOW, ask, document

if TYPE_CHECKING:
    from simulator.requests.events import RequestEvent

SECONDS = 30
"""A wait that fails a test that would hang. No test takes so long."""

REPORT = (
    "<GeneralDetailReportQueryRq><GeneralDetailReportType>GeneralLedger</GeneralDetailReportType>"
    "<ReportDateMacro>ThisYear</ReportDateMacro></GeneralDetailReportQueryRq>"
)
QUERY = (
    "<InvoiceQueryRq><TxnDateRangeFilter><DateMacro>ThisCalendarYear</DateMacro></TxnDateRangeFilter></InvoiceQueryRq>"
)
ADD = "<CustomerAddRq><CustomerAdd><Name>{}</Name></CustomerAdd></CustomerAddRq>"


@pytest.mark.parametrize("request_text", [REPORT, QUERY])
def test_inspection_answers_while_a_report_or_a_query_is_computed(request_text: str) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def now() -> float:
        """Return the time. The session stops here, in the middle of its request."""
        if threading.current_thread().name.startswith("session"):
            begun.set()
            assert go_on.wait(SECONDS)
        return NOW

    company = Company.empty(now=now)
    inspector = Inspector(company)
    with ThreadPoolExecutor(1, "session") as sessions, ThreadPoolExecutor(1, "inspection") as inspections:
        response = sessions.submit(company.process_request, document(request_text))
        try:
            assert begun.wait(SECONDS)
            for path in (["books"], ["ledger"], ["lists", "Account"], ["problems"]):
                assert inspections.submit(inspector.get, path, {}).result(SECONDS)
            assert not response.done()
        finally:
            go_on.set()
        assert "statusSeverity" in response.result(SECONDS)


def test_inspection_sees_no_books_in_the_middle_of_a_message_set() -> None:
    with ThreadPoolExecutor(1) as inspections:
        started = threading.Event()

        def inspect() -> int:
            started.set()
            total: int = inspector.get(["lists", "Customer"], {})["total"]
            return total

        totals: list[Future[int]] = []

        def on_request(_event: RequestEvent) -> None:
            if not totals:
                totals.append(inspections.submit(inspect))
                assert started.wait(SECONDS)

        company = Company.empty(now=lambda: NOW, on_request=on_request)
        inspector = Inspector(company)

        ask(company, ADD.format("Ada") + ADD.format("Bruno"))

        assert totals[0].result(SECONDS) == 2


def test_a_holder_that_took_the_lock_twice_admits_no_reader() -> None:
    lock, events = CompanyLock(), list[str]()
    started = threading.Event()

    def read() -> None:
        started.set()
        with lock.reading():
            events.append("read")

    with ThreadPoolExecutor(1) as readers:
        with lock:
            with lock, lock.shared():
                reader = readers.submit(read)
                assert started.wait(SECONDS)
            events.append("left")
        reader.result(SECONDS)

    assert events == ["left", "read"]


def test_a_change_waits_for_those_who_read() -> None:
    lock, events = CompanyLock(), list[str]()
    started = threading.Event()

    def change() -> None:
        started.set()
        with lock:
            events.append("changed")

    with ThreadPoolExecutor(1) as writers:
        with lock.reading():
            writer = writers.submit(change)
            assert started.wait(SECONDS)
            events.append("read")
        writer.result(SECONDS)

    assert events == ["read", "changed"]


def test_what_is_left_to_compute_is_computed_before_others_may_read() -> None:
    events = list[str]()
    lock = CompanyLock(lambda: events.append("prepared"))

    with lock:
        events.append("changed")
        with lock.shared():
            events.append("shared")
    with lock.reading():
        events.append("read")

    assert events == ["changed", "prepared", "shared", "prepared", "read"]
