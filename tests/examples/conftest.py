"""A stack with a simulated QuickBooks, as `make run` starts it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.e2e.runs import Run, running

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(scope="session")
def state(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder in which the stack keeps its credentials."""
    return tmp_path_factory.mktemp("state")


@pytest.fixture(scope="session")
def run(state: Path) -> Iterator[Run]:
    """Yield a stack for all tests of this folder."""
    with running(state) as run:
        yield run
