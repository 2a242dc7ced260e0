"""The plugin for pytest, in a pytest of its own: the example of the README, and tests that have to fail."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import simulator
from simulator import Company

FOLDER = Path(simulator.__file__ or "").parent
EXAMPLE = (FOLDER / "README.md").read_text(encoding="utf-8").partition("## Use it in pytest")[2]


def run(folder: Path, test: str, *, configuration: str = "", conftest: str = "") -> tuple[int, str]:
    """Run a test file with the plugin and return the exit code and the output."""
    (folder / "test_it.py").write_text(test, encoding="utf-8")
    (folder / "pytest.ini").write_text(f"[pytest]\nfilterwarnings = error\n{configuration}\n", encoding="utf-8")
    if conftest:
        (folder / "conftest.py").write_text(conftest, encoding="utf-8")
    process = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "simulator.pytest_plugin", "test_it.py"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(FOLDER.parent), "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    return process.returncode, process.stdout + process.stderr


def test_the_example_of_the_readme_passes(tmp_path: Path) -> None:
    example = re.search(r"```python\n(.*?)```", EXAMPLE, re.DOTALL)
    assert example is not None

    code, output = run(tmp_path, example[1])

    assert (code, "2 passed" in output) == (0, True), output


@pytest.mark.parametrize(
    ("expectation", "difference"),
    [
        ('balances={"Checking": "1.00"}', "The balance of Checking is 0.00, not 1.00."),
        ('balances={"Nobody": "1.00"}', "There is no account, customer or vendor Nobody."),
        ('added={"Customer": 2}', "1 more Customer records than before the test, not 2."),
        ('added={"Thing": 1}', "There is no kind of record Thing."),
        ('executed={"CustomerAddRq": 2}', "CustomerAddRq succeeded 1 times, not 2."),
    ],
)
def test_assert_books_says_what_differs(tmp_path: Path, expectation: str, difference: str) -> None:
    test = f"""
def test(quickbooks):
    quickbooks.ask("<AccountAddRq><AccountAdd><Name>Checking</Name><AccountType>Bank</AccountType></AccountAdd></AccountAddRq>")
    quickbooks.ask("<CustomerAddRq><CustomerAdd><Name>Ada</Name></CustomerAdd></CustomerAddRq>")
    quickbooks.assert_books({expectation})
"""

    code, output = run(tmp_path, test)

    assert code == 1
    assert difference in output


def test_books_with_a_problem_fail_assert_books(tmp_path: Path) -> None:
    add = "<ToDoAddRq requestID='1'><ToDoAdd><Notes>Call</Notes></ToDoAdd></ToDoAddRq>"
    test = f"""
def test(quickbooks):
    quickbooks.ask("{add}{add}")
    quickbooks.assert_books()
"""

    code, output = run(tmp_path, test)

    assert (code, "executed more than once" in output) == (1, True), output


def test_the_configuration_chooses_a_company_and_its_file_is_not_changed(tmp_path: Path) -> None:
    path = tmp_path / "company.json"
    company = Company.empty()
    company.process_request(
        '<?xml version="1.0"?><?qbxml version="13.0"?><QBXML><QBXMLMsgsRq onError="stopOnError"><CustomerAddRq>'
        "<CustomerAdd><Name>Of the file</Name></CustomerAdd></CustomerAddRq></QBXMLMsgsRq></QBXML>"
    )
    company.save(path)
    before = path.read_bytes()
    test = """
def test(quickbooks):
    quickbooks.assert_books(balances={"Of the file": "0.00"})
    quickbooks.ask("<CustomerAddRq><CustomerAdd><Name>Ada</Name></CustomerAdd></CustomerAddRq>")
"""

    code, output = run(tmp_path, test, configuration=f"quickbooks_company = {path}")

    assert code == 0, output
    assert path.read_bytes() == before


def test_a_project_can_make_the_company_itself_and_reach_it_over_http(tmp_path: Path) -> None:
    conftest = """
import pytest
from simulator import Company

@pytest.fixture(scope="session")
def quickbooks_company():
    return Company.generated(customers=5)
"""
    test = """
import json
import urllib.request

def test(quickbooks):
    with urllib.request.urlopen(quickbooks.url + "books", timeout=10) as response:
        assert json.load(response)["lists"]["Customer"] == 5
    assert quickbooks.url == quickbooks.url
    quickbooks.company.open_error = "0x80040414"

def test_the_company_can_be_opened_again(quickbooks):
    assert quickbooks.company.open_error is None
"""

    code, output = run(tmp_path, test, conftest=conftest)

    assert (code, "2 passed" in output) == (0, True), output


@pytest.mark.parametrize(("strict", "code"), [("true", 1), ("false", 0)])
def test_a_strict_test_warns_of_what_is_not_as_in_quickbooks(tmp_path: Path, strict: str, code: int) -> None:
    test = """
def test(quickbooks):
    quickbooks.ask("<ItemSitesQueryRq/>")
"""

    result, output = run(tmp_path, test, configuration=f"quickbooks_strict = {strict}")

    assert result == code, output
    assert (
        "FidelityWarning: not known to be as in QuickBooks: stock_by_site. Stock is not counted by site" in output
    ) == bool(code)
