"""The folders of `src` have one order: a module imports only from its own folder and from folders below it."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.import_graph import ImportGraph

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = Path(__file__).resolve().parents[2]
LAYERS = ["domain", "adapters", "handlers"]

DOMAIN = [
    "qbxml",
    "queries",
    "records",
    "existing",
    "storage",
    "batches",
    "webhooks",
    "apps",
    "people",
    "connections",
    "subscriptions",
    "web_connector",
    "events",
    "listing",
    "queueing",
    "settling",
    "maintenance",
]
"""The folders of `src/domain`, lowest first, as docs/architecture.md draws them. All may import the modules beside
them (`errors`, `ports`, `timestamps`, `dates`, `labels`, `send_by`, `suggestions`), which import nothing."""
WEB_CONNECTOR = ["protocol", "outcomes", "session"]
DECIDING = ["backoff", "company_file_check", "decision", "end", "lingering", "polling", "receiving", "sending"]
"""The modules of `session` that decide without side effects, like all of `outcomes`."""
SIDE_EFFECTS = {"domain.ports", "domain.storage.ports", "domain.storage.retry", "domain.apps.quotas"}
HANDLERS = ["views", "common", "rest"]
"""The functions, which are the modules beside these folders, are above them."""


@cache
def graph() -> ImportGraph:
    """Return the imports of `src`, which take a second to read."""
    return ImportGraph.read(ROOT / "src", LAYERS)


def upward_imports(parent: str, order: Sequence[str]) -> list[str]:
    """Return the imports between the folders of `parent` that run against `order`, which is lowest first."""

    def rank(module: str) -> int | None:
        names = module.removeprefix(f"{parent}.").split(".") if module.startswith(f"{parent}.") else []
        return order.index(names[0]) if names and names[0] in order else None

    return sorted(
        f"{module} imports {imported}"
        for module, imported in graph().imports_between_folders()
        if (importing := rank(module)) is not None and (above := rank(imported)) is not None and above > importing
    )


@pytest.mark.parametrize(
    ("parent", "order"),
    [("domain", DOMAIN), ("domain.web_connector", WEB_CONNECTOR), ("handlers", HANDLERS)],
    ids=["domain", "web_connector", "handlers"],
)
def test_a_folder_imports_only_folders_below_it(parent: str, order: Sequence[str]) -> None:
    assert upward_imports(parent, order) == []


@pytest.mark.parametrize(
    ("parent", "order"),
    [("domain", DOMAIN), ("domain.web_connector", WEB_CONNECTOR), ("handlers", HANDLERS)],
    ids=["domain", "web_connector", "handlers"],
)
def test_every_folder_has_a_place_in_the_order(parent: str, order: Sequence[str]) -> None:
    folder = ROOT / "src" / parent.replace(".", "/")

    assert {path.parent.name for path in folder.glob("*/__init__.py")} == set(order)


def test_the_modules_that_every_folder_may_import_import_no_folder() -> None:
    beside = [module for module, folder in graph().folder_of.items() if folder == "domain"]

    assert [
        module
        for module in beside
        if any(graph().folder_of[imported] != "domain" for imported in graph().imports[module])
    ] == []


def test_the_decisions_of_a_session_use_no_database_clock_or_quota() -> None:
    session = "domain.web_connector.session"
    deciding = [f"{session}.{name}" for name in DECIDING]
    deciding += [module for module, folder in graph().folder_of.items() if folder == "domain.web_connector.outcomes"]

    assert {module: used for module in deciding if (used := graph().imports[module] & SIDE_EFFECTS)} == {}
    # The test would prove nothing if these names were wrong.
    assert graph().imports[f"{session}.service"] & SIDE_EFFECTS == SIDE_EFFECTS


def test_the_service_of_a_session_imports_few_modules() -> None:
    assert len(graph().imports["domain.web_connector.session.service"]) <= 16


@pytest.mark.parametrize(
    ("importing", "imported"), [("domain.queueing", "domain.web_connector"), ("adapters", "domain.maintenance")]
)
def test_these_folders_know_nothing_of_each_other(importing: str, imported: str) -> None:
    assert any(folder.startswith(importing) for folder in graph().folder_of.values())
    assert any(folder.startswith(imported) for folder in graph().folder_of.values())
    found = graph().imports_between_folders()

    assert [pair for pair in found if pair[0].startswith(importing) and pair[1].startswith(imported)] == []


def test_no_folders_import_each_other_in_a_circle() -> None:
    assert graph().circle_of_folders() == []


def test_no_files_import_each_other_in_a_circle() -> None:
    assert graph().circle_of_files() == []
