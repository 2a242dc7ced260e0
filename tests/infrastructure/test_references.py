"""References lead somewhere: links and paths in Markdown, and citations of `docs/` in code, tests and configuration.

A citation is a path, with or without a heading: `docs/reference/qbxml-rules.md, Error recovery`. The heading begins
with a capital letter and may continue on the next line. `decision 0005` cites a file in `docs/decisions`.
"""

from __future__ import annotations

import os
import re
from functools import cache
from pathlib import Path

from tests.support.cases import for_each
from tests.support.repository_files import ROOT, repository_files

SUFFIXES = {".md", ".py", ".toml", ".yaml", ".yml"}
FILES = [
    path
    for path in repository_files()
    if path != Path(__file__).resolve() and (path.suffix in SUFFIXES or path.name == "Makefile")
]
PAGES = [path for path in FILES if path.suffix == ".md"]

STALE = re.compile(r"(?<!RFC \d{4} )(?<!WHATWG URL )§|web_connector_protocol|service_contract|(?<![\w/])`qbxml\.md`")

_FENCED = re.compile(r"(?ms)^```.*?^```")
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_CITATION = re.compile(r"\bdocs/((?:[\w-]+/)*[\w.-]+\.\w+)`?(?:, \"?([A-Z].{0,80}))?")
_LINE_BREAK = re.compile(r"\s*\n\s*(?:#\s+)?")
_DECISION = re.compile(r"\b(?:[Dd]ecisions? |docs/decisions/)(\d{4})((?:(?:, | and |, and )\d{4})*)")
_PATH = re.compile(r"`((?:benchmarks|events|local|simulator|src|tests|tools)/[\w./-]+)`")
_PACKAGE_INDEX = re.compile(r"\b(?:pypi|pythonhosted|npmjs)\.(?:org|com)\b")
_MERGE = re.compile(r"(?m)^(?:<{7}|>{7}) ")
_MODULE = re.compile(r"python -m ((?:benchmarks|local|simulator|tests|tools)(?:\.\w+)*)")


def name_of(path: Path) -> str:
    """Return a path as people write it."""
    return str(path.relative_to(ROOT))


@cache
def headings_of(page: Path) -> tuple[str, ...]:
    """Return a page's headings as they are read, without markup."""
    text = _FENCED.sub("", page.read_text(encoding="utf-8"))
    return tuple(heading.strip().replace("`", "") for heading in re.findall(r"(?m)^#+ (.*)$", text))


def anchors_of(page: Path) -> set[str]:
    """Return the anchors that GitHub makes of a page's headings."""
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings_of(page)}


def is_cited(heading: str, text: str) -> bool:
    """Return whether `text` begins with the heading, as whole words."""
    return re.match(re.escape(heading) + r"(?!\w)", text) is not None


def broken_citations(text: str) -> list[str]:
    """Return the citations in `text` that lead to no file, or to no heading of it."""
    text = _LINE_BREAK.sub(" ", text)
    citations = []
    for citation in _CITATION.finditer(text):
        page, cited = ROOT / "docs" / citation[1], citation[2]
        if not page.exists() or (cited and not any(is_cited(heading, cited) for heading in headings_of(page))):
            citations.append(citation[0])
    for numbers in _DECISION.finditer(text):
        missing = [
            number for number in re.findall(r"\d{4}", numbers[0]) if not [*ROOT.glob(f"docs/decisions/{number}-*.md")]
        ]
        citations += [f"decision {number}" for number in missing]
    return citations


@for_each("page", PAGES)
def test_every_link_leads_to_a_file_and_a_heading(page: Path) -> None:
    for link in _LINK.findall(_FENCED.sub("", page.read_text(encoding="utf-8"))):
        if "://" in link:
            continue
        name, _, anchor = link.partition("#")
        target = Path(os.path.normpath(page.parent / name)) if name else page
        assert target.exists(), link
        assert not anchor or anchor in anchors_of(target), link


@for_each("page", PAGES)
def test_every_path_and_module_in_a_page_exists(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    modules = [name.replace(".", "/") for name in _MODULE.findall(text)]

    assert [name for name in _PATH.findall(text) if not (ROOT / name).exists()] == []
    assert [name for name in modules if not (ROOT / name).is_dir() and not (ROOT / f"{name}.py").exists()] == []


def test_every_citation_leads_to_a_file_and_a_heading() -> None:
    citations_by_file = {name_of(path): broken_citations(path.read_text(encoding="utf-8")) for path in FILES}

    assert {name: citations for name, citations in citations_by_file.items() if citations} == {}


def test_no_document_outside_the_repository_is_cited() -> None:
    stale = {name_of(path): marks for path in FILES if (marks := STALE.findall(path.read_text(encoding="utf-8")))}

    assert stale == {}


def test_no_document_has_the_marks_of_a_merge() -> None:
    marked = [name_of(path) for path in FILES if _MERGE.search(path.read_text(encoding="utf-8"))]

    assert marked == []


def test_no_file_has_the_address_of_a_package_index() -> None:
    """The person who installs the project chooses the index, for example a mirror."""
    suffixes = SUFFIXES | {".txt", ".json", ".js", ".mjs", ".mts", ".html"}
    texts = {path: path.read_text(encoding="utf-8") for path in repository_files() if path.suffix in suffixes}

    assert len(texts) > len(FILES)
    assert [name_of(path) for path, text in texts.items() if _PACKAGE_INDEX.search(text)] == []
