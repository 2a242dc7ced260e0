"""The folders of `simulator` and `local` have one order: a module imports only from its own and from lower folders."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from tests.support.import_graph import ImportGraph

ROOT = Path(__file__).resolve().parents[2]

ORDERS = {
    "simulator": (
        "simulator.basics",
        "simulator.schema",
        "simulator.books",
        "simulator.rules",
        "simulator.requests",
        "simulator.reports",
        "simulator.fidelity",
        "simulator.company_files",
        "simulator.company",
        "simulator.corpus",
        "simulator.situations",
        "simulator.person",
        "simulator.web_connector",
        "simulator.faults",
        "simulator.runs",
        "simulator.inspection",
        "simulator.hosted",
        "simulator",
        "simulator.tests",
    ),
    "local": ("local.emulated_dynamodb", "local", "local.dynamodb_local", "local.sam_local"),
}
"""The folders of each product, lowest first. `simulator/README.md` explains those of the simulator."""


@cache
def graph_of(product: str) -> ImportGraph:
    return ImportGraph.read(ROOT, [product])


@pytest.mark.parametrize("product", ORDERS)
def test_a_folder_imports_only_folders_below_it(product: str) -> None:
    graph = graph_of(product)
    height = {folder: number for number, folder in enumerate(ORDERS[product])}

    upward = [
        f"{module} imports {imported}"
        for module, imported in sorted(graph.imports_between_folders())
        if height[graph.folder_of[imported]] > height[graph.folder_of[module]]
    ]
    assert upward == []


@pytest.mark.parametrize("product", ORDERS)
def test_every_folder_has_a_place_in_the_order(product: str) -> None:
    assert set(graph_of(product).folder_of.values()) == set(ORDERS[product])


@pytest.mark.parametrize("product", ORDERS)
def test_no_files_import_each_other_in_a_circle(product: str) -> None:
    assert graph_of(product).circle_of_files() == []
