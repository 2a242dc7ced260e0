"""A use case takes a port with the methods that it needs, in the words of the domain."""

from __future__ import annotations

import re
from pathlib import Path

from domain.storage import ports

DOMAIN = Path(__file__).resolve().parents[2] / "src" / "domain"
PORTS = {name: port for name, port in vars(ports).items() if name.endswith(("Store", "Database"))}


def test_a_port_has_at_most_12_methods() -> None:
    sizes = {name: len([method for method in dir(port) if method[0] != "_"]) for name, port in PORTS.items()}

    assert sizes.pop("Database") > 40
    assert {name: size for name, size in sizes.items() if size > 12} == {}


def test_only_the_endpoint_that_puts_sessions_together_takes_the_whole_database() -> None:
    users = [path for path in DOMAIN.rglob("*.py") if re.search(r"import .*\bDatabase\b", path.read_text("utf-8"))]

    assert [path.relative_to(DOMAIN).as_posix() for path in users] == ["web_connector/endpoint.py"]
