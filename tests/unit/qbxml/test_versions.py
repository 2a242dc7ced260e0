"""A request in a version that the connection's QuickBooks does not support."""

from __future__ import annotations

import pytest

from domain.errors import UnsupportedByVersion
from domain.qbxml import Request, check_version, default_version, parse_request_json, parse_request_xml, stored_request
from tests.support.qbxml_samples import request_xml


def request_in(version: str) -> Request:
    return parse_request_xml(request_xml("<HostQueryRq/>"), version)


@pytest.mark.parametrize(
    ("version", "supported"), [("13.0", "13.0"), ("9.0", "10.0"), ("13.0", None), ("13.0", "CA3.0")]
)
def test_a_supported_version_passes(version: str, supported: str | None) -> None:
    check_version(request_in(version), supported)


@pytest.mark.parametrize(("version", "supported"), [("13.0", "12.0"), ("10.0", "9.0"), ("CA3.0", "CA2.0")])
def test_a_higher_version_is_rejected(version: str, supported: str) -> None:
    with pytest.raises(UnsupportedByVersion) as caught:
        check_version(request_in(version), supported)

    assert caught.value.code == "unsupported_by_version"
    assert caught.value.details == {"qbxml_version": version, "supported": supported}


@pytest.mark.parametrize(
    ("supported", "version"),
    [(None, "13.0"), ("16.0", "13.0"), ("13.0", "13.0"), ("11.0", "11.0"), ("9.0", "9.0"), ("CA3.0", "CA3.0")],
)
def test_the_default_version_is_13_or_a_lower_one_that_quickbooks_supports(supported: str | None, version: str) -> None:
    assert default_version(supported) == version
    assert parse_request_json({"request": {"name": "HostQueryRq"}}, default_version(supported)).version == version


def test_a_stored_request_is_not_checked_again() -> None:
    text = request_xml("<NonsenseRq><Name>Ł</Name></NonsenseRq>")

    assert stored_request(text, "13.0").to_xml() == text
