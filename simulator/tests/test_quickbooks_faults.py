"""Faults of QuickBooks: the report to the service, and the changes in the books."""

from __future__ import annotations

import re
from typing import Any

import defusedxml.ElementTree
import pytest

from simulator import Simulator
from simulator.faults import Fault
from simulator.faults.company import kinds_of
from simulator.tests.support import FILE_ID, OWNER_ID, ScriptedService, a_company, document, qwc


def add(name: str, sets: str = "", label: str = "1") -> str:
    body = f'<CustomerAddRq requestID="{label}"><CustomerAdd><Name>{name}</Name></CustomerAdd></CustomerAddRq>'
    return document(body, sets=sets)


WITH_MESSAGE_SET = ' newMessageSetID="A"'
WRITE = add("Once", WITH_MESSAGE_SET)
CHECK = document("", sets=' newMessageSetID="A" oldMessageSetID="A"')
READ = document('<CustomerQueryRq requestID="7"><MaxReturned>2</MaxReturned></CustomerQueryRq>')
START = document('<CustomerQueryRq requestID="7" iterator="Start"><MaxReturned>2</MaxReturned></CustomerQueryRq>')


class Run:
    """Sessions in which the service sends `requests` one after the other."""

    def __init__(self, requests: list[str], *faults: dict[str, Any] | str, sessions: int = 1) -> None:
        self.waits: list[float] = []
        self.company = a_company()
        self.service = ScriptedService(
            authenticate=[[f"ticket-{number}", ""] for number in range(1, sessions + 1)],
            sendRequestXML=[*requests, ""],
            receiveResponseXML=[50],
        )
        self.simulator = Simulator(
            qwc(),
            "secret",
            self.company,
            transport=self.service,
            sleep=self.waits.append,
            faults=[Fault.parse(fault) if isinstance(fault, str) else Fault.of(fault) for fault in faults],
        )
        self.results = [self.simulator.run_once() for _ in range(sessions)]
        self.happened = [str(fault) for fault in self.simulator.faults.happened]

    @property
    def received(self) -> list[dict[str, str]]:
        return self.service.parts("receiveResponseXML")

    def status(self, at: int = 0) -> str:
        return str(re.findall(r'statusCode="(\d+)"', self.received[at]["response"])[0])

    def set_status(self, at: int = 0) -> str:
        return str(re.findall(r'messageSetStatusCode="(\d+)"', self.received[at]["response"])[0])


def test_a_request_can_fail_before_it_is_executed_and_the_session_continues() -> None:
    run = Run([WRITE, READ], "process/CustomerAddRq:1:fail:0x80010105")

    assert (run.received[0]["hresult"], run.received[0]["response"]) == ("0x80010105", "")
    assert run.received[0]["message"] == "The server threw an exception."
    assert run.status(1) == "0"
    assert run.company.writes == []
    assert run.happened == ["process/CustomerAddRq:1:fail"]


def test_a_request_can_fail_after_it_was_booked_and_its_answer_is_kept() -> None:
    run = Run([WRITE, CHECK], {"on": "process", "request": "writes", "do": "fail", "after_execution": True})

    assert run.received[0]["hresult"] == "0x800706BE"
    assert [(write.name, write.succeeded) for write in run.company.writes] == [("CustomerAddRq", True)]
    assert (run.set_status(1), run.status(1)) == ("0", "0")


def test_a_parse_error_was_never_executed() -> None:
    run = Run([WRITE], "process:1:fail:0x80040400:after_execution=true")

    assert run.received[0]["hresult"] == "0x80040400"
    assert run.company.writes == []


@pytest.mark.parametrize("code", [3175, 3176, 3180])
def test_locks_return_their_status_the_given_number_of_times(code: int) -> None:
    again = [add("Once", f' newMessageSetID="{number}"') for number in range(3)]

    run = Run(again, {"on": "process", "do": "status", "code": code, "times": 2})

    assert [run.status(at) for at in range(3)] == [str(code), str(code), "0"]
    assert re.search("lock|modified by another user", run.received[0]["response"])
    assert [write.succeeded for write in run.company.writes] == [False, False, True]


def test_a_slow_answer_is_an_answer() -> None:
    run = Run([READ], "process/reads:*:slow:90")

    assert run.waits == [90.0]
    assert run.status() == "0"


@pytest.mark.parametrize(("after_execution", "writes"), [(False, 0), (True, 1)])
def test_if_quickbooks_hangs_the_service_gets_no_call(after_execution: bool, writes: int) -> None:
    run = Run([WRITE], {"on": "process", "do": "hang", "after_execution": after_execution})

    assert run.service.methods[-1] == "sendRequestXML"
    assert (run.results[0].status, run.results[0].stopped) == ("QuickBooks does not answer", True)
    assert len(run.company.writes) == writes


def test_a_request_that_hung_is_executed_once_the_next_session_has_begun() -> None:
    run = Run([WRITE, CHECK], "process:1:execute-late", sessions=2)

    assert run.results[0].stopped
    assert (run.set_status(), run.status()) == ("0", "0")
    assert len(run.company.writes) == 1
    assert run.simulator.faults.still_late == 0


def test_a_late_request_under_a_stored_message_set_returns_the_stored_response() -> None:
    """The service asked, got no stored response, and sent the write again before the first copy was executed."""
    late = {"on": "process", "do": "execute-late", "until": {"on": "process", "request": "CustomerAddRq", "nth": 2}}

    run = Run([WRITE, CHECK, WRITE], late, sessions=2)

    assert [run.set_status(at) for at in range(2)] == ["9002", "0"]
    assert run.simulator.faults.still_late == 0
    assert len(run.company.writes) == 1


def test_a_request_that_is_executed_late_between_the_check_and_the_second_copy_is_executed_once() -> None:
    late = {"on": "process", "do": "execute-late", "until": {"on": "process", "request": "checks"}}

    run = Run([WRITE, CHECK, WRITE], late, sessions=2)

    assert [run.set_status(at) for at in range(2)] == ["9002", "0"]
    assert run.status(1) == "0"
    assert len(run.company.writes) == 1


def test_late_actions_can_be_run_at_any_time() -> None:
    run = Run([WRITE], "process:1:execute-late")
    assert (run.simulator.faults.still_late, len(run.company.writes)) == (1, 0)

    run.simulator.faults.do_what_is_late()

    assert (run.simulator.faults.still_late, len(run.company.writes)) == (0, 1)


def test_an_oversized_response_has_the_given_size_and_is_readable() -> None:
    run = Run([READ], "process:1:oversized:0.2")

    assert 200_000 <= len(run.received[0]["response"]) < 201_000
    assert defusedxml.ElementTree.fromstring(run.received[0]["response"])[0][0].get("statusCode") == "0"


def test_an_unreadable_response_is_half_of_the_real_one() -> None:
    run = Run([WRITE], "process:1:unreadable")

    with pytest.raises(defusedxml.ElementTree.ParseError):
        defusedxml.ElementTree.fromstring(run.received[0]["response"])
    assert len(run.company.writes) == 1


@pytest.mark.parametrize(
    "request_text", [READ, document('<CustomerQueryRq requestID="1"><ListID>1</ListID></CustomerQueryRq>')]
)
def test_a_response_can_refer_to_a_character_that_xml_forbids(request_text: str) -> None:
    run = Run([request_text], "process:1:forbidden-characters")

    response = run.received[0]["response"]
    with pytest.raises(defusedxml.ElementTree.ParseError):
        defusedxml.ElementTree.fromstring(response)
    defusedxml.ElementTree.fromstring(response.replace("&#x1F;", ""))


def test_an_iterator_can_expire_between_two_pages() -> None:
    service = ScriptedService(sendRequestXML=[START], receiveResponseXML=[50])
    faults = [Fault.parse("process:1:expire-iterator")]
    simulator = Simulator(qwc(), "secret", a_company(), transport=_Paging(service), faults=faults)

    simulator.run_once()

    codes = [re.findall(r'statusCode="(\d+)"', part["response"])[0] for part in service.parts("receiveResponseXML")]
    assert codes == ["0", "3000"]


class _Paging:
    """A line on which the service asks for a second page by the iterator of the first."""

    def __init__(self, service: ScriptedService) -> None:
        self._service = service

    def get(self, url: str) -> int:
        return self._service.get(url)

    def post(self, url: str, headers: Any, body: bytes) -> tuple[int, bytes]:
        response = self._service.post(url, headers, body)
        match = re.search(rb'iteratorID="([^"]*)"', body)
        if match:
            more = START.replace('"Start"', f'"Continue" iteratorID="{match[1].decode()}"')
            self._service.replies["sendRequestXML"] = [more, ""]
        return response


def test_quickbooks_can_forget_stored_responses_before_a_request() -> None:
    run = Run([WRITE, CHECK], "process/checks:1:forget")

    assert run.set_status(1) == "9002"


def test_quickbooks_can_forget_stored_responses_when_a_session_begins() -> None:
    run = Run([WRITE, "", CHECK], "session:2:forget", sessions=2)

    assert run.set_status(1) == "9002"


def test_a_response_that_was_stored_badly_is_9002_and_nothing_is_executed_again() -> None:
    run = Run([WRITE, CHECK, WRITE], "process:1:store-badly")

    assert [run.set_status(at) for at in range(3)] == ["0", "9002", "9002"]
    assert len(run.company.writes) == 1


def test_a_response_that_cannot_be_stored_is_9005_and_asking_for_it_9002() -> None:
    run = Run([WRITE, CHECK], "process:1:cannot-store")

    assert (run.set_status(0), run.status(0), run.set_status(1)) == ("9005", "0", "9002")
    assert len(run.company.writes) == 1


THREE_WRITES = document(
    "".join(
        f'<CustomerAddRq requestID="{name}"><CustomerAdd><Name>{name}</Name></CustomerAdd></CustomerAddRq>'
        for name in ("Ann", "Bob", "Carl")
    ),
    sets=WITH_MESSAGE_SET,
)


@pytest.mark.parametrize("executed", [0, 1, 2, 3])
@pytest.mark.parametrize("stored", ["true", "false"])
def test_quickbooks_can_die_within_a_message_set(executed: int, stored: str) -> None:
    run = Run([THREE_WRITES, CHECK], f"process:1:die-within:{executed}:stored={stored}")

    assert (run.received[0]["hresult"], run.received[0]["response"]) == ("0x800706BE", "")
    names = ["Ann", "Bob"][:executed]
    assert [write.request_id for write in run.company.writes] == names
    answered = re.findall(r'requestID="(\w+)"', run.received[1]["response"])
    assert answered == (names if stored == "true" else [])
    assert run.set_status(1) == ("0" if answered else "9002")


@pytest.mark.parametrize(("after_execution", "writes"), [("true", 1), ("false", 0)])
def test_a_message_set_can_be_refused_as_a_whole(after_execution: str, writes: int) -> None:
    run = Run([WRITE], f"process:1:message-set-status:9001:after_execution={after_execution}")

    assert run.set_status() == "9001"
    assert "statusCode=" not in run.received[0]["response"].replace("messageSetStatusCode", "")
    assert len(run.company.writes) == writes


def test_a_modal_dialog_lasts_for_the_given_number_of_sessions() -> None:
    run = Run([READ], "session:2:open-error:modal-dialog:times=2", sessions=4)

    assert [result.error for result in run.results] == [None, 1013, 1013, None]
    assert {part["hresult"] for part in run.service.parts("connectionError")} == {"0x80040414"}


def test_a_fault_lasts_until_its_event() -> None:
    run = Run([READ], {
        "on": "session", "do": "open-error", "hresult": "closed", "until": {"on": "connectionError", "call": 3},
    }, sessions=5)  # fmt: skip

    assert [result.error for result in run.results] == [1013, 1013, 1013, None, None]
    assert len(run.happened) == 3


@pytest.mark.parametrize(("file_id", "file_id_in_facts"), [(None, "{0FF1CE00-"), ("", None), ("{9}", "{9}")])
def test_another_company_can_be_open(file_id: str | None, file_id_in_facts: str | None) -> None:
    step = {"on": "session", "nth": 1, "do": "wrong-file"} | ({} if file_id is None else {"file_id": file_id})

    run = Run([WRITE], step, sessions=2)

    wrong, right = (part for part in run.service.parts("sendRequestXML") if part["strHCPResponse"])
    assert wrong["strCompanyFileName"].endswith("Another Company.QBW")
    assert (
        (file_id_in_facts or "<DataExtRet>") in wrong["strHCPResponse"]
        if file_id_in_facts
        else "DataExtRet" not in wrong["strHCPResponse"]
    )
    assert FILE_ID in right["strHCPResponse"]
    elsewhere = run.simulator.books.elsewhere
    assert elsewhere is not None
    assert (len(run.company.writes), len(elsewhere.writes)) == (0, 1)
    assert run.company.private_fields[OWNER_ID]["FileID"] == FILE_ID


def test_the_facts_of_the_company_can_be_unreadable() -> None:
    run = Run([READ], "session:1:forbidden-characters")

    assert "&#x1F;" in run.service.parts("sendRequestXML")[0]["strHCPResponse"]
    assert run.status() == "0"


def test_requests_of_the_web_connector_itself_are_not_counted() -> None:
    run = Run([READ], "process:*:fail", sessions=1)

    assert run.results[0].error is None
    assert run.happened == ["process:*:fail"]


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        (WRITE, {"CustomerAddRq", "writes"}),
        (READ, {"CustomerQueryRq", "reads"}),
        (CHECK, {"checks"}),
        (document("", sets=' oldMessageSetID="A"'), {"clears"}),
        (START.replace("Start", "Continue"), {"CustomerQueryRq", "reads", "pages"}),
    ],
)
def test_a_request_is_of_a_kind(text: str, kinds: set[str]) -> None:
    assert kinds_of(text) == kinds
