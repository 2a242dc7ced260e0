"""Each problem that a Web Connector can report has a text for customers on the onboarding page."""

from __future__ import annotations

import re
from pathlib import Path

from domain.qbxml.codes.hresults import HRESULTS
from domain.web_connector.outcomes.error_reasons import Reason
from tests.support.cases import for_each

CONSOLE = Path(__file__).parents[2] / "src" / "console"
TEXTS = (CONSOLE / "lib" / "onboarding_problems.js").read_text(encoding="utf-8")

OF_A_CONNECTION = {Reason.COMPANY_FILE_MISMATCH, Reason.COMPANY_FILE_MOVED, Reason.CHECK_NOT_ANSWERED}
"""The service's own reasons that a connection can have. The others are those of requests."""


@for_each("reason", sorted({entry.reason for entry in HRESULTS.values()} | OF_A_CONNECTION))
def test_each_reason_has_a_text(reason: str) -> None:
    assert re.search(rf"^  {reason}: ", TEXTS, re.MULTILINE)
