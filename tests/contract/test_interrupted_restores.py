"""A restore that is killed again and again, and started again, ends as one that runs without an interruption."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from local.restore import RESTORED, TABLES
from tests.support.web_connector.torn_restores import RestoredTables

if TYPE_CHECKING:
    from pathlib import Path

    from adapters.dynamodb import DynamoDBStore

STEPS = 15


@pytest.mark.parametrize("seed", range(4))
def test_a_restore_that_is_killed_and_continued_ends_as_one_that_is_not(
    emulated: DynamoDBStore, tmp_path: Path, seed: int
) -> None:
    tables = RestoredTables(emulated, seed, STEPS)
    expected = tables.restore_in_one_go(tmp_path / "one go")

    kills = tables.restore_with_kills(tmp_path / "killed")

    assert kills > 1
    assert tables.contents() == expected
    tables.history.check_the_rest()


def test_workers_at_the_same_time_end_as_one(emulated: DynamoDBStore, tmp_path: Path) -> None:
    tables = RestoredTables(emulated, 99, STEPS)
    expected = tables.restore_in_one_go(tmp_path / "one")

    assert tables.restore(tmp_path / "many", workers=4, segments=4, rows_at_once=3)

    assert tables.contents() == expected


def test_a_restore_that_continues_does_not_copy_again(emulated: DynamoDBStore, tmp_path: Path) -> None:
    """The copies of the records would undo what the rebuild has changed."""
    tables = RestoredTables(emulated, 7, STEPS)
    assert tables.restore(tmp_path)
    expected = tables.contents()
    for table in map(tables.names.name_of, TABLES):
        tables.history.replace(RESTORED + table, [])

    assert tables.restore(tmp_path)

    assert tables.contents() == expected
