"""Error recovery, line by line: the effect of each pair of ids with each kind of stored response."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest

from simulator import Company
from simulator.company.lock import CompanyLock
from simulator.tests.support import a_company, ask

if TYPE_CHECKING:
    from collections.abc import Callable

BODY = '<CustomerAddRq requestID="1"><CustomerAdd><Name>{}</Name></CustomerAdd></CustomerAddRq>'
ADD, OTHER = BODY.format("Once"), BODY.format("Other")
EVERYTHING = "CLR-ALL-MSG-SETS"


def say(company: Any, new: str | None, old: str | None, body: str) -> str:
    """Send a message set. Return its status and the statuses of its responses: `0: 0`, `9002:`."""
    ids = "".join(f' {name}MessageSetID="{value}"' for name, value in (("new", new), ("old", old)) if value is not None)
    response = ask(company, body, on_error="stopOnError", sets=ids)
    assert (response.get("newMessageSetID") is None) == (not ids)
    return f"{response.get('messageSetStatusCode')}: {' '.join(rs.get('statusCode') for rs in response)}".strip()


@pytest.mark.parametrize(
    ("new", "old", "body", "says", "executions", "message_set_ids"),
    [
        # x not known: executed and kept
        ("N", None, OTHER, "0: 0", 1, {"X", "N"}),
        ("N", None, "", "0:", 0, {"X", "N"}),
        # x kept: the kept response again, nothing executed
        ("X", None, ADD, "0: 0", 0, {"X"}),
        ("X", None, f"\n {ADD} \n", "0: 0", 0, {"X"}),
        ("X", None, OTHER, "9001:", 0, {"X"}),
        ("X", None, ADD.replace('"1"', '"2"'), "9001:", 0, {"X"}),
        # x and x: a status check
        ("X", "X", "", "0: 0", 0, {"X"}),
        ("X", "X", ADD, "0: 0", 0, {"X"}),
        ("X", "X", OTHER, "9001:", 0, {"X"}),
        ("N", "N", "", "9002:", 0, {"X"}),
        ("N", "N", OTHER, "9002:", 0, {"X"}),
        # x alone as old: cleared
        (None, "X", "", "0:", 0, set()),
        ("", "X", "", "0:", 0, set()),
        (None, "X", OTHER, "0: 0", 1, set()),
        (None, "N", "", "600:", 0, {"X"}),
        (None, "N", OTHER, "600:", 0, {"X"}),
        # everything cleared
        (None, EVERYTHING, "", "0:", 0, set()),
        ("N", EVERYTHING, OTHER, "0: 0", 1, {"N"}),
        ("X", EVERYTHING, OTHER, "0: 0", 1, {"X"}),
        # y and x: x cleared, then as y alone
        ("N", "X", OTHER, "0: 0", 1, {"N"}),
        ("N", "M", OTHER, "0: 0", 1, {"X", "N"}),
        ("X", "M", ADD, "0: 0", 0, {"X"}),
        ("X", "M", OTHER, "9001:", 0, {"X"}),
        # no ids
        (None, None, OTHER, "None: 0", 1, {"X"}),
        # too long
        ("N" * 25, None, OTHER, "9004:", 0, {"X"}),
        ("N" * 25, "X", OTHER, "9004:", 0, {"X"}),
        (None, "N" * 25, "", "9004:", 0, {"X"}),
        ("N" * 24, None, OTHER, "0: 0", 1, {"X", "N" * 24}),
    ],
)
def test_the_table_of_message_sets(
    *, new: str | None, old: str | None, body: str, says: str, executions: int, message_set_ids: set[str]
) -> None:
    company = a_company()
    assert say(company, "X", None, ADD) == "0: 0"
    before = len(company.executed)

    assert say(company, new, old, body) == says

    assert len(company.executed) - before == executions
    assert set(company.message_sets.stored["Simulator"]) == message_set_ids


def test_a_response_with_severity_error_is_kept_like_any_other() -> None:
    company = a_company()
    say(company, None, None, ADD)
    assert say(company, "X", None, ADD) == "0: 3100"

    assert say(company, "X", None, ADD) == "0: 3100"
    assert say(company, "X", "X", "") == "0: 3100"
    assert len(company.executed) == 2


def test_clearing_all_responses_succeeds_if_there_are_none() -> None:
    assert say(a_company(), None, EVERYTHING, "") == "0:"


def test_another_company_file_does_not_have_it() -> None:
    say(a_company(), "X", None, ADD)

    assert say(a_company(), "X", "X", "") == "9002:"


def test_clearing_affects_only_one_application() -> None:
    company = a_company()
    one, two = company.begin_session("One"), company.begin_session("Two")
    say(one, "X", None, ADD)
    say(two, "X", None, OTHER)

    say(one, None, EVERYTHING, "")

    assert (say(one, "X", "X", ""), say(two, "X", "X", "")) == ("9002:", "0: 0")


def test_stored_responses_survive_sessions_and_saved_files(tmp_path: Any) -> None:
    company = a_company()
    say(company.begin_session("One"), "X", None, ADD)
    company.message_sets.stored["One"]["Y"] = ("", None)
    company.save(tmp_path / "company.json")

    session = Company.load(tmp_path / "company.json").begin_session("One")

    assert [say(session, name, name, "") for name in "XYZ"] == ["0: 0", "9002:", "9002:"]


class InterruptedLock(CompanyLock):
    """A lock after whose first release another session is quicker than the one that had it."""

    def __init__(self, other: Callable[[], object]) -> None:
        super().__init__()
        self._others = [other]

    def __exit__(self, *error: object) -> None:
        super().__exit__(*error)
        if self._others:
            self._others.pop()()


def test_another_session_cannot_execute_a_message_set_between_its_check_and_its_execution() -> None:
    company = a_company()
    responses: list[str] = []
    one, two = company.begin_session("One"), company.begin_session("One")
    company.lock = InterruptedLock(lambda: responses.append(say(two, "X", None, ADD)))

    responses.append(say(one, "X", None, ADD))

    assert responses == ["0: 0"] * 2
    assert len(company.writes) == 1


def test_two_connectors_at_once_execute_a_message_set_once() -> None:
    company = a_company()
    start = threading.Barrier(4)
    responses: list[str] = []

    def connector() -> None:
        session = company.begin_session("One")
        start.wait()
        responses.extend(say(session, f"X{number}", None, BODY.format(f"N{number}")) for number in range(20))

    threads = [threading.Thread(target=connector) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert responses == ["0: 0"] * 80
    assert len(company.writes) == 20
