"""The Web Connector's sessions: the order of calls, and the reaction to every return value."""

from __future__ import annotations

from typing import Any

import defusedxml.ElementTree
import pytest

from simulator import Company, Simulator
from simulator.basics.errors import TransportError
from simulator.requests.facts import Product
from simulator.tests.support import (
    FAULT,
    FILE_ID,
    INTUIT,
    LOST,
    OWNER_ID,
    ScriptedService,
    a_company,
    document,
    qwc,
    soap_reply,
)
from simulator.web_connector.connector import MAX_OPEN_ATTEMPTS

CUSTOMERS = document('<CustomerQueryRq requestID="7"><MaxReturned>2</MaxReturned></CustomerQueryRq>')


class Run:
    """One simulator on a scripted service, with a record of its waits and status lines."""

    def __init__(
        self, service: ScriptedService, company: Company | None = None, *, auto_run: bool = False, **options: Any
    ) -> None:
        self.waits: list[float] = []
        self.lines: list[str] = []
        self.log: list[str] = []
        self.simulator = Simulator(
            qwc(),
            "p&ss<word>",
            company or a_company(),
            transport=service,
            sleep=self.waits.append,
            on_progress=lambda percent, text: self.lines.append(f"{percent} {text}"),
            on_call=lambda method, text: self.log.append(f"{method} {text}"),
            **options,
        )
        self.simulator.connector.auto_run = auto_run
        self.result = self.simulator.run_once()


def test_a_normal_session_makes_the_calls_in_the_order_of_the_protocol() -> None:
    service = ScriptedService(sendRequestXML=[CUSTOMERS, CUSTOMERS], receiveResponseXML=[50, 100])

    run = Run(service)

    assert service.methods == [
        "serverVersion",
        "clientVersion",
        "authenticate",
        "sendRequestXML",
        "receiveResponseXML",
        "sendRequestXML",
        "receiveResponseXML",
        "closeConnection",
    ]
    assert run.result.status == "Finished"
    assert run.result.error is None
    assert run.result.requests == 2
    assert run.lines == ["50 Working", "100 Finished"]
    assert all(parts["ticket"] == "ticket-1" for _, parts in service.calls[3:])


def test_envelopes_are_one_line_with_self_closed_empty_parts() -> None:
    service = ScriptedService(sendRequestXML=[CUSTOMERS])

    Run(service)

    head = (
        b'<?xml version="1.0" encoding="utf-8"?><soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/" '
        b'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:xsd="http://www.w3.org/2001/XMLSchema">'
        b"<soap:Body>"
    )
    assert service.bodies[0] == (
        head + b'<serverVersion xmlns="http://developer.intuit.com/" /></soap:Body></soap:Envelope>'
    )
    assert b"<strPassword>p&amp;ss&lt;word&gt;</strPassword>" in service.bodies[2]
    received = service.bodies[service.methods.index("receiveResponseXML")]
    assert received.startswith(head)
    assert b'<response>&lt;?xml version="1.0" ?&gt;\n&lt;QBXML&gt;\n' in received
    assert b"<hresult /><message /></receiveResponseXML>" in received


def test_headers_are_those_of_the_net_client() -> None:
    service = ScriptedService()

    Run(service)

    assert service.headers[2]["SOAPAction"] == '"http://developer.intuit.com/authenticate"'
    assert service.headers[2]["Content-Type"] == "text/xml; charset=utf-8"
    assert service.headers[2]["User-Agent"].startswith("Mozilla/4.0 (compatible; MSIE 6.0; MS Web Services Client")


def test_only_the_first_request_carries_host_company_and_preferences() -> None:
    service = ScriptedService(sendRequestXML=[CUSTOMERS, CUSTOMERS], receiveResponseXML=[50, 100])

    Run(service)

    first, second = service.parts("sendRequestXML")
    assert second["strHCPResponse"] == ""
    assert first["strHCPResponse"].startswith(
        '<?xml version="1.0" ?>\n<QBXML>\n<QBXMLMsgsRs>\n<HostQueryRs requestID="0"'
    )
    assert "<?qbxml" not in first["strHCPResponse"]
    messages = defusedxml.ElementTree.fromstring(first["strHCPResponse"])[0]
    assert [(rs.tag, rs.get("requestID"), rs.get("statusCode")) for rs in messages] == [
        ("HostQueryRs", "0", "0"),
        ("CompanyQueryRs", "1", "0"),
        ("PreferencesQueryRs", "2", "0"),
    ]
    versions = [element.text for element in messages.iter("SupportedQBXMLVersion")]
    assert versions[0] == "1.0"
    assert versions[-1] == "16.0"
    private = {entry.findtext("DataExtName"): entry for entry in messages.iter("DataExtRet")}
    assert private["FileID"].findtext("DataExtValue") == FILE_ID
    assert private["FileID"].findtext("OwnerID") == OWNER_ID
    assert private["AppLock"].findtext("DataExtValue", "").startswith("LOCKED:SIMULATOR:")
    assert messages.findtext("PreferencesQueryRs/PreferencesRet/MultiCurrencyPreferences/IsMultiCurrencyOn") == "false"
    assert first["strCompanyFileName"] == "C:\\Company Files\\Simulated Company.QBW"
    assert (first["qbXMLCountry"], first["qbXMLMajorVers"], first["qbXMLMinorVers"]) == ("US", "16", "0")


def test_a_parse_error_is_reported_as_hresult_and_the_session_continues() -> None:
    service = ScriptedService(sendRequestXML=["<broken", CUSTOMERS], receiveResponseXML=[50, 100])

    run = Run(service)

    first, second = service.parts("receiveResponseXML")
    assert first == {
        "ticket": "ticket-1",
        "response": "",
        "hresult": "0x80040400",
        "message": "QuickBooks found an error when parsing the provided XML text stream.",
    }
    assert b"<response /><hresult>" in service.bodies[4]
    assert second["hresult"] == ""
    assert run.result.error is None


@pytest.mark.parametrize(
    ("status", "text", "error"),
    [
        ("none", "No Data Exchange", None),
        ("NONE", "No Data Exchange", None),
        ("busy", "Application Busy", None),
        ("nvu", "QBWC1040: Invalid password for username", 1040),
    ],
)
def test_none_busy_and_nvu_end_with_close_connection(status: str, text: str, error: int | None) -> None:
    service = ScriptedService(authenticate=[["ticket-1", status]])

    run = Run(service)

    assert service.methods == ["serverVersion", "clientVersion", "authenticate", "closeConnection"]
    assert (run.result.status, run.result.error) == (text, error)


@pytest.mark.parametrize(
    ("strings", "auto_run", "runs", "postpone", "min_interval"),
    [
        (["t", "", "60", ""], True, False, 60, None),
        (["t", "", "", "300"], True, True, None, 300),
        (["t", "", "60", "300"], True, False, 60, 300),
        (["t", "none", "60", ""], True, False, 60, None),
        (["t", "none", "", "300"], True, False, None, 300),
        (["t", "busy", "60", "300"], True, False, 60, 300),
        (["t", "", "", ""], True, True, None, None),
        (["t", "", "soon", "-5"], True, True, None, None),
        (["t", "", "60", "300"], False, True, None, None),
        (["t", "none", "60", "300"], False, False, None, None),
    ],
)
def test_postpone_and_least_interval_act_with_auto_run_only(
    strings: list[str], auto_run: bool, runs: bool, postpone: int | None, min_interval: int | None
) -> None:
    service = ScriptedService(authenticate=[strings], sendRequestXML=[CUSTOMERS])

    run = Run(service, auto_run=auto_run)

    assert ("sendRequestXML" in service.methods) == runs
    assert (run.result.postpone_seconds, run.result.min_interval_seconds) == (postpone, min_interval)
    assert (run.result.status == "Update postponed by application") == (postpone is not None)
    assert service.methods[-1] == "closeConnection"


@pytest.mark.parametrize(
    ("response", "accepts", "goes_on", "error"),
    [
        ("", True, True, None),
        ("W:Please update", True, True, None),
        ("W:Please update", False, False, 1037),
        ("E:Too old", True, False, 1037),
        ("O:34.0", True, False, 1037),
        ("fine", True, False, 1046),
    ],
)
def test_the_client_version_reply_decides_whether_the_session_continues(
    response: str, accepts: bool, goes_on: bool, error: int | None
) -> None:
    service = ScriptedService(clientVersion=[response], sendRequestXML=[CUSTOMERS])
    simulator = Simulator(qwc(), "secret", a_company(), transport=service, on_warning=lambda _text: accepts)

    result = simulator.run_once()

    assert ("authenticate" in service.methods) == goes_on
    assert result.error == error
    assert service.parts("clientVersion") == [{"strVersion": "2.3.0.215"}]


def test_a_service_without_the_version_methods_is_accepted() -> None:
    service = ScriptedService(serverVersion=[FAULT], clientVersion=[FAULT], sendRequestXML=[CUSTOMERS])

    assert Run(service).result.error is None


def test_no_op_waits_five_seconds_and_asks_again_in_the_same_session() -> None:
    service = ScriptedService(
        sendRequestXML=["NoOp", "", CUSTOMERS], getLastError=["NoOp"], receiveResponseXML=[100]
    )  # fmt: skip

    run = Run(service)

    assert run.waits == [5, 5]
    assert service.methods[3:] == [
        "sendRequestXML",
        "getLastError",
        "sendRequestXML",
        "getLastError",
        "sendRequestXML",
        "receiveResponseXML",
        "closeConnection",
    ]


def test_an_empty_request_and_a_text_end_the_session_with_that_text() -> None:
    service = ScriptedService(sendRequestXML=[""], getLastError=["The wrong company file is open."])

    run = Run(service)

    assert service.methods[-2:] == ["getLastError", "closeConnection"]
    assert run.result.status == "The wrong company file is open."
    assert run.lines == ["0 The wrong company file is open."]


def test_a_negative_answer_asks_for_the_reason_and_closes() -> None:
    service = ScriptedService(sendRequestXML=[CUSTOMERS], receiveResponseXML=[-7], getLastError=["Disk full"])

    run = Run(service)

    assert service.methods[-3:] == ["receiveResponseXML", "getLastError", "closeConnection"]
    assert (run.result.status, run.result.error) == ("Disk full", -7)


@pytest.mark.parametrize("response", ["50.5", "", "done"])
def test_a_progress_that_is_not_an_integer_is_a_failed_call(response: str) -> None:
    service = ScriptedService(sendRequestXML=[CUSTOMERS], receiveResponseXML=[response])

    run = Run(service)

    assert run.result.error == 1042
    assert service.methods[-1] == "receiveResponseXML"


@pytest.mark.parametrize(
    ("method", "error"),
    [
        ("serverVersion", 1006),
        ("clientVersion", 1036),
        ("authenticate", 1012),
        ("sendRequestXML", 1041),
        ("receiveResponseXML", 1042),
        ("getLastError", 1043),
        ("connectionError", 1045),
    ],
)
@pytest.mark.parametrize("failure", [LOST, (500, b"oops"), (200, b"<html>"), (200, b"<a/>")], ids=repr)
def test_a_failed_call_abandons_the_session_without_another_call(method: str, error: int, failure: Any) -> None:
    company = a_company(open_error="0x80040414" if method == "connectionError" else None)
    send = [CUSTOMERS, ""] if method != "getLastError" else [""]
    responses: dict[str, list[Any]] = {"sendRequestXML": send, "receiveResponseXML": [50], method: [failure]}
    service = ScriptedService(**responses)

    run = Run(service, company)

    assert run.result.error == error
    assert service.methods[-1] == method
    assert run.result.status.startswith(f"QBWC{error}: ")


def test_a_failed_close_connection_changes_nothing() -> None:
    service = ScriptedService(sendRequestXML=[CUSTOMERS], closeConnection=[LOST])

    run = Run(service)

    assert run.result.error is None
    assert any("QBWC1044" in line for line in run.log)


@pytest.mark.parametrize("body", [[], ["only a ticket"]])
def test_authenticate_needs_ticket_and_status(body: list[str]) -> None:
    assert Run(ScriptedService(authenticate=[body])).result.error == 1012


def test_a_company_that_cannot_be_opened_is_reported_as_connection_error() -> None:
    service = ScriptedService()

    run = Run(service, a_company(open_error="0x80040414"))

    assert service.methods[-2:] == ["connectionError", "closeConnection"]
    assert service.parts("connectionError") == [
        {
            "ticket": "ticket-1",
            "hresult": "0x80040414",
            "message": "A modal dialog box is showing in the QuickBooks user interface.",
        }
    ]
    assert run.result.error == 1013


def test_another_file_than_the_open_one_can_be_retried_with_the_open_one() -> None:
    service = ScriptedService(
        authenticate=[["ticket-1", "C:\\Other.qbw"]], connectionError=[""], sendRequestXML=[CUSTOMERS]
    )

    run = Run(service)

    assert [parts["hresult"] for parts in service.parts("connectionError")] == ["0x8004040A"]
    assert run.result.status == "Finished"


def test_the_path_of_the_company_file_is_case_insensitive() -> None:
    service = ScriptedService(
        authenticate=[["ticket-1", "c:\\company files\\simulated company.qbw"]], sendRequestXML=[CUSTOMERS]
    )

    assert Run(service).result.error is None


def test_a_service_that_never_finishes_does_not_loop_endlessly() -> None:
    service = ScriptedService(connectionError=["again.qbw"])

    run = Run(service, a_company(open_error="0x80040408"))

    assert len(service.parts("connectionError")) == MAX_OPEN_ATTEMPTS
    assert run.result.error == 1013


def test_company_facts_that_cannot_be_read_end_the_session_with_1014() -> None:
    company = a_company(product=Product(highest_version="1.1"))
    service = ScriptedService()

    run = Run(service, company)

    assert run.result.error == 1014
    assert service.methods[-2:] == ["authenticate", "closeConnection"]


def test_interactive_mode_that_the_user_rejects() -> None:
    service = ScriptedService(getLastError=["Interactive mode"])

    run = Run(service)

    assert service.methods[-3:] == ["getInteractiveURL", "interactiveRejected", "closeConnection"]
    assert service.parts("interactiveRejected") == [{"wcTicket": "ticket-1", "reason": "User rejected"}]
    assert run.result.status == "As you like"


@pytest.mark.parametrize("end", ["", "Done", "DONE"])
def test_accepted_interactive_mode_polls_until_done_and_continues(end: str) -> None:
    service = ScriptedService(
        sendRequestXML=["", CUSTOMERS], getLastError=["Interactive mode"], interactiveDone=["not yet", end]
    )
    urls: list[str] = []

    def consent(url: str) -> bool:
        urls.append(url)
        return True

    run = Run(service, interactive=consent)

    assert urls == ["http://localhost/form"]
    assert run.waits == [5]
    assert run.result.status == "Finished"


def test_iterators_end_with_their_session() -> None:
    start = document('<CustomerQueryRq requestID="1" iterator="Start"><MaxReturned>5</MaxReturned></CustomerQueryRq>')
    service = ScriptedService(sendRequestXML=[start])
    run = Run(service)
    response = service.parts("receiveResponseXML")[0]["response"]
    iterator_id = defusedxml.ElementTree.fromstring(response)[0][0].get("iteratorID")
    go_on = document(
        f'<CustomerQueryRq requestID="2" iterator="Continue" iteratorID="{iterator_id}">'
        "<MaxReturned>5</MaxReturned></CustomerQueryRq>"
    )
    service.replies["sendRequestXML"] = [go_on]

    run.simulator.run_once()

    late = defusedxml.ElementTree.fromstring(service.parts("receiveResponseXML")[1]["response"])[0][0]
    assert (late.get("statusCode"), late.get("statusSeverity")) == ("3000", "Error")


def test_the_certificate_is_checked_before_every_session_and_the_support_page_once() -> None:
    service = ScriptedService(sendRequestXML=[CUSTOMERS])
    run = Run(service)

    run.simulator.run_once()

    app, support = "http://localhost:3000/qbwc", "http://localhost:3000/support"
    assert service.gets == [app, support, app, app]


@pytest.mark.parametrize(
    ("url", "response", "error"),
    [
        ("http://localhost:3000/qbwc", 405, 1048),
        ("http://localhost:3000/qbwc", TransportError("refused"), 1048),
        ("http://localhost:3000/support", 404, 1003),
        ("http://localhost:3000/support", TransportError("refused"), 1004),
    ],
)
def test_pages_that_do_not_answer_keep_the_application_from_being_added(
    url: str, response: int | Exception, error: int
) -> None:
    service = ScriptedService()
    service.get_status[url] = response

    run = Run(service)

    assert run.result.error == error
    assert service.calls == []


def test_support_may_answer_202() -> None:
    service = ScriptedService(sendRequestXML=[CUSTOMERS])
    service.get_status["http://localhost:3000/support"] = 202

    assert Run(service).result.error is None


def test_a_company_that_belongs_to_another_file_id_cannot_be_added() -> None:
    company = a_company()
    company.private_fields[OWNER_ID] = {"FileID": "{00000000-BBBB-CCCC-DDDD-EEEEEEEEEEEE}"}

    run = Run(ScriptedService(), company)

    assert run.result.error == 1039
    assert "Unique OwnerID/FileID pair value required" in run.result.status


def test_results_may_be_nil_missing_or_prefixed() -> None:
    nil = (
        '<e:Envelope xmlns:e="http://schemas.xmlsoap.org/soap/envelope/" '
        'xmlns:i="http://www.w3.org/2001/XMLSchema-instance"><e:Body>'
        f'<n:clientVersionResponse xmlns:n="{INTUIT}"><n:clientVersionResult i:nil="true"/></n:clientVersionResponse>'
        "</e:Body></e:Envelope>"
    ).encode()
    missing = soap_reply("serverVersion", "").replace(b"<serverVersionResult></serverVersionResult>", b"")
    service = ScriptedService(clientVersion=[nil], serverVersion=[missing], sendRequestXML=[CUSTOMERS])

    assert Run(service).result.error is None


def test_elements_inside_a_text_result_are_refused() -> None:
    raw = soap_reply("sendRequestXML", "X").replace(b">X<", b"><QBXML/><")

    assert Run(ScriptedService(sendRequestXML=[raw])).result.error == 1041


def test_whitespace_in_a_status_is_taken_as_a_company_path() -> None:
    service = ScriptedService(authenticate=[["ticket-1", " none"]])

    Run(service)

    assert service.parts("connectionError")[0]["hresult"] == "0x8004040A"
