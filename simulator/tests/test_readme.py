"""The README lists every fault and option, and its examples work."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import simulator
from simulator import Script
from simulator.books.behaviours import BEHAVIOURS
from simulator.faults import Fault
from simulator.faults.forms import FORMS, KINDS, OPEN_ERRORS
from simulator.fidelity.__main__ import page
from simulator.rules.preferences import PREFERENCES

README = (Path(simulator.__file__ or "").parent / "README.md").read_text(encoding="utf-8")
SECTIONS = {"call": "### On a call", "process": "### On `process`", "session": "### On `session`"}


@pytest.mark.parametrize("place", FORMS)
def test_every_action_is_in_its_table_with_its_keys(place: str) -> None:
    table = README.partition(SECTIONS[place])[2].partition("\n#")[0]
    rows = {match[1]: match[0] for match in re.finditer(r"^\| `([\w-]+)[:`].*$", table, re.MULTILINE)}

    assert set(rows) == set(FORMS[place])
    for action, form in FORMS[place].items():
        for key in form.keys:
            assert f"`{key}`" in rows[action] or key.upper() in rows[action], (action, key)


def test_every_request_fault_and_opening_error_is_documented() -> None:
    for word in (*KINDS, *OPEN_ERRORS):
        assert f"`{word}`" in README, word


def test_every_preference_is_in_its_table_with_its_default() -> None:
    table = README.partition("### Preferences")[2].partition("\nWith `sales_tax`")[0]
    rows = re.findall(r"^\| `(\w+)` \| (\w+) \|", table, re.MULTILINE)

    assert rows == [(name, preference.default) for name, preference in PREFERENCES.items()]


def test_each_behaviour_that_is_shown_exists() -> None:
    shown = re.findall(r"--behaviour ([a-z_]+)=|behaviours/(\w+)/|set_behaviour\(\"(\w+)\"", README)

    assert len(shown) > 3
    assert {name for names in shown for name in names if name} <= BEHAVIOURS.keys()


def test_the_page_about_fidelity_is_up_to_date() -> None:
    path = Path(simulator.__file__ or "").with_name("FIDELITY.md")

    assert path.read_text(encoding="utf-8") == page(), "run python -m simulator.fidelity > simulator/FIDELITY.md"


def test_the_script_that_is_shown_can_be_run() -> None:
    scripts = re.findall(r"```json\n(.*?)```", README, re.DOTALL)

    assert [len(Script.of(json.loads(text)).faults) for text in scripts] == [3]


def test_the_faults_that_are_shown_can_be_read() -> None:
    texts = re.findall(r"(?:--fault |Fault\.parse\(\")([^\s`\"]+)", README)

    assert len(texts) > 4
    for text in texts:
        assert Fault.parse(text.replace("HRESULT", "0x80040414"))
