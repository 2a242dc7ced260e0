"""A stack with a simulated QuickBooks, as `make run` starts it."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

import pytest

from tests.e2e.runs import Run, running
from tests.examples import guide
from tests.support.repository_files import repository_files

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


CLIENTS_PYTHON = guide.ROOT / ".tools" / "clients" / "bin" / "python"


@pytest.fixture(scope="session")
def state(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder in which the stack keeps its credentials."""
    return tmp_path_factory.mktemp("state")


@pytest.fixture(scope="session")
def run(state: Path) -> Iterator[Run]:
    """Yield a stack for all tests of this folder."""
    with running(state) as run:
        yield run


@pytest.fixture(scope="session")
def typed_client(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder into which the typed Python client is installed.

    It is built in a copy of the files of which it is made, because a build writes into its folder.
    """
    copy, target = tmp_path_factory.mktemp("repository"), tmp_path_factory.mktemp("installed")
    for path in repository_files("clients/python", "src/domain/qbxml/schema/data", "src/console/reference", "docs"):
        (copy / path.relative_to(guide.ROOT)).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, copy / path.relative_to(guide.ROOT))
    options = ["--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--disable-pip-version-check"]
    command = [CLIENTS_PYTHON, "-m", "pip", "install", *options, "--target", target, copy / "clients" / "python"]
    guide.output_of([str(part) for part in command], target, {**os.environ})
    return target
