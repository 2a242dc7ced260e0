"""The `.qwc` file is checked with the Web Connector's own numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from simulator import WebConnector
from simulator.basics.errors import QbwcError
from simulator.tests.support import FILE_ID, OWNER_ID, ScriptedService, a_company, qwc
from simulator.web_connector.qwc import REQUIRED, read_qwc

if TYPE_CHECKING:
    from pathlib import Path


def test_a_good_file_is_read() -> None:
    file = read_qwc(qwc(CertURL="https://localhost/cert"))

    assert file.app_name == "Sample & Queue"
    assert (file.owner_id, file.file_id) == (OWNER_ID, FILE_ID)
    assert file.every_seconds == 300
    assert file.cert_url == "https://localhost/cert"
    assert read_qwc(qwc()).cert_url == "http://localhost:3000/qbwc"


@pytest.mark.parametrize("name", REQUIRED)
def test_a_required_element_that_is_missing_is_1039(name: str) -> None:
    with pytest.raises(QbwcError, match=f"QBWC1039: .*{name}"):
        read_qwc(qwc(**{name: None}))


@pytest.mark.parametrize(
    ("changes", "number"),
    [
        ({"UserName": ""}, 1039),
        ({"OwnerID": "11111111-2222-3333-4444-555555555555"}, 1039),
        ({"FileID": "{not-a-guid}"}, 1039),
        ({"AppURL": "http://127.0.0.1:3000/qbwc"}, 1001),
        ({"AppURL": "https://[::1]/qbwc"}, 1001),
        ({"AppSupport": "http://127.0.0.1/support"}, 1002),
        ({"AppURL": "http://qb.example.com/qbwc"}, 1010),
        ({"AppURL": "ftp://qb.example.com/qbwc"}, 1039),
        ({"AppURL": "qbwc"}, 1039),
        ({"AppURL": "https://a.example.com/qbwc", "AppSupport": "https://b.example.com/"}, 1000),
        ({"AppURL": "https://a.example.com/qbwc", "AppSupport": "nonsense"}, 1000),
        ({"QBType": "QBOE"}, 1065),
        ({"QBType": "QBPOS"}, 1065),
        ({"Style": "RPC"}, 1039),
        ({"IsReadOnly": "true"}, 1080),
        ({"AuthFlags": "all"}, 1034),
        ({"UnattendedModePref": "yes"}, 1039),
        ({"PersonalDataPref": "no"}, 1039),
        ({"Scheduler": "soon"}, None),
    ],
)
def test_a_bad_value_is_refused_with_its_error_number(changes: dict[str, str | None], number: int | None) -> None:
    if number is None:
        assert read_qwc(qwc(**changes)).every_seconds is None
        return
    with pytest.raises(QbwcError) as caught:
        read_qwc(qwc(**changes))
    assert caught.value.code == number


@pytest.mark.parametrize("text", ["", "<QBWCXML>", "<qbwcxml/>", "<!DOCTYPE a [<!ENTITY b 'c'>]><QBWCXML/>"])
def test_a_file_that_is_not_a_qwc_is_1039(text: str) -> None:
    with pytest.raises(QbwcError) as caught:
        read_qwc(text)
    assert caught.value.code == 1039


@pytest.mark.parametrize(
    ("url", "support"),
    [
        ("https://qb.example.com/qbwc", "https://qb.example.com/support"),
        ("http://localhost/qbwc", "https://help.example.com/"),
        ("http://office-pc/qbwc", "http://office-pc/support"),
    ],
)
def test_https_localhost_and_machine_names_are_accepted(url: str, support: str) -> None:
    assert read_qwc(qwc(AppURL=url, AppSupport=support)).app_url == url


@pytest.mark.parametrize(
    ("scheduler", "seconds"),
    [
        ("<RunEveryNSeconds>20</RunEveryNSeconds>", 20),
        ("<RunEveryNMinutes>2</RunEveryNMinutes><RunEveryNSeconds>20</RunEveryNSeconds>", 120),
        ("", None),
    ],
)
def test_the_first_schedule_counts(scheduler: str, seconds: int | None) -> None:
    assert (
        read_qwc(
            qwc(Scheduler=None).replace("</QBWCXML>", f"<Scheduler>{scheduler}</Scheduler></QBWCXML>")
        ).every_seconds
        == seconds
    )


@pytest.mark.parametrize("scheduler", ["<RunEveryNHours>1</RunEveryNHours>", "<RunEveryNMinutes>0</RunEveryNMinutes>"])
def test_an_invalid_schedule_is_1039(scheduler: str) -> None:
    with pytest.raises(QbwcError, match="QBWC1039"):
        read_qwc(qwc(Scheduler=None).replace("</QBWCXML>", f"<Scheduler>{scheduler}</Scheduler></QBWCXML>"))


def test_a_web_connector_reads_its_file_by_path(tmp_path: Path) -> None:
    path = tmp_path / "sample.qwc"
    path.write_text(qwc(), encoding="utf-8-sig")

    connector = WebConnector.from_file(path, "secret", a_company(), ScriptedService())

    assert connector.qwc.user_name == "tenant-1"
