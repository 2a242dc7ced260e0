"""The benchmark of the console fails when a limit is missed."""

from __future__ import annotations

import pytest

from benchmarks.console import MEASURES, WHOLE_THREAD, report

WITHIN = dict.fromkeys(MEASURES, 10) | {WHOLE_THREAD: 200, "files": 20, "calls": 2}
FULL = WITHIN | {"bytes": 150 * 1024, "drawn_after_data": 200, "drawn": 650}
EMPTY = FULL | {"drawn": 500}


def test_figures_at_their_limits_pass(capsys: pytest.CaptureFixture[str]) -> None:
    assert report(10_000, [FULL] * 3, [EMPTY] * 3) == 0
    assert capsys.readouterr().out.endswith("All limits are met.\n")


@pytest.mark.parametrize(
    ("change", "verdict"),
    [
        ({"bytes": 151 * 1024}, "page, scripts and styles: 151.0 KB, at most 150 KB"),
        ({"drawn_after_data": 201}, "drawn after the last data: 201.0 ms, at most 200 ms"),
        ({"drawn": 651}, "drawn later than without records: 151.0 ms, at most 150 ms"),
        ({WHOLE_THREAD: 201}, "CPU time of the main thread: 201.0 ms, at most 200 ms"),
    ],
)
def test_a_median_beyond_its_limit_fails_and_the_last_line_names_it(
    change: dict[str, float], verdict: str, capsys: pytest.CaptureFixture[str]
) -> None:
    beyond = FULL | change

    assert report(10_000, [beyond, FULL, beyond], [EMPTY] * 3) == 1
    assert capsys.readouterr().out.endswith(f"Missed: {verdict}\n")
