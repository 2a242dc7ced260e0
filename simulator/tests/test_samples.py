"""Responses of deployed QuickBooks installations: the simulator gives the same status and the same fields in order."""

from __future__ import annotations

import pytest

from simulator.tests.sample_runs import records, run
from simulator.tests.samples import SAMPLES


@pytest.mark.parametrize("name", SAMPLES)
def test_a_response_has_the_status_and_the_fields_of_the_sample_in_their_order(name: str) -> None:
    sample = SAMPLES[name]

    message_set = run(sample)

    assert (
        tuple(f"{response.get('statusCode')} {response.get('statusSeverity')}" for response in message_set)
        == sample.status
    )
    shapes = {shape for response in message_set for shape in records(response)}
    assert set(sample.shapes) - shapes == set(), shapes
