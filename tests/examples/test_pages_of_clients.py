"""The typed clients allow pages for exactly the queries for which the service accepts `iterate=auto`."""

from __future__ import annotations

import json
import runpy
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from domain import qbxml
from tests.examples.guide import ROOT

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

CLIENTS = ROOT / "clients"
FACTS = ROOT / "src" / "domain" / "qbxml" / "schema" / "data"
QUERIES = [name for name in json.loads((FACTS / "index.json").read_bytes()) if name.endswith("QueryRq")]
VERSION = "16.0"


@pytest.fixture(scope="module")
def single(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, frozenset[str]]:
    """Return the elements with which each query cannot be sent in pages, as the Python client knows them."""
    generate = runpy.run_path(str(CLIENTS / "python" / "generate.py"))
    folder: Path = tmp_path_factory.mktemp("schema")
    generate["main"](folder)
    facts: dict[str, Any] = runpy.run_path(str(folder / "facts.py"))
    single: Mapping[str, frozenset[str]] = facts["SINGLE"]
    return single


def accepts_auto(name: str, query: Mapping[str, Any]) -> bool:
    # The schema is checked before. Here it does not matter whether the value of an element has its form.
    request = qbxml.parse_request_json({name: query}, default_version=VERSION, validate=False)
    return qbxml.iterated(request) is not None


@pytest.mark.parametrize("name", QUERIES)
def test_a_query_is_sent_in_pages_if_the_service_accepts_it(name: str, single: Mapping[str, frozenset[str]]) -> None:
    assert accepts_auto(name, {}) == (name in single)
    for member in single.get(name, ()):
        assert not accepts_auto(name, {member: "1"}), member


@pytest.mark.skipif(not shutil.which("node"), reason="needs Node")
def test_both_clients_know_the_same(single: Mapping[str, frozenset[str]], tmp_path: Path) -> None:
    program = f"""
        import {{ main }} from {json.dumps(str(CLIENTS / "typescript" / "generate.mjs"))};
        import {{ pathToFileURL }} from "node:url";
        main({json.dumps(str(tmp_path))});
        const {{ SINGLE }} = await import(pathToFileURL({json.dumps(str(tmp_path / "facts.js"))}));
        console.log(JSON.stringify(SINGLE));
    """
    (tmp_path / "package.json").write_text('{"type": "module"}', encoding="utf-8")
    ended = subprocess.run(  # noqa: S603 - our own generator
        ["node", "--input-type=module", "--eval", program],  # noqa: S607 - the reader's Node
        capture_output=True,
        text=True,
        check=True,
    )

    assert {name: frozenset(members) for name, members in json.loads(ended.stdout).items()} == single
