"""An archive is replayed in the simulator, which names each difference and no other."""

from __future__ import annotations

import argparse
import random
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import pytest
from qbxml_queue.check.archive import Archive
from qbxml_queue.check.command import check
from qbxml_queue.check.journal import Journal
from qbxml_queue.check.report import Report
from qbxml_queue.check.service import Service
from simulated import NOW, SimulatedService

from simulator import Company
from simulator.corpus.__main__ import main
from simulator.corpus.archive import Replay, read_archive, replayed_archive
from simulator.requests.facts import Product

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def company(**options: Any) -> Company:
    return Company.generated(customers=40, seed=7, now=NOW.timestamp, **options)


def archive_of(service: SimulatedService, folder: Path) -> Path:
    with service.client() as client:
        check(Service(client), folder, argparse.Namespace(web_connector=None, archive=False, writes=False))
    journal = Journal(folder)
    path = folder / "archive.zip"
    Archive.of(journal, Report.of(journal), random.Random(1)).write(path)
    return path


def replay(service: SimulatedService, folder: Path) -> Replay:
    return replayed_archive(read_archive(archive_of(service, folder)))


def texts(result: Replay) -> set[tuple[str, str]]:
    return {(difference.pair.partition("-")[2], difference.text) for difference in result.differences}


def test_another_company_of_the_simulator_differs_in_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = archive_of(SimulatedService(company()), tmp_path)

    assert main(["archive", str(path)]) == 0
    assert "0 differences." in capsys.readouterr().out


@pytest.mark.parametrize("preference", ["classes", "inventory", "estimates", "sales_tax"])
def test_the_preferences_of_the_archive_are_those_of_the_replay(preference: str, tmp_path: Path) -> None:
    books = company()
    books.set_preference(preference, "off")

    assert texts(replay(SimulatedService(books), tmp_path)) == set()


def test_an_older_version_of_another_country_differs_in_nothing(tmp_path: Path) -> None:
    product = Product(country="CA", highest_version="12.0")

    assert texts(replay(SimulatedService(company(product=product)), tmp_path)) == set()


def swap_times(response: ET.Element) -> None:
    for element in response.findall("VendorRet"):
        element[1], element[2] = element[2], element[1]


def lose_balance(response: ET.Element) -> None:
    for element in response.findall("VendorRet"):
        element.remove(element.find("Balance"))  # type: ignore[arg-type]


def add_colour(response: ET.Element) -> None:
    for element in response.findall("VendorRet"):
        ET.SubElement(element, "Colour").text = "red"


def refuse(response: ET.Element) -> None:
    if response.tag == "VendorQueryRs":
        response[:] = []
        response.attrib |= {"statusCode": "3260", "statusSeverity": "Error"}


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (swap_times, "VendorRet/TimeModified is before VendorRet/TimeCreated"),
        (lose_balance, "VendorRet/Balance is only in the simulator"),
        (add_colour, "VendorQueryRs has Colour, which the schema of the simulator lacks"),
        (refuse, "status 3260, and 0 in the simulator"),
    ],
)
def test_each_difference_is_named_with_the_rules_of_its_request(
    change: Callable[[ET.Element], None], text: str, tmp_path: Path
) -> None:
    result = replay(SimulatedService(company(), changes=change), tmp_path)

    assert texts(result) == {("kind-Vendor", text)}
    assert {rule for difference in result.differences for rule in difference.rules} >= {"queries"}


def test_a_file_that_is_not_an_archive_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "archive.zip"
    path.write_text("nothing", encoding="utf-8")

    assert main(["archive", str(path)]) == 2
    assert "is not a ZIP file" in capsys.readouterr().err
