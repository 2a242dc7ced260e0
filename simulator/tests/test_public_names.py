"""The names that programs import from `simulator`: none may be missing, and none may move."""

from __future__ import annotations

import builtins
import inspect
import re
from pathlib import Path

import simulator

README = (Path(simulator.__file__ or "").parent / "README.md").read_text(encoding="utf-8")
NAMES = [
    *("Company", "CompanySession", "Edit", "Execution", "Fault", "HresultError", "Person", "Product", "QbwcError"),
    *(
        "RequestEvent",
        "Script",
        "SessionResult",
        "Simulator",
        "SimulatorError",
        "Snapshot",
        "Transport",
        "TransportError",
    ),
    *("WebConnector", "set_up"),
]


def test_the_public_names_are_these_and_are_documented() -> None:
    assert simulator.__all__ == NAMES
    for name in NAMES:
        assert getattr(simulator, name)
        assert f"`{name}`" in README or f"from simulator import {name}" in README, name
        assert f"`{name}`" in (simulator.__doc__ or ""), name


def test_what_public_methods_raise_is_public() -> None:
    raised = set()
    for name in NAMES:
        members = inspect.getmembers(getattr(simulator, name), callable)
        texts = [member.__doc__ or "" for key, member in members if not key.startswith("_")]
        for text in (*texts, getattr(simulator, name).__doc__ or ""):
            for sentence in re.findall(r"[Rr]aises[^.]*", text):
                raised |= set(re.findall(r"`(\w+Error)`", sentence))

    assert "HresultError" in raised
    assert {error for error in raised if error not in NAMES and not hasattr(builtins, error)} == set()
