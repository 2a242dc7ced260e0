"""Which texts the base types accept."""

from __future__ import annotations

import pytest

from domain.qbxml.schema.value_types import BASE_TYPES
from tests.support.cases import for_each

ACCEPTED = {
    "AMTTYPE": ["", "0", "97", "-97.50", "+9999999999999.99"],
    "PRICETYPE": ["", "1.5", "1234567890.12345"],
    "QUANTYPE": ["", "-2.25"],
    "PERCENTTYPE": ["", "8.25"],
    "INTTYPE": ["7", "+7", "-7", " 7\n", "00"],
    "FLOATTYPE": ["", "1", ".5", "5.", " -0.123456789 "],
    "BOOLTYPE": ["", "true", "false", "1", "0", " true "],
    "DATETYPE": ["", "2024-02-29", "2026-01-31Z", "2026-01-31-08:00", "12026-01-31", " 2026-01-31 "],
    "DATETIMETYPE": ["", "2026-1-3", "2026-01-03T7", "2026-01-03T07:30", "2026-01-03T07:30:00+01:00"],
    "TIMEINTERVALTYPE": ["", "PT8H30M5S", "-PT5M", "PT0S"],
    "GUIDTYPE": ["0", "{01234567-89ab-CDEF-0123-456789abcdef}"],
    "IDTYPE": ["", "x" * 36],
}
REFUSED = {
    "AMTTYPE": ["97.5", "97.555", "1,000.00", " 97", "12345678901234", "1e3", "٣"],
    "PRICETYPE": ["1.123456", "12345678901", "1."],
    "QUANTYPE": ["one"],
    "PERCENTTYPE": ["8%"],
    "INTTYPE": ["", "7.0", "7,000", "- 7"],
    "FLOATTYPE": ["1e3", ".", "INF"],
    "BOOLTYPE": ["TRUE", "yes", "2"],
    "DATETYPE": ["2026-02-29", "2026-1-3", "31.1.2026", "0000-01-01", "02026-01-01", "2026-01-31+15:00", "\xa0"],
    "DATETIMETYPE": ["2026-01-03T07:30:00Z", "2026-01-03T07:30:00.5", "2026-01-03 07:30", " 2026-01-03"],
    "TIMEINTERVALTYPE": ["PT", "P1D", "+PT1H", "PT1.5S", "8:30"],
    "GUIDTYPE": ["", "1", "01234567-89ab-cdef-0123-456789abcdef"],
    "IDTYPE": ["x" * 37],
}


@for_each(("name", "text"), [(name, text) for name, texts in ACCEPTED.items() for text in texts])
def test_a_base_type_accepts_its_forms(name: str, text: str) -> None:
    accepts = BASE_TYPES[name].accepts

    assert accepts is not None
    assert accepts(text)


@for_each(("name", "text"), [(name, text) for name, texts in REFUSED.items() for text in texts])
def test_a_base_type_rejects_other_forms(name: str, text: str) -> None:
    accepts = BASE_TYPES[name].accepts

    assert accepts is not None
    assert not accepts(text)


@pytest.mark.parametrize("name", ["STRTYPE", "MACROTYPE", "UUIDTYPE"])
def test_text_types_accept_any_text(name: str) -> None:
    assert BASE_TYPES[name].accepts is None
    assert BASE_TYPES[name].converted("x") is None
