"""No modules of the console and of the clients import each other in a circle. `test_import_order` holds the service."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.import_graph import ImportGraph

ROOT = Path(__file__).resolve().parents[2]
GRAPHS = {
    "console": ImportGraph.read_javascript(ROOT / "src" / "console"),
    "TypeScript client": ImportGraph.read_javascript(ROOT / "clients" / "typescript" / "src"),
    # Its schema is generated, and may be there or not.
    "Python client": ImportGraph.read(ROOT / "clients" / "python" / "src", ["qbxml_queue"]).without(
        "qbxml_queue.schema"
    ),
}
LAYERS = ["lib", "views", "."]
"""The folders of the console, lowest first. The pages are in the last one."""


@pytest.mark.parametrize("name", GRAPHS)
def test_no_modules_import_each_other_in_a_circle(name: str) -> None:
    graph = GRAPHS[name]

    assert graph.circle_of_files() == []
    # The test would prove nothing if it found no imports.
    assert any(graph.imports.values())


def test_a_folder_of_the_console_imports_only_folders_below_it() -> None:
    graph = GRAPHS["console"]

    assert {*graph.folder_of.values()} == {*LAYERS}
    assert [
        f"{module} imports {imported}"
        for module, imported in sorted(graph.imports_between_folders())
        if LAYERS.index(graph.folder_of[imported]) > LAYERS.index(graph.folder_of[module])
    ] == []


@pytest.mark.parametrize(
    "line",
    [
        'import { a } from "./b.js";',
        'import {\n  a,\n} from "./b.js";',
        'import "./b.js";',
        'export { a } from "./b.js";',
        'const a = await import("./b.js");',
        '/** @typedef {import("./b.js").A} A */',
        '/** @import { A } from "./b.js" */',
    ],
)
def test_a_circle_of_javascript_is_found(tmp_path: Path, line: str) -> None:
    (tmp_path / "a.js").write_text(f"{line}\n", encoding="utf-8")
    (tmp_path / "b.js").write_text('import { c } from "./lib/c.js";\n', encoding="utf-8")
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "c.js").write_text('import a from "../a.js";\n', encoding="utf-8")

    assert {*ImportGraph.read_javascript(tmp_path).circle_of_files()} == {"a.js", "b.js", "lib/c.js"}
