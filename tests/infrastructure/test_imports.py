"""Imports point one way: handlers → domain ← adapters. Every function has all its files."""

from __future__ import annotations

import ast
import importlib
import json
import sys
from pathlib import Path

import pytest

from local.template import Template
from tests.support.cases import for_each

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src"
OWN = {"domain", "adapters", "handlers", "local", "simulator", "tests", "benchmarks", "tools"}
ALLOWED = {
    "domain": {"domain", "defusedxml", "idna"},
    "adapters": {"domain", "adapters"},
    "handlers": {"domain", "adapters", "handlers"},
}
FUNCTIONS = Template.load(ROOT / "template.yaml").functions()


def imports_of(path: Path) -> set[str]:
    """Return the top-level packages that a module imports, also under TYPE_CHECKING and inside functions."""
    packages: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            packages.update(alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            packages.add((node.module or "").partition(".")[0])
    return packages


@pytest.mark.parametrize("layer", ALLOWED)
def test_a_layer_imports_only_the_layers_below_it(layer: str) -> None:
    for path in sorted((SOURCE / layer).rglob("*.py")):
        own = imports_of(path) & OWN
        assert own <= ALLOWED[layer], f"{path.relative_to(ROOT)} imports {sorted(own - ALLOWED[layer])}"


def test_the_domain_imports_only_the_standard_library_defusedxml_and_idna() -> None:
    for path in sorted((SOURCE / "domain").rglob("*.py")):
        others = imports_of(path) - sys.stdlib_module_names - ALLOWED["domain"]
        assert not others, f"{path.relative_to(ROOT)} imports {sorted(others)}"


def test_the_service_imports_no_development_tool_and_no_simulator() -> None:
    for path in sorted(SOURCE.rglob("*.py")):
        assert not imports_of(path) & {"local", "simulator", "tests", "benchmarks", "moto", "pytest"}, path


@for_each("function", FUNCTIONS)
def test_every_function_of_the_template_has_a_handler_and_a_sample_event(function: object) -> None:
    module, _, name = function.handler.rpartition(".")  # type: ignore[attr-defined]

    file = SOURCE / f"{module.replace('.', '/')}.py"
    assert file.exists(), f"add {file.relative_to(ROOT)}"
    assert callable(getattr(importlib.import_module(module), name))
    event = ROOT / "events" / f"{module.removeprefix('handlers.')}.json"
    assert event.exists(), f"add a sample event: {event.relative_to(ROOT)}"
    assert isinstance(json.loads(event.read_text(encoding="utf-8")), dict)


def test_every_module_with_a_handler_is_a_function_of_the_template() -> None:
    modules = {
        path.stem
        for path in (SOURCE / "handlers").glob("*.py")
        if hasattr(importlib.import_module(f"handlers.{path.stem}"), "handler")
    }

    declared = {function.handler.split(".")[1] for function in FUNCTIONS}
    assert modules == declared, f"template.yaml and src/handlers differ: {sorted(modules ^ declared)}"
