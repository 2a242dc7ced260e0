"""Later versions upgrade the stacks of released ones, and both work on the same data while an upgrade runs.

`tests/releases/kept` has a folder for each release, which `make keep-release` writes (docs/releasing.md).
"""

from __future__ import annotations

import copy
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
from io import BytesIO
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from domain.connections.calls import missed_calls
from domain.maintenance.recount import count_differences
from local.template import Template
from tests.documents.pages import groups_of
from tests.releases.kept import ROOT, SEED, answers, kept, kept_versions, order, upgradable, version
from tests.releases.service_in_file import opened, stored_form
from tests.releases.tables import Tables, tables_of, update

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Mapping
    from pathlib import Path

    from tests.support.random_history import RandomHistory

VERSIONS = kept_versions()
TODAY = tables_of(Template.load())
TURNS = 2
STEPS_A_TURN = 8

WORDED = frozenset({"message", "hint", "waiting_reason"})
"""Members whose texts a later version may word differently."""

PREDICTED = frozenset({"next_session_at"})
"""Members with a prediction. A later version may withhold it for a connection that has missed calls."""


# --- The version


PARTS = {
    "pyproject.toml": r'^version = "(.+)"',
    "template.yaml": r"^  qbxml-queue (\S+): ",
    "clients/python/pyproject.toml": r'^version = "(.+)"',
    "clients/typescript/package.json": r'^  "version": "(.+)"',
    "README.md": r"^\*\*Status\.\*\* Version (\S+) ",
}
"""The files with the version of the project, and how each names it."""


def versions_in(folder: Path) -> dict[str, list[str]]:
    """Return the versions that each part of a checkout names."""
    return {
        path: re.findall(pattern, (folder / path).read_text(encoding="utf-8"), re.MULTILINE)
        for path, pattern in PARTS.items()
    }


def dates_in(folder: Path) -> dict[str, str]:
    """Return the date of each version in the changelog of a checkout."""
    changelog = (folder / "CHANGELOG.md").read_text(encoding="utf-8")
    return dict(re.findall(r"^## \[(\S+)\] - (\d{4}-\d\d-\d\d)$", changelog, re.MULTILINE))


def status_in(folder: Path) -> str:
    """Return what the README says about its version: `of 2026-11-23`."""
    readme = (folder / "README.md").read_text(encoding="utf-8")
    (status,) = re.findall(r"^\*\*Status\.\*\* Version \S+ (of \S+|is not released yet)\.", readme, re.MULTILINE)
    return str(status)


def test_every_part_of_the_project_has_the_version_of_pyproject() -> None:
    assert versions_in(ROOT) == {path: [version()] for path in PARTS}


def test_the_readme_has_the_date_of_its_version_in_the_changelog() -> None:
    date = dates_in(ROOT).get(version())

    assert status_in(ROOT) == (f"of {date}" if date else "is not released yet")


@pytest.mark.parametrize("status", ["of 2026-01-01", "is not released yet"])
def test_the_commands_of_the_page_change_every_part_to_any_version_with_one_date(status: str, tmp_path: Path) -> None:
    for path in [*PARTS, "CHANGELOG.md"]:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / path, tmp_path / path)
    readme = tmp_path / "README.md"
    readme.write_text(readme.read_text("utf-8").replace(f" {status_in(ROOT)}.", f" {status}.", 1), encoding="utf-8")
    page = (ROOT / "docs" / "releasing.md").read_text(encoding="utf-8")
    commands = [command.text for group in groups_of("docs/releasing.md", page) for command in group.commands]

    assert commands[0].startswith("V=")
    script = "\n".join(["set -eu", "V=98.76.54", *commands[1:]])
    subprocess.run(["bash", "-c", script], cwd=tmp_path, check=True)  # noqa: S603, S607 - the commands of our page

    assert versions_in(tmp_path) == {path: ["98.76.54"] for path in PARTS}
    assert status_in(tmp_path) == f"of {dates_in(tmp_path)['98.76.54']}"
    assert [*dates_in(tmp_path)] == ["98.76.54", *dates_in(ROOT)]
    assert "\n## [Unreleased]\n\n## [98.76.54]" in (tmp_path / "CHANGELOG.md").read_text(encoding="utf-8")


def test_ci_has_the_tags_of_all_releases() -> None:
    """Without them, the test with turns would be skipped."""
    for workflow in [*ROOT.glob(".github/workflows/*.yml"), ROOT / "examples" / "github_actions" / "deploy.yml"]:
        for job in yaml.safe_load(workflow.read_text(encoding="utf-8"))["jobs"].values():
            steps = job.get("steps", [])
            if re.search(r"\.ci/run|make( \S+)* test( |$)", " ".join(step.get("run", "") for step in steps)):
                (checkout,) = [step for step in steps if step.get("uses", "").startswith("actions/checkout@")]
                assert checkout["with"].get("fetch-depth") == 0, workflow.name


def test_the_changelog_has_every_kept_version_with_its_date_below_an_unreleased_section() -> None:
    headings = re.findall(r"^## (.+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)

    assert headings[0] == "[Unreleased]"
    dated = [re.fullmatch(r"\[?([0-9.]+)\]? - \d{4}-\d\d-\d\d", heading) for heading in headings[1:]]
    assert all(dated), headings
    released = [match[1] for match in dated if match]
    assert released == sorted(released, key=order, reverse=True)
    # The newest release is kept before its section gets its date.
    assert set(VERSIONS) - {version()} <= set(released) <= set(VERSIONS)


def test_the_changelog_of_the_simulator_has_its_version_with_a_date() -> None:
    project = tomllib.loads((ROOT / "simulator" / "pyproject.toml").read_text(encoding="utf-8"))["project"]

    assert next(iter(dates_in(ROOT / "simulator"))) == project["version"]


# --- Tables


def test_the_kept_tables_of_this_version_are_those_of_the_template() -> None:
    if version() in VERSIONS:
        assert kept(version(), "tables") == TODAY, (
            f"The template has changed since version {version()} was kept. If this version is released, raise the "
            "version in pyproject.toml. If it is not, run make keep-release."
        )


@pytest.mark.parametrize("name", VERSIONS)
def test_an_update_replaces_and_loses_no_table_of_a_release(name: str) -> None:
    assert update(kept(name, "tables"), TODAY).problems == ()


def several_steps(releases: Mapping[str, Tables], after: Tables) -> dict[str, tuple[tuple[str, ...], ...]]:
    """Return the releases from which an update would change several indexes of a table, with its steps."""
    steps = {name: update(before, after).steps for name, before in releases.items()}
    return {name: changes for name, changes in steps.items() if len(changes) > 1}


def test_an_update_from_each_release_before_changes_at_most_one_index_of_a_table() -> None:
    """The first release has none before it. It passes without a comparison."""
    releases = {name: kept(name, "tables") for name in upgradable(VERSIONS, version())}

    assert several_steps(releases, TODAY) == {}, (
        "DynamoDB changes one index of a table at a time. Release these steps one by one."
    )


def test_a_kept_version_with_two_new_indexes_is_compared_with_those_before_it() -> None:
    new = {"keys": ["HASH connection_id"], "projection": "ALL", "is_read": True}
    after = changed_tables(lambda table: table["indexes"].update(by_customer=new, by_amount=new))

    found = several_steps(dict.fromkeys(upgradable(["0.1.0", "0.2.0"], "0.2.0"), TODAY), after)

    assert {name: len(steps) for name, steps in found.items()} == {"0.1.0": 2}


@pytest.mark.parametrize(
    ("to", "expected"),
    [
        ("0.1.0", []),
        ("0.1.1", ["0.1.0"]),
        ("0.2.0", ["0.1.0", "0.1.1"]),
        ("0.2.1", ["0.1.0", "0.1.1", "0.2.0"]),
        ("0.10.0", ["0.2.0", "0.2.1"]),
        ("1.0.0", ["0.10.0"]),
    ],
)
def test_an_upgrade_is_allowed_from_the_same_second_number_and_from_the_one_before(
    to: str, expected: list[str]
) -> None:
    assert upgradable(["0.1.0", "0.1.1", "0.2.0", "0.2.1", "0.10.0", "1.0.0"], to) == expected


def changed_tables(change: Callable[[dict[str, Any]], object], name: str = "QueuedRequestsTable") -> Tables:
    """Return today's tables after a change of one of them."""
    tables = copy.deepcopy(TODAY)
    change(tables[name])
    return tables


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda table: table.update(keys=["HASH id", "RANGE inserted_at"]), "is replaced .* its key"),
        (lambda table: table.update(name="Requests"), "is replaced .* its name"),
        (lambda table: table.update(local_indexes=[{"IndexName": "x"}]), "is replaced .* its local indexes"),
        (lambda table: table["types"].update(id="N"), "is replaced .* the type of id"),
        (lambda table: table["indexes"].pop("by_label"), "by_label .* is gone"),
        (lambda table: table["indexes"]["by_label"].update(projection="ALL"), "by_label .* changes"),
        (lambda table: table["indexes"]["by_label"].update(keys=["HASH l_label"]), "by_label .* changes"),
        (lambda table: table.update(stream="NEW_IMAGE"), "The stream"),
        (lambda table: table.update(stream=None), "The stream"),
        (lambda table: table.update(expires_by="removed_at"), "time to live"),
        (lambda table: table.update(expires_by=None), "time to live"),
        (lambda table: table.update(has_recovery=False), "recovery"),
        (lambda table: table.update(policies=[None, None]), "policies"),
    ],
)
def test_what_an_update_must_not_change_is_named(change: Callable[[dict[str, Any]], object], problem: str) -> None:
    (found,) = update(TODAY, changed_tables(change)).problems

    assert re.search(problem, found)


def test_a_table_that_is_gone_is_named() -> None:
    (problem,) = update(TODAY, {name: table for name, table in TODAY.items() if name != "AppsTable"}).problems

    assert problem.startswith("AppsTable is gone")


def test_new_tables_attributes_and_one_index_of_each_table_are_one_update() -> None:
    after = copy.deepcopy(TODAY)
    for table in after.values():
        table["types"]["customer"] = "S"
        table["indexes"]["by_customer"] = {"keys": ["HASH customer"], "projection": "ALL", "is_read": True}
    after["CustomersTable"] = copy.deepcopy(TODAY["AppsTable"])

    found = update(TODAY, after)

    assert found.problems == ()
    assert [len(step) for step in found.steps] == [len(TODAY)]


def test_several_indexes_of_a_table_are_steps_and_the_new_ones_come_first() -> None:
    unread = changed_tables(lambda table: table["indexes"]["by_label"].update(is_read=False))
    after = copy.deepcopy(unread)
    indexes = after["QueuedRequestsTable"]["indexes"]
    new = {"keys": ["HASH connection_id"], "projection": "ALL", "is_read": True}
    del indexes["by_label"]
    indexes |= {"by_customer": new, "by_amount": new}

    found = update(unread, after)

    assert found.problems == ()
    assert found.steps == (
        ("create the index by_customer of QueuedRequestsTable",),
        ("create the index by_amount of QueuedRequestsTable",),
        ("delete the index by_label of QueuedRequestsTable",),
    )


# --- Data


@pytest.mark.parametrize("name", VERSIONS)
def test_the_kept_data_have_items_of_every_kind(name: str) -> None:
    tables = kept(name, "service")["tables"]
    parts = {item["part"]["S"].partition("#")[0] for item in tables["PayloadsTable"]}
    states = {item.get("state", {"S": "deleted"})["S"] for item in tables["QueuedRequestsTable"]}

    assert [table for table, items in tables.items() if not items] == []
    assert {"body", "response", "texts"} <= parts
    assert {"waiting", "response_received", "error", "deleted"} <= states


@pytest.mark.parametrize("name", VERSIONS)
def test_data_of_a_release_look_the_same_and_the_app_lives_on(name: str) -> None:
    with opened(kept(name, "service"), seed=1) as history:
        store, now = history.service.store, history.service.clock()
        connections = [connection for name in history.connections if (connection := store.connection(name))]
        missed = {connection.id for connection in connections if missed_calls(connection, now)}
        assert differences(kept(name, "answers"), answers(history), missed) == []

    # Another seed than that of the kept data, whose ids would come again.
    with opened(kept(name, "service"), seed=SEED + 1) as history:
        for _ in range(2 * STEPS_A_TURN):
            history.step()
        history.service.live(1)
        check(history)


@pytest.mark.parametrize(("missed", "number"), [({"a"}, 0), ({"b"}, 1), (set[str](), 1)])
def test_a_prediction_is_withheld_only_for_a_connection_that_has_missed_calls(missed: set[str], number: int) -> None:
    before = {"id": "a", "next_session_at": "2026-03-21T00:47:23.000000Z"}

    assert len(differences(before, before | {"next_session_at": None}, missed)) == number


def differences(before: Any, now: Any, missed: Container[str], path: str = "") -> list[str]:
    """Return what an answer of a release has and today's has not. Today's may have more members.

    `missed` are the ids of the connections that had missed calls at that moment.
    """
    if isinstance(before, dict) and isinstance(now, dict):
        withheld = {name for name in PREDICTED if now.get("id") in missed and now.get(name, ...) is None}
        members = before.keys() - WORDED - withheld
        return [line for name in members for line in differences(before[name], now.get(name), missed, f"{path}.{name}")]
    if isinstance(before, list) and isinstance(now, list) and len(before) == len(now):
        return [line for pair in zip(before, now, strict=True) for line in differences(*pair, missed, f"{path}[]")]
    return [] if before == now else [f"{path}: {now!r} instead of {before!r}"]


def check(history: RandomHistory) -> None:
    """Check that the counts of a history are those of its records, and that all of it can be read."""
    for connection_id in history.connections:
        assert count_differences(history.service.store, connection_id) == {}
    assert {answer["status"] for answer in answers(history).values()} <= {200, 410}


def code_of(name: str, folder: Path) -> Path:
    """Return the folder with the code of a release: that of its tag, or of the working tree before it is tagged.

    Skips the test in a clone without tags, where nobody can tell whether the version of the working tree has one.
    """
    tag = git("archive", f"v{name}")
    if tag.returncode == 0:
        with tarfile.open(fileobj=BytesIO(tag.stdout)) as archive:
            archive.extractall(folder, filter="data")
        return folder
    if name == version() and git("rev-parse", "--is-shallow-repository").stdout.strip() == b"false":
        return ROOT
    pytest.skip(f"this clone has no tag v{name}: git fetch --tags, and --unshallow if it is shallow")


def git(*arguments: str) -> subprocess.CompletedProcess[bytes]:
    """Run git in this repository. Without git, it fails."""
    command = [shutil.which("git") or "false", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, check=False)  # noqa: S603 - our own commands


@pytest.mark.parametrize("name", [*upgradable(VERSIONS, version()), *({version()} & {*VERSIONS})])
def test_both_versions_work_on_the_same_data_in_turns(name: str, tmp_path: Path) -> None:
    """So an upgrade, during which both versions run, and a rollback afterwards lose nothing.

    A version that is kept and not tagged yet takes turns with itself. For the first release, that is all.
    """
    code = code_of(name, tmp_path / "code")
    file = tmp_path / "service.json"
    stored = kept(name, "service")
    for turn in range(TURNS):
        with opened(stored, seed=10 + turn) as history:
            for _ in range(STEPS_A_TURN):
                history.step()
            stored = stored_form(history)
        file.write_text(json.dumps(stored), encoding="utf-8")
        subprocess.run(  # noqa: S603 - code of this repository
            [sys.executable, "-m", "tests.releases.service_in_file", file, str(20 + turn), str(STEPS_A_TURN)],
            cwd=code,
            env=os.environ | {"PYTHONPATH": f"{code / 'src'}{os.pathsep}{code}"},
            check=True,
            capture_output=True,
        )
        stored = json.loads(file.read_text(encoding="utf-8"))
    with opened(stored, seed=30) as history:
        check(history)
