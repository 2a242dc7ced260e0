"""The `.qwc` file: its elements, and the names in it."""

from __future__ import annotations

import re
from dataclasses import replace
from urllib.parse import urlsplit
from xml.etree import ElementTree as ET

import pytest

from domain.records.request import State
from domain.storage.changes import Put
from domain.timestamps import timestamp
from domain.web_connector.protocol import qwc
from simulator.faults import Fault
from tests.support.builders import a_connection
from tests.support.web_connector.service import Service

BASE_URL = "https://abc.execute-api.us-east-1.amazonaws.com/Prod"
REQUIRED = [
    "AppName",
    "AppID",
    "AppURL",
    "AppDescription",
    "AppSupport",
    "UserName",
    "OwnerID",
    "FileID",
    "QBType",
]  # the required elements


def elements_of(**fields: object) -> dict[str, str]:
    """Return the elements of a rendered file."""
    text = qwc.render(a_connection(**fields), base_url=BASE_URL)
    root = ET.fromstring(text)  # noqa: S314 - our own text
    assert root.tag == "QBWCXML"
    return {element.tag: (element.text or "").strip() for element in root}


def test_every_required_element_is_there_once() -> None:
    text = qwc.render(a_connection(), base_url=BASE_URL)

    assert all(text.count(f"<{name}>") == 1 for name in REQUIRED)


def test_the_user_name_is_the_connection_and_the_password_is_nowhere() -> None:
    connection = a_connection(password_hash="scrypt$16384$8$1$c2FsdA==$aGFzaA==")

    text = qwc.render(connection, base_url=BASE_URL)

    assert f"<UserName>{connection.id}</UserName>" in text
    assert "scrypt" not in text


def test_guids_are_in_braces() -> None:
    elements = elements_of()

    assert re.fullmatch(r"\{[0-9A-F-]{36}\}", elements["OwnerID"])
    assert re.fullmatch(r"\{[0-9A-F-]{36}\}", elements["FileID"])


@pytest.mark.parametrize("base_url", [BASE_URL, BASE_URL + "/", "http://localhost:3000"])
def test_the_support_page_is_on_the_host_of_the_service(base_url: str) -> None:
    text = qwc.render(a_connection(), base_url=base_url)
    elements = {element.tag: element.text or "" for element in ET.fromstring(text)}  # noqa: S314 - our own text

    assert elements["AppURL"] == base_url.rstrip("/") + "/qbwc"
    assert urlsplit(elements["AppURL"]).netloc == urlsplit(elements["AppSupport"]).netloc


def test_the_application_may_write_and_leaves_the_rest_to_the_administrator() -> None:
    elements = elements_of()

    assert elements["IsReadOnly"] == "false"
    assert elements["UnattendedModePref"] == "umpOptional"
    assert elements["PersonalDataPref"] == "pdpOptional"
    assert elements["AuthFlags"] == "0xF"
    assert elements["QBType"] == "QBFS"
    assert elements["Style"] == "Document"


def test_the_web_connector_polls_every_minute() -> None:
    text = qwc.render(a_connection(), base_url=BASE_URL)

    assert "<RunEveryNMinutes>1</RunEveryNMinutes>" in text


def test_names_are_escaped_and_the_file_is_ascii() -> None:
    text = qwc.render(a_connection(name='Müller & Söhne <"GmbH">\n\x07'), base_url=BASE_URL)

    assert text.isascii()
    elements = {element.tag: element.text or "" for element in ET.fromstring(text)}  # noqa: S314 - our own text
    assert elements["AppDescription"].startswith('Müller & Söhne <"GmbH">  : Sends')


@pytest.mark.parametrize("name", [None, "Acme", "x" * 200])
def test_the_description_names_the_connection_in_at_most_80_characters(name: str | None) -> None:
    description = elements_of(name=name)["AppDescription"]

    assert len(description) <= 80
    assert name is None or description.startswith(name[:79])


def test_connections_of_one_machine_have_different_names() -> None:
    assert elements_of(name="One")["AppName"] == "qbxml-queue (c0000000-0000)"
    assert (
        elements_of(name="One", id="d0000000-0000-4000-8000-000000000001")["AppName"] == "qbxml-queue (d0000000-0000)"
    )


def test_a_renamed_connection_keeps_the_name_under_which_quickbooks_stores_responses() -> None:
    names = {elements_of(name=name)["AppName"] for name in (None, "One", "Two", "C:\\acme")}

    assert len(names) == 1


def test_the_web_connector_replaces_an_application_that_is_added_again() -> None:
    elements = elements_of()

    assert elements["AppUniqueName"] == elements["AppName"]


def test_a_write_is_not_repeated_if_the_connection_is_renamed_while_the_write_recovers() -> None:
    service = Service()
    qbwc, company = service.qbwc, service.company
    write = qbwc.write()
    lost = qbwc.simulator(company, transport=service, faults=[Fault.parse("receiveResponseXML:1:lose-request")])
    lost.run_once()
    connection = replace(qbwc.connection, name="Another name").changed(timestamp(qbwc.clock.now))
    qbwc.store.commit(Put(qbwc.connection, connection))

    qbwc.clock.advance(minutes=5)
    qbwc.simulator(company, transport=service).run_once()  # with the .qwc file of the renamed connection

    assert qbwc.record(write).state is State.RESPONSE_RECEIVED
    assert [execution.name for execution in company.writes] == ["CustomerAddRq"]
