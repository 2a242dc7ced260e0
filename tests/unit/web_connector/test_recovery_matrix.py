"""Every place of a session is cut in every way: no write is done twice, nothing is stuck, nobody is passed over.

One cut at each place, and two within one call, the indexes late, and the queue too. All pairs of cuts take minutes:
`make prove`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.web_connector.matrix import LAGS, QUEUES, WRITES, one_cut, two_cuts_of_one_call
from tests.support.web_connector.runs import Run

if TYPE_CHECKING:
    from tests.support.web_connector.matrix import Fill


@pytest.mark.parametrize("lag", LAGS)
@pytest.mark.parametrize("fill", QUEUES)
def test_after_any_one_cut_each_request_ends_and_each_write_was_done_once(fill: Fill, lag: str) -> None:
    for cut in one_cut(fill):
        run = Run(fill, cut, lag=lag).to_the_end()

        assert run.places.happened == [cut]
        run.check()


@pytest.mark.parametrize("fill", QUEUES)
def test_a_function_that_dies_in_a_call_that_comes_twice_or_late_changes_nothing(fill: Fill) -> None:
    for cuts in two_cuts_of_one_call(fill):
        run = Run(fill, *cuts, lag="indexes").to_the_end()

        assert run.places.happened == list(cuts)
        run.check()


@pytest.mark.parametrize("fill", WRITES)
def test_in_a_file_without_a_mark_a_write_is_done_once_or_its_outcome_is_unknown(fill: Fill) -> None:
    for cut in one_cut(fill):
        Run(fill, cut, marked=False).to_the_end().check()


def test_without_cuts_quickbooks_gets_everything_in_the_order_in_which_it_was_queued() -> None:
    for fill in QUEUES:
        run = Run(fill).to_the_end()

        run.check()
        first = {record.id: record for record in run.records if record.paging.page == 1}
        records = sorted(run.records, key=lambda record: (first[record.event_id].inserted_at, record.paging.page))
        asked = [(record.request_name, record.request_label) for record in records]
        assert [one for one in ((done.name, done.request_id) for done in run.company.executed) if one in asked] == asked
