"""The benchmark of the console runs, with a tiny size. Its figures are not judged."""

from __future__ import annotations

import shutil

import pytest

from tests.benchmarks.test_benchmarks import IN_A_BROWSER, run


@pytest.mark.skipif(shutil.which("chromium") is None, reason="needs Chromium: apt-get install chromium")
def test_the_benchmark_of_the_console_says_whether_all_limits_are_met() -> None:
    output = run("console", *IN_A_BROWSER["console"])

    assert output.splitlines()[-1].startswith(("All limits are met.", "Missed: "))
