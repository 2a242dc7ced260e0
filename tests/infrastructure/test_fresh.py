"""`make test-fresh`: what it runs, and what it passes on. The containers themselves need Docker."""

from __future__ import annotations

import itertools
import subprocess
from pathlib import Path

import pytest

from local.debian import RELEASES
from tests.fresh.__main__ import VERSIONS, command, request_of_the_readme, script

IN_README = ("make run", ". .local/env", "/queued_requests")


@pytest.mark.parametrize("system", [True, False])
def test_the_container_runs_the_commands_of_the_readme(system: bool) -> None:
    text = script(system=system)

    assert all(part in text for part in IN_README)
    assert ("make test\n" in f"{text}\n") is not system
    assert ("-m system" in text) is system
    subprocess.run(["bash", "-n"], input=text, text=True, check=True)  # noqa: S607 - as the container finds it


def test_the_request_is_the_one_that_the_readme_shows() -> None:
    assert request_of_the_readme().startswith('. .local/env\ncurl -u "$API_KEY:"')


def test_there_is_a_debian_for_each_version() -> None:
    assert set(VERSIONS) <= RELEASES.keys()


def test_the_container_gets_the_proxy_and_no_credentials() -> None:
    environment = dict.fromkeys(
        ("PIP_CERT", "PIP_FIND_LINKS", "HTTPS_PROXY", "no_proxy", "AWS_PROFILE", "AWS_SECRET_ACCESS_KEY", "API_KEY"),
        "x",
    )

    options = command("image", "3.11", Path("/shared"), system=True, environment=environment)

    passed = [value for name, value in itertools.pairwise(options) if name == "--env"]
    assert passed == ["HOME=/home/reader", "HTTPS_PROXY", "PIP_CERT", "no_proxy"]
    assert "x" not in options


FAILING = """
def test_that_fails():
    assert 1 == 2, "the reason"
"""


@pytest.mark.parametrize("workers", ["0", "1"])
def test_a_failure_is_named_when_it_happens_with_the_command_for_this_test(
    tmp_path: Path, workers: str, pytestconfig: pytest.Config
) -> None:
    file = tmp_path / "test_it.py"
    file.write_text(FAILING, encoding="utf-8")
    options = [
        "-p",
        "tests.failures",
        "-p",
        "no:cacheprovider",
        "-c",
        "/dev/null",
        "--rootdir",
        str(tmp_path),
        "-n",
        workers,
    ]

    process = subprocess.run(  # noqa: S603 - our own arguments
        [".venv/bin/python", "-m", "pytest", "-q", *options, str(file)],
        cwd=pytestconfig.rootpath,
        capture_output=True,
        text=True,
        check=False,
    )

    before_the_summary = process.stdout.partition("= FAILURES =")[0]
    assert "FAILED test_it.py::test_that_fails: AssertionError: the reason\n" in before_the_summary
    assert "    .venv/bin/python -m pytest test_it.py::test_that_fails\n" in before_the_summary
