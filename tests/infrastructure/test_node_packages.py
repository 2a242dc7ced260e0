"""Packages of Node have exact versions and hashes, and run no script when they are installed."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from tests.support.repository_files import ROOT, repository_files

if TYPE_CHECKING:
    from pathlib import Path

FOLDERS = sorted(path.parent for path in (ROOT / "tools" / "node").glob("*/package.json"))
EXACT = re.compile(r"\d+\.\d+\.\d+")
HASH = re.compile(r"sha512-[A-Za-z0-9+/]{86}==")
NOT_COMMANDS = {
    "CHANGELOG.md",
    "src/console/vendor/codemirror.js",
    "tests/infrastructure/test_node_packages.py",
    "tests/documents/place.py",  # it looks for these programs
}


def problems(line: str) -> list[str]:
    """Return what is wrong with the commands of Node in a line of a file."""
    found = ["npx without --no fetches what is not installed"] if re.search(r"\bnpx\s+(?!--no\b)", line) else []
    for command, arguments in re.findall(r"\bnpm (ci|install|i|exec|add)\b([^&|;`]*)", line):
        words = [word for word in arguments.split() if not word.startswith(("-", "#", "\\"))]
        # A folder of this repository is not an installed package. Its own script generates its types.
        is_own = any("clients/typescript" in word for word in words)
        if not is_own and "--ignore-scripts" not in arguments:
            found.append(f"npm {command} runs the scripts of packages")
        if command not in {"ci", "install"}:
            found.append(f"npm {command}")
        names = [word for word in words if not is_own and "$" not in word and "tools/node" not in word]
        found += [f"{name} has no exact version" for name in names if not re.search(r".@\d+\.\d+\.\d+$", name)]
    return found


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_a_lock_file_has_exact_versions_and_hashes_and_no_address_of_a_package_index(folder: Path) -> None:
    package = json.loads((folder / "package.json").read_text(encoding="utf-8"))
    lock = json.loads((folder / "package-lock.json").read_text(encoding="utf-8"))
    root, packages = lock["packages"][""], {name: facts for name, facts in lock["packages"].items() if name}

    # Dependabot runs npm without the options of `make lock`.
    assert (folder / ".npmrc").read_text(encoding="utf-8") == "omit-lockfile-registry-resolved=true\n"
    assert root["dependencies"] == package["dependencies"], "run make lock"
    assert all(EXACT.fullmatch(version) for version in package["dependencies"].values())
    assert {f"node_modules/{name}" for name in package["dependencies"]} <= packages.keys()
    assert {name for name, facts in packages.items() if not HASH.fullmatch(facts.get("integrity", ""))} == set()
    assert {name for name, facts in packages.items() if "resolved" in facts} == set()


def test_the_folders_of_the_makefile_are_locked() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")

    assert {folder.name for folder in FOLDERS} == {"clients", "console", "javascript", "lint"}
    assert set(re.findall(r"tools/node/(\w+)/package-lock\.json", makefile)) == {"clients", "javascript", "lint"}


def test_every_command_of_node_in_the_repository_is_pinned_and_runs_no_script_of_others() -> None:
    wrong: dict[str, list[str]] = {}
    for path in repository_files():
        name = path.relative_to(ROOT).as_posix()
        if name in NOT_COMMANDS or path.suffix == ".json":
            continue
        text = path.read_text(encoding="utf-8", errors="replace").replace("\\\n", " ")
        wrong |= {f"{name}: {line.strip()}": found for line in text.splitlines() if (found := problems(line))}

    assert wrong == {}
