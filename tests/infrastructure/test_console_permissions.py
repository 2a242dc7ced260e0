"""The console shows a control exactly to those who may make its call."""

from __future__ import annotations

import re

from handlers.common.paths import PREFIX
from local.programs import ROOT
from tools.openapi import endpoints

ENTRY = re.compile(r'^  \w+: \{\s+call: "(\w+) (\S+)",\s+needs: \[([^\]]*)\],?\s+\},$', re.MULTILINE)
SCRIPTS = [path for path in (ROOT / "src" / "console").rglob("*.js") if "vendor" not in path.parts]
TABLE = (ROOT / "src" / "console" / "lib" / "permissions.js").read_text(encoding="utf-8")


def test_the_permissions_of_each_control_are_those_of_its_call() -> None:
    needs = {
        (operation.method, operation.path.removeprefix(PREFIX)): endpoint.needs
        for endpoint in endpoints()
        for operation in endpoint.operations
    }
    entries = ENTRY.findall(TABLE)

    assert len(entries) == TABLE.count('call: "')
    for method, path, permissions in entries:
        assert set(re.findall(r"\w+", permissions)) == needs[method, path], f"{method} {path}"


def test_each_entry_of_the_tables_is_used() -> None:
    """A name that is in no table is an error in the console itself."""
    text = "\n".join(path.read_text(encoding="utf-8") for path in SCRIPTS if path.name != "permissions.js")
    names = re.findall(r"^  (\w+): (?:\{\s+call|\[)", TABLE, re.MULTILINE)

    assert len(names) > 20
    assert [name for name in names if f'"{name}"' not in text] == []
