"""The facts about QuickBooks and the company file in the first call of a session."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.qbxml import HostFacts, host_facts
from domain.qbxml.response.host_facts import MAX_CHARACTERS
from tests.support.qbxml_samples import STATUS_OK, response_xml


def document(host: str = "", company: str = "") -> str:
    return response_xml(
        f"<HostQueryRs {STATUS_OK}><HostRet>{host}</HostRet></HostQueryRs>"
        f"<CompanyQueryRs {STATUS_OK}><CompanyRet>{company}</CompanyRet></CompanyQueryRs>"
        f"<PreferencesQueryRs {STATUS_OK}/>"
    )


def test_product_country_and_company_are_read() -> None:
    facts = host_facts(
        document(
            "<ProductName>QuickBooks Pro 2014</ProductName><MajorVersion>24</MajorVersion>"
            "<MinorVersion>0</MinorVersion>"
            "<Country>US</Country><QBFileMode>SingleUser</QBFileMode>",
            "<CompanyName>Ours</CompanyName>",
        )
    )

    assert facts == HostFacts("QuickBooks Pro 2014", "24", "0", "US", None, "SingleUser", "Ours", is_unmarked=True)


def test_the_highest_version_is_compared_as_a_number() -> None:
    versions = ["1.0", "10.0", "9.0", "2.1"]
    host = "".join(f"<SupportedQBXMLVersion>{version}</SupportedQBXMLVersion>" for version in versions)

    assert host_facts(document(host)).qbxml_version == "10.0"


def test_the_version_of_another_edition_keeps_its_prefix() -> None:
    host = "<SupportedQBXMLVersion>CA2.0</SupportedQBXMLVersion><SupportedQBXMLVersion>CA3.0</SupportedQBXMLVersion>"

    assert host_facts(document(host)).qbxml_version == "CA3.0"


def test_the_file_id_is_found_among_the_extensions() -> None:
    company = (
        "<DataExtRet><DataExtName>AppLock</DataExtName><DataExtValue>LOCKED</DataExtValue></DataExtRet>"
        "<DataExtRet><DataExtName>FileID</DataExtName><DataExtValue>{0a1b}</DataExtValue></DataExtRet>"
    )

    assert host_facts(document(company=company)).file_id == "0A1B"


@pytest.mark.parametrize(
    ("extensions", "unmarked"),
    [
        ("", True),
        ("<DataExtRet><DataExtName>AppLock</DataExtName><DataExtValue>LOCKED</DataExtValue></DataExtRet>", True),
        ("<DataExtRet><DataExtName>FileID</DataExtName><DataExtValue>{0a1b}</DataExtValue></DataExtRet>", False),
        ("<DataExtRet><DataExtName>FileID</DataExtName><DataExtValue></DataExtValue></DataExtRet>", False),
        ("<DataExtRet><DataExtName/></DataExtRet>", False),
        ("<DataExtRet>x</DataExtRet>", False),
    ],
)
def test_a_company_is_unmarked_when_it_was_read_and_has_no_file_id(extensions: str, *, unmarked: bool) -> None:
    assert host_facts(document(company=f"<CompanyName>Ours</CompanyName>{extensions}")).is_unmarked is unmarked


@pytest.mark.parametrize(
    "text",
    [
        "",
        "text",
        "<QBXML/>",
        "<a/>",
        response_xml(""),
        response_xml("<HostQueryRs/><HostQueryRs/><CompanyQueryRs>x</CompanyQueryRs>"),
        document(
            "<SupportedQBXMLVersion>new</SupportedQBXMLVersion><SupportedQBXMLVersion><A/></SupportedQBXMLVersion>"
        ),
        document(f"<SupportedQBXMLVersion>{'9' * 5000}.0</SupportedQBXMLVersion>"),
        document(company="<DataExtRet>x</DataExtRet><CompanyName><A/></CompanyName>"),
    ],
)
def test_missing_or_unexpected_facts_are_none(text: str) -> None:
    assert host_facts(text) == HostFacts()


def test_a_text_is_read_up_to_the_maximum_length_and_not_beyond() -> None:
    text = document("<Country>US</Country>")
    padding = " " * (MAX_CHARACTERS - len(text))

    assert host_facts(text + padding) == host_facts(text) != HostFacts()
    assert host_facts(text + padding + " ") == HostFacts()


@given(st.text())
def test_no_text_raises(text: str) -> None:
    assert host_facts(text) == HostFacts()
