"""The documentation is complete: endpoints, parameters, alarms and pages. `test_references` checks its links."""

from __future__ import annotations

import os
import re
from pathlib import Path

from domain.queueing import waiting_reason
from local.template import Template
from tests.support.api_client import routes

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("simulator/*.md")])


def test_every_endpoint_is_in_the_readme() -> None:
    """A row names its methods, then paths; `…` replaces the previous path up to its last part."""
    endpoints = set()
    for names in re.findall(r"(?m)^\| (`[A-Z].*?) \|", (ROOT / "README.md").read_text(encoding="utf-8")):
        methods, folder = list[str](), ""
        for name in re.findall(r"`([^`]+)`", names):
            method, _, path = name.rpartition(" ")
            if path.isupper():
                methods.append(path)
                continue
            methods += [method] if method else []
            folder = folder if path.startswith("…") else path.rpartition("/")[0]
            endpoints |= {(method, f"/api/v1{path.replace('…', folder)}") for method in methods}
    path_of_connection = "/api/v1/connections/{connection_id}/queued_requests/{request_id}"
    endpoints |= {
        (method, path.replace("/api/v1/queued_requests/{request_id}", path_of_connection))
        for method, path in endpoints
        if path.startswith("/api/v1/queued_requests/")
    }

    existing = {(route.method, route.path) for route in routes() if route.is_described}
    assert endpoints == existing, f"correct the table of calls in README.md: {sorted(endpoints ^ existing)}"


def test_every_parameter_and_alarm_is_documented_for_the_operator() -> None:
    page = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
    template = Template.load(ROOT / "template.yaml")
    alarms = {name.removesuffix("Alarm") for name in template.resources("AWS::CloudWatch::Alarm")}

    assert [name for name in [*template.parameters, *sorted(alarms)] if f"`{name}`" not in page] == []


def codes_on(page: str) -> set[str]:
    """Return the codes of the Web Connector on a page of docs/."""
    return set(re.findall(r"QBWC(1\d{3})", (ROOT / "docs" / page).read_text(encoding="utf-8")))


def test_support_and_troubleshooting_have_every_code_of_the_web_connector() -> None:
    protocol = (ROOT / "docs" / "reference" / "web-connector-protocol.md").read_text(encoding="utf-8")
    rows = re.findall(r"(?m)^\| (1[\d, ]+) \|", protocol.partition("## QBWC codes")[2])
    codes = {code for row in rows for code in row.split(", ")}

    assert len(codes) > 20
    assert codes_on("support.md") == codes_on("troubleshooting.md") == codes


def test_support_explains_every_waiting_reason() -> None:
    page = (ROOT / "docs" / "support.md").read_text(encoding="utf-8")

    assert set(re.findall(r"(?m)^\| `([a-z_]+)` \|", page)) == set(waiting_reason.CODES)


def test_every_message_in_troubleshooting_is_one_of_a_program() -> None:
    page = (ROOT / "docs" / "troubleshooting.md").read_text(encoding="utf-8")
    cells = re.findall(r"(?m)^\| ([^|]+) \|", page.partition("## On your machine")[2].partition("\n## ")[0])
    messages = [message for cell in cells for message in re.findall(r"`([^`]+ [^`]+)`", cell) if "make " not in message]
    programs = [
        path.read_text(encoding="utf-8") for folder in ("local", "examples") for path in ROOT.glob(f"{folder}/**/*.py")
    ]
    parts = {message: [part.strip() for part in re.split(r"\d+|…", message) if part.strip()] for message in messages}

    assert len(messages) >= 6
    assert [
        message for message in messages if not any(all(part in text for part in parts[message]) for text in programs)
    ] == []


def test_every_page_is_found_from_the_readme() -> None:
    reachable, unread = set[Path](), [ROOT / "README.md"]
    while unread:
        page = unread.pop()
        reachable.add(page)
        for link in re.findall(r"\]\(([^)#\s]+)", page.read_text(encoding="utf-8")):
            target = Path(os.path.normpath(page.parent / link))
            if target.suffix == ".md" and "://" not in link and target not in reachable:
                unread.append(target)

    pages = [page for page in PAGES if page.parent in {ROOT / "docs", ROOT / "docs" / "guides"}]
    assert [page.name for page in pages if page not in reachable] == []


def test_the_list_of_documents_has_every_page() -> None:
    """Decisions are listed as a folder."""
    folder = ROOT / "docs"
    links = re.findall(r"\]\(([^)#\s]+)", (folder / "README.md").read_text(encoding="utf-8"))
    listed = {Path(os.path.normpath(folder / link)) for link in links if "://" not in link}
    pages = [page for page in PAGES if page.parent in {ROOT, *(folder / name for name in ("", "guides", "reference"))}]

    assert [str(page.relative_to(ROOT)) for page in pages if page.name != "README.md" and page not in listed] == []


def test_the_glossary_explains_each_term_once() -> None:
    glossary = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    rows = re.findall(r"(?m)^\| (?!term)([^|]+) \| ([^|]+) \|$", glossary)
    terms = [term for names, _ in rows for term in names.split(", ")]

    assert 0 < len(terms) == len(set(terms))
    assert len({meaning for _, meaning in rows}) == len(rows)
