"""Every command of the documents is read, and `make test-documents` reports each one that does something else.

`make test-documents` takes minutes. These tests show that it would find a problem, and that its table fits the pages.
"""

from __future__ import annotations

import re
import signal
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.documents.follow import Follower, started_twice
from tests.documents.pages import (
    Command,
    Malformed,
    contains,
    groups_of,
    is_complete,
    pages,
    prints,
)
from tests.documents.place import Place, kept
from tests.documents.shell import Shell, wait_until
from tests.documents.table import READERS, TABLE, CheckedBy, Instead, NeedsAws, Reader, Row, UntilStopped, row_of
from tests.support.processes import has_ended

if TYPE_CHECKING:
    from tests.documents.follow import Report

ROOT = Path(__file__).resolve().parents[2]
TEXTS = {page: (ROOT / page).read_text(encoding="utf-8") for page in pages()}
DOCUMENTED = [command for page, text in TEXTS.items() for group in groups_of(page, text) for command in group.commands]


# --- The pages and the table


def test_pages_with_commands_are_found_in_every_folder() -> None:
    found = {command.page for command in DOCUMENTED}

    assert len(DOCUMENTED) > 90
    assert found > {
        *("README.md", "docs/operations.md", "docs/guides/first-sync.md", "simulator/README.md", "examples/README.md"),
        *("clients/python/README.md", "clients/typescript/README.md", "src/console/vendor/README.md"),
    }


def test_every_row_is_about_a_command_that_no_row_before_it_is_about() -> None:
    used = {id(row_of(TABLE, command)) for command in DOCUMENTED}

    assert [row for row in TABLE if id(row) not in used] == []


def test_every_reader_has_a_page_with_commands_and_the_texts_that_it_replaces() -> None:
    for reader in READERS:
        text = "\n".join(command.text for command in DOCUMENTED if command.page == reader.page)
        assert text, reader.page
        assert [old for old, _ in reader.replace if old not in text] == [], reader.page


def test_a_command_that_is_not_run_is_checked_by_a_test_that_exists() -> None:
    assert [row.test for row in TABLE if isinstance(row, CheckedBy) and not (ROOT / row.test).is_file()] == []


def test_every_row_has_a_reason_and_no_row_is_about_any_command() -> None:
    unlikely = Command("any/page.md", 1, "an-unlikely-command --with an-option")

    assert [row for row in TABLE if not row.reason] == []
    assert row_of(TABLE, unlikely) is None


def test_every_make_target_in_a_page_exists() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"(?m)^([a-z0-9-]+):", makefile))
    spans = [(page, span) for page, text in TEXTS.items() for span in re.findall(r"`(make [^`]+)`", text)]
    named = [(page, name) for page, span in spans for name in re.findall(r"^make ([a-z][a-z0-9-]*)", span)]
    named += [
        (command.page, name)
        for command in DOCUMENTED
        for name in re.findall(r"(?:^|&& |; )make ([a-z][a-z0-9-]*)", command.text)
    ]

    assert len(named) > 150
    assert [(page, name) for page, name in named if name not in targets] == []


def test_every_variable_that_a_page_gives_to_make_is_one_that_it_knows() -> None:
    known = set(re.findall(r"`([A-Z][A-Z0-9_]+)(?:=[^`]*)?`", TEXTS["docs/commands.md"]))
    spans = [(page, span) for page, text in TEXTS.items() for span in re.findall(r"`(make [^`]+)`", text)]
    spans += [(command.page, command.text) for command in DOCUMENTED if command.text.startswith("make ")]
    given = [
        (page, name)
        for page, span in spans
        for name in re.findall(r"(?<!\S)([A-Z][A-Z0-9_]+)=", re.sub(r'"[^"]*"', "", span))
    ]

    assert len(given) > 50
    assert [(page, name) for page, name in given if name not in known] == []


def test_no_page_starts_a_program_again_without_saying_that_the_former_one_has_to_be_stopped() -> None:
    found = []
    for page, text in TEXTS.items():
        reader = next((reader for reader in READERS if fnmatch(page, reader.page)), Reader("*", ""))
        if groups := groups_of(page, text):
            found += [f"{command}: # Stop {kind} …" for command, kind in started_twice(groups, TABLE, reader)]

    assert found == []


# --- Reading a page


def test_commands_of_a_block_are_split_as_a_shell_would_and_know_their_lines() -> None:
    text = """\
# Page

   ```sh
   # terminal 2
   make run  # here

   curl -d '{"a":
   1}' \\
     -x
   for a in 1; do
     b
   done
   ```
"""

    [group] = groups_of("a.md", text)

    assert [(command.line, command.text) for command in group.commands] == [
        (5, "make run  # here"),
        (7, "curl -d '{\"a\":\n1}' \\\n  -x"),
        (10, "for a in 1; do\n  b\ndone"),
    ]
    assert group.has_own_terminal


def test_the_output_of_a_command_is_the_text_below_it() -> None:
    text = "```sh\na\n```\n\n```text\nout\n```\n"
    text += "```console\n$ b \\\n  c\none\ntwo\n$ d\n```\n"
    text += "```sh\ne\n```\n```text terminal\nT\n```\n"

    first, second, third = groups_of("a.md", text)

    assert (first.output, first.terminal_output) == ("out\n", None)
    assert [(command.text, command.output) for command in second.commands] == [("b \\\n  c", "one\ntwo"), ("d", None)]
    assert (third.output, third.terminal_output) == (None, "T\n")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("```sh\nmake run\n", "a.md:1: this block does not end"),
        ("```\nmake run\n```\n", "a.md:1: the language '' is none of"),
        ("```bash\nmake run\n```\n", "a.md:1: the language 'bash' is none of"),
        ("```sh\necho 'a\n```\n", "a.md:2: this command does not end"),
        ("```console\nmake run\n```\n", "a.md:2: a console block begins with `$ `"),
    ],
)
def test_a_block_that_would_not_be_run_is_reported(text: str, message: str) -> None:
    with pytest.raises(Malformed, match=re.escape(message)):
        groups_of("a.md", text)


def test_a_here_document_is_complete_at_its_end() -> None:
    assert not is_complete("cat <<END\na")
    assert is_complete("cat <<END\na\nEND")


@pytest.mark.parametrize(
    ("line", "shown", "is_same"),
    [
        ("05:47:42  Ada · 12 ms", "12:00:06  Ada · 2 ms", True),
        ("POST /a/0b33c224…/b   · 201", "POST /a/59f1c1a2…/b · 201", True),
        ("id 0b33c224-0000-4000-8000-000000000001", "id 59f1c1a2-1111-4111-9111-111111111111", True),
        ("42 customers fetched", "… customers fetched", True),
        ("42 customers fetched", "… customers lost", False),
        ("Ada · 2 ms", "Ada · 2", False),
        ("99.00 open", "98.00 open", False),
        ("", "…", False),
    ],
)
def test_only_what_varies_may_differ(line: str, shown: str, is_same: bool) -> None:
    assert prints(line, shown) is is_same


def test_an_output_has_all_lines_and_a_terminal_has_others_between_them() -> None:
    assert not prints("one\ntwo\n", "one\n")
    assert not prints("one\n", "one\ntwo\n")
    assert contains("zero\none\nand\ntwo\n", "one\ntwo\n")
    assert not contains("two\none\n", "one\ntwo\n")


# --- Following a page


@pytest.fixture
def place(tmp_path: Path) -> Place:
    for name in ("clone", "own", "scratch"):
        (tmp_path / name).mkdir()
    environment = {"HOME": str(tmp_path), "PATH": "/usr/local/bin:/usr/bin:/bin"}
    return Place(tmp_path / "clone", tmp_path / "own", tmp_path / "scratch", environment)


def followed(place: Place, text: str, *rows: Row, reader: Reader | None = None, seconds: float = 20) -> Report:
    return Follower(place, reader, rows, seconds=seconds).follow(groups_of("a.md", text))


def test_commands_share_variables_and_the_folder_and_read_nothing(place: Place) -> None:
    report = followed(
        place, "```sh\nmkdir sub && cd sub\nNAME=Ada\ncat\necho $NAME ${PWD##*/}\n```\n```text\nAda sub\n```\n"
    )

    assert (report.ran, report.problems) == (4, [])


@pytest.mark.parametrize(
    ("commands", "message"),
    [
        ("false", "a.md:2: false\n  exit status 1"),
        ("no-such-program", "exit status 127\n  | .*not found"),
        ("sleep 60", r"a.md:2: sleep 60\n  did not end within 1 s"),
        ("exit 3", "ended the shell"),
    ],
)
def test_a_command_that_fails_or_hangs_is_reported_with_its_place(place: Place, commands: str, message: str) -> None:
    [problem] = followed(place, f"```sh\n{commands}\n```\n", seconds=1).problems

    assert re.search(message, str(problem))


@pytest.mark.parametrize("text", ["```sh\necho two\n```\n\n```text\none\n```\n", "```console\n$ echo two\none\n```\n"])
def test_another_output_is_reported_with_both(place: Place, text: str) -> None:
    [problem] = followed(place, text).problems

    assert re.search(
        r"a.md:2: echo two\n  does not print what the page shows:\n  > one\n(  > \n)?  \| two", str(problem)
    )


def test_a_text_below_several_commands_is_what_the_last_ones_print(place: Place) -> None:
    text = "```sh\necho one\necho two\n```\n```text\n{}\n```\n"

    assert followed(place, text.format("one\ntwo")).problems == []
    assert followed(place, text.format("two")).problems == []
    assert len(followed(place, text.format("one")).problems) == 1
    assert len(followed(place, text.format("two\ntwo")).problems) == 1


def test_commands_go_on_after_a_failure(place: Place) -> None:
    report = followed(place, "```sh\nfalse\ntrue\nfalse\n```\n")

    assert (report.ran, [problem.command.line for problem in report.problems]) == (3, [2, 4])


SERVER = UntilStopped("*", r"server", "runs until Ctrl-C", kind="server", prints="ready")
STARTS = "server() { echo ready; sleep 60; }"


def test_a_program_runs_beside_the_next_commands_and_ends_with_the_page(place: Place) -> None:
    text = f"```sh\n{STARTS}\nserver & # in another terminal\necho beside\n```\n```text terminal\nready\n```\n"

    assert followed(place, text, SERVER).problems == []


def test_a_program_that_is_started_while_it_runs_is_reported_unless_the_block_asks_to_stop_it(place: Place) -> None:
    text = f"```sh\n{STARTS}\nserver &\n```\n```sh\nserver\n```\n"
    before = Reader("a.md", "has a server", before=(STARTS, "server"))

    [again] = followed(place, text, SERVER).problems
    [after_the_reader] = followed(place, "```sh\nserver\n```\n", SERVER, reader=before).problems

    assert "a.md:6: server\n  server is still running" in str(again)
    assert "a.md:2: server\n  server is still running" in str(after_the_reader)
    assert followed(place, text.replace("sh\nserver\n", "sh\n# Stop server first.\nserver\n"), SERVER).problems == []


def test_a_program_that_ends_or_says_something_else_is_reported(place: Place) -> None:
    [ended] = followed(place, "```sh\nserver() { echo no; }\nserver\n```\n", SERVER).problems
    [silent] = followed(place, f"```console\n$ {STARTS}\n$ server\nhello\n```\n", SERVER, seconds=1).problems
    [other] = followed(
        place, f"```sh\n{STARTS}\nserver\n```\n```text terminal\nhello\n```\n", SERVER, seconds=1
    ).problems

    assert "does not start" in str(ended)
    assert "> hello\n  | ready" in str(silent)
    assert "no other terminal prints\n  > hello" in str(other)


@pytest.mark.system
def test_a_program_that_survives_ctrl_c_is_reported_and_killed(place: Place) -> None:
    with Shell(place.clone, place.environment, place.scratch, stop_seconds=0.5) as shell:
        terminal = shell.start("trap '' INT; echo ready; while true; do sleep 1; done")
        assert wait_until(lambda: "ready" in terminal.output, 10)

        assert not shell.stop(terminal)

        assert wait_until(lambda: not terminal.is_running, 10)


def test_ctrl_c_works_in_a_run_of_the_tests_that_ignores_it(place: Place) -> None:
    previous = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with Shell(place.clone, place.environment, place.scratch) as shell:
            assert shell.stop(shell.start("sleep 60"))
    finally:
        signal.signal(signal.SIGINT, previous)


@pytest.mark.system
def test_nothing_that_a_page_started_is_left(place: Place) -> None:
    with Shell(place.clone, place.environment, place.scratch) as shell:
        terminal = shell.start("echo ready; sleep 60")
        shell.run("sleep 60 & echo $! >background", 10)
        process = int((place.clone / "background").read_text())

    assert not terminal.is_running
    assert wait_until(lambda: has_ended(process), 10)


def test_a_command_without_aws_has_to_fail_with_its_remedy(place: Place) -> None:
    row = NeedsAws("*", "deploy .*", "needs an AWS account")
    function = "deploy() { echo $1; return $2; }"
    text = f"```sh\n{function}\ndeploy REGION=eu-central-1 1\ndeploy REGION=x 0\ndeploy Traceback 1\n```\n"

    report = followed(place, text, row)

    assert [problem.command.line for problem in report.problems] == [4, 5]
    assert "must fail, because it needs an AWS account" in str(report.problems[0])


def test_what_is_left_out_is_listed_with_the_reason(place: Place) -> None:
    text = "```sh\nelsewhere\nwith-java\nsmall\n```\n"
    rows = (
        CheckedBy("*", "elsewhere", "needs a cloud", test="tests/test_elsewhere.py"),
        Row("*", "with-java", "needs Java", tools=("no-such-java",)),
        Instead("*", "small", "takes a day", command="true"),
    )

    report = followed(place, text, *rows)

    assert (report.ran, report.problems) == (1, [])
    assert report.left_out == [
        "a.md:2: elsewhere: tests/test_elsewhere.py checks it, because it needs a cloud",
        "a.md:3: with-java: no-such-java is not installed",
    ]


def test_a_reader_has_programs_and_texts_of_their_own(place: Place) -> None:
    reader = Reader("a.md", "has a name", before=("NAME=Ada",), replace=(("YOUR-NAME", "$NAME"),), in_own_folder=True)

    report = followed(place, "```sh\necho YOUR-NAME ${PWD##*/}\n```\n```text\nAda own\n```\n", reader=reader)

    assert report.problems == []


def test_a_port_that_is_taken_is_replaced_in_commands_and_in_their_output(place: Place) -> None:
    elsewhere = Place(place.clone, place.own_folder, place.scratch, place.environment, {8099: 9001})

    report = followed(
        elsewhere, "```sh\necho http://127.0.0.1:8099/ 18099\n```\n```text\nhttp://127.0.0.1:8099/ 18099\n```\n"
    )

    assert report.problems == []


def test_the_environment_has_packages_and_proxies_and_no_credentials() -> None:
    given = {"PIP_INDEX_URL": "a", "npm_config_registry": "b", "HTTPS_PROXY": "c", "AWS_PROFILE": "d", "API_KEY": "e"}

    assert {"PIP_INDEX_URL", "npm_config_registry", "HTTPS_PROXY"} <= kept(given).keys()
    assert not {"AWS_PROFILE", "API_KEY"} & kept(given).keys()
