"""The `.qwc` file."""

from __future__ import annotations

import re
from urllib.parse import urlsplit
from xml.etree import ElementTree as ET

import pytest

from domain.web_connector.protocol import qwc
from tests.support.builders import a_connection

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


def rendered(**fields: object) -> dict[str, str]:
    """Return the elements of a rendered file."""
    text = qwc.render(a_connection(**fields), base_url=BASE_URL, app_name="Order Connector")
    root = ET.fromstring(text)  # noqa: S314 - our own text
    assert root.tag == "QBWCXML"
    return {element.tag: (element.text or "").strip() for element in root}


def test_every_required_element_is_there_once() -> None:
    text = qwc.render(a_connection(), base_url=BASE_URL, app_name="Order Connector")

    assert all(text.count(f"<{name}>") == 1 for name in REQUIRED)


def test_the_user_name_is_the_connection_and_the_password_is_nowhere() -> None:
    connection = a_connection(password_hash="scrypt$16384$8$1$c2FsdA==$aGFzaA==")

    text = qwc.render(connection, base_url=BASE_URL, app_name="Order Connector")

    assert f"<UserName>{connection.id}</UserName>" in text
    assert "scrypt" not in text


def test_guids_are_in_braces() -> None:
    elements = rendered()

    assert re.fullmatch(r"\{[0-9A-F-]{36}\}", elements["OwnerID"])
    assert re.fullmatch(r"\{[0-9A-F-]{36}\}", elements["FileID"])


@pytest.mark.parametrize("base_url", [BASE_URL, BASE_URL + "/", "http://localhost:3000"])
def test_the_support_page_is_on_the_host_of_the_service(base_url: str) -> None:
    text = qwc.render(a_connection(), base_url=base_url, app_name="Order Connector")
    elements = {element.tag: element.text or "" for element in ET.fromstring(text)}  # noqa: S314 - our own text

    assert elements["AppURL"] == base_url.rstrip("/") + "/qbwc"
    assert urlsplit(elements["AppURL"]).netloc == urlsplit(elements["AppSupport"]).netloc


def test_the_application_may_write_and_leaves_the_rest_to_the_administrator() -> None:
    elements = rendered()

    assert elements["IsReadOnly"] == "false"
    assert elements["UnattendedModePref"] == "umpOptional"
    assert elements["PersonalDataPref"] == "pdpOptional"
    assert elements["AuthFlags"] == "0xF"
    assert elements["QBType"] == "QBFS"
    assert elements["Style"] == "Document"


def test_it_polls_every_five_minutes() -> None:
    text = qwc.render(a_connection(), base_url=BASE_URL, app_name="Order Connector")

    assert "<RunEveryNMinutes>1</RunEveryNMinutes>" in text


def test_names_are_escaped_and_the_file_is_ascii() -> None:
    text = qwc.render(
        a_connection(name='Müller & Söhne <"GmbH">\n\x07'),
        base_url=BASE_URL,
        app_name="Order Connector",
    )

    assert text.isascii()
    elements = {element.tag: element.text or "" for element in ET.fromstring(text)}  # noqa: S314 - our own text
    assert elements["AppName"] == 'Order Connector (Müller & Söhne <"GmbH">   c0000000)'
    assert len(elements["AppDescription"]) <= 80


def test_connections_of_one_machine_have_different_names() -> None:
    assert rendered(name="One")["AppName"] == "Order Connector (One c0000000)"
    assert (
        rendered(name="One", id="d0000000-0000-4000-8000-000000000001")["AppName"] == "Order Connector (One d0000000)"
    )
    assert rendered()["AppName"] == "Order Connector (c0000000)"
    assert rendered(name="C:\\acme")["AppName"] == "Order Connector (C: acme c0000000)"
