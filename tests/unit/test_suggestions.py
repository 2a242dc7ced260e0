"""Which names are suggested in place of another."""

from __future__ import annotations

import time

import pytest

from domain.suggestions import did_you_mean, similar_names

PARAMETERS = ("page", "page_size", "sort", "sort_direction", "state", "webhook_state", "from", "to", "label")


@pytest.mark.parametrize(
    ("name", "suggestion"),
    [
        ("pageSize", "Did you mean page_size?"),
        ("page-size", "Did you mean page_size?"),
        ("PAGESIZE", "Did you mean page_size?"),
        ("page[size]", "Did you mean page_size?"),
        ("labels", "Did you mean label?"),
        ("direction_sort", "Did you mean sort_direction?"),
        ("webhook_stat", "Did you mean webhook_state?"),
        ("perPage", "Did you mean page_size?"),
        ("frm", "Did you mean from?"),
        ("cursor", None),
        ("", None),
        ("---", None),
        ("é", None),
    ],
)
def test_the_name_that_is_meant_is_suggested(name: str, suggestion: str | None) -> None:
    assert did_you_mean(name, PARAMETERS, others={"per_page": "page_size"}) == suggestion


def test_a_name_of_another_api_is_suggested_only_where_ours_exists() -> None:
    assert did_you_mean("per_page", ["state"], others={"per_page": "page_size"}) is None


def test_names_that_are_equally_similar_come_in_their_own_order() -> None:
    assert similar_names("Addr", ["Addr1", "Addr2", "Addr3", "Addr4"]) == ["Addr1", "Addr2", "Addr3"]


def test_the_names_of_a_newer_version_are_suggested_only_if_they_are_very_similar() -> None:
    assert similar_names("SalesTaxRef", ["SalesTaxRet"]) == ["SalesTaxRet"]
    assert similar_names("Tax", ["TaxRef"], 0.85) == []
    assert similar_names("tax_ref", ["TaxRef"], 0.85) == ["TaxRef"]


def test_a_long_name_is_not_compared() -> None:
    names = [f"name_{number}" for number in range(1_000)]
    begun = time.perf_counter()

    assert similar_names("n" * 1_000_000, names) == []
    assert time.perf_counter() - begun < 1
