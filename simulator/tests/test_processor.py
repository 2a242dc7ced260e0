"""`POST /qbxml`: the request processor over HTTP."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import simulator
from simulator import Company
from simulator.inspection import serving
from simulator.inspection.processor import MAX_APPLICATIONS, MAX_BODY_BYTES
from simulator.tests.support import a_company, document

if TYPE_CHECKING:
    from collections.abc import Iterator

ADD = document("<CustomerAddRq><CustomerAdd><Name>Ada</Name></CustomerAdd></CustomerAddRq>")
PAGE = "<CustomerQueryRq iterator='{}'{}><MaxReturned>10</MaxReturned></CustomerQueryRq>"
SECONDS = 30


class Processor:
    """Sends QBXML to the endpoint of a company."""

    def __init__(self, company: Company, url: str) -> None:
        self.company, self.url = company, url
        self.port = int(url.rstrip("/").rpartition(":")[2])

    def send(
        self, body: bytes | str, query: str = "", headers: dict[str, str] | None = None, method: str = "POST"
    ) -> tuple[int, Any]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=SECONDS)
        data = body.encode() if isinstance(body, str) else body
        connection.request(method, f"/qbxml{query}", data, headers or {})
        response = connection.getresponse()
        text = response.read().decode()
        connection.close()
        is_json = response.headers["Content-Type"] == "application/json"
        return response.status, json.loads(text) if is_json else text


@pytest.fixture
def processor() -> Iterator[Processor]:
    company = a_company()
    with serving(company) as url:
        yield Processor(company, url)


def test_a_message_set_is_answered_and_changes_the_books(processor: Processor) -> None:
    status, response = processor.send(ADD)

    assert (status, 'statusCode="0"' in response) == (200, True)
    assert [(write.name, write.application) for write in processor.company.writes] == [
        ("CustomerAddRq", "Request processor")
    ]
    assert 'statusCode="3100"' in processor.send(ADD)[1]


def test_an_iterator_goes_on_from_call_to_call_for_its_application_alone(processor: Processor) -> None:
    first = processor.send(document(PAGE.format("Start", "")), "?application=Sync")[1]
    iterator = re.search(r'iteratorID="([^"]+)"', first)
    assert iterator is not None
    following = document(PAGE.format("Continue", f" iteratorID='{iterator[1]}'"))

    assert 'statusCode="3000"' in processor.send(following, "?application=Other")[1]
    second = processor.send(following, "?application=Sync")[1]
    assert re.findall(r'iteratorRemainingCount="(\d+)"', first + second) == ["27", "17"]


def test_stored_responses_belong_to_an_application(processor: Processor) -> None:
    write = document(
        "<ToDoAddRq><ToDoAdd><Notes>Call</Notes></ToDoAdd></ToDoAddRq>", sets=' newMessageSetID="1" oldMessageSetID=""'
    )

    first = processor.send(write, "?application=A")[1]

    assert processor.send(write, "?application=A")[1] == first
    assert len(processor.company.writes) == 1
    processor.send(write, "?application=B")
    assert len(processor.company.writes) == 2


@pytest.mark.parametrize(
    ("body", "query", "hresult"),
    [
        ("<QBXML/>", "", "0x80040400"),
        (ADD.replace("13.0", "99.0"), "", "0x80040423"),
        (ADD, "?company=D:%5COther.QBW", "0x8004040A"),
    ],
)
def test_an_exception_of_the_request_processor_is_an_error_with_its_hresult(
    processor: Processor, body: str, query: str, hresult: str
) -> None:
    status, answer = processor.send(body, query)

    assert (status, answer["error"]["code"], answer["error"]["hresult"]) == (422, "hresult", hresult)
    assert answer["error"]["message"]
    assert processor.company.executed == []


def test_a_company_that_cannot_be_opened_is_an_exception_also_after_a_first_call(processor: Processor) -> None:
    processor.send(ADD)
    processor.company.open_error = "0x80040414"

    assert processor.send(ADD)[1]["error"]["hresult"] == "0x80040414"


def test_the_open_company_can_be_named_by_its_path(processor: Processor) -> None:
    assert processor.send(ADD, "?company=c:%5Ccompany%20files%5Csimulated%20company.qbw")[0] == 200


@pytest.mark.parametrize(
    ("body", "query", "headers", "status"),
    [
        (b"\xff", "", {}, 400),
        (ADD, "?file=x", {}, 400),
        (ADD, f"?application={'x' * 101}", {}, 400),
        (b"", "", {}, 411),
        (ADD, "", {"Content-Length": "many"}, 411),
        (ADD, "", {"Content-Length": "-1"}, 411),
        (b"x", "", {"Content-Length": str(MAX_BODY_BYTES + 1)}, 413),
        (b"x", "", {"Content-Length": "9" * 5000}, 413),
        (ADD, "", {"Host": "rebound.example"}, 421),
        (ADD, "", {"Origin": "https://evil.example"}, 403),
    ],
)
def test_a_wrong_call_is_refused_and_executes_nothing(
    processor: Processor, body: bytes | str, query: str, headers: dict[str, str], status: int
) -> None:
    answer = processor.send(body, query, headers)

    assert answer[0] == status
    assert answer[1]["error"]["message"].endswith(".")
    assert processor.company.executed == []


def test_a_body_in_chunks_is_refused(processor: Processor) -> None:
    assert processor.send(b"", headers={"Transfer-Encoding": "chunked"})[0] == 411


def test_a_body_that_ends_early_executes_nothing(processor: Processor) -> None:
    head = f"POST /qbxml HTTP/1.1\r\nHost: 127.0.0.1:{processor.port}\r\nContent-Length: {len(ADD) + 1}\r\n\r\n"
    with socket.create_connection(("127.0.0.1", processor.port), timeout=SECONDS) as line:
        line.sendall((head + ADD).encode())
        line.shutdown(socket.SHUT_WR)

        assert line.recv(100) == b""

    assert processor.company.executed == []


def test_the_number_of_applications_is_bounded(processor: Processor) -> None:
    for number in range(MAX_APPLICATIONS):
        assert processor.send(document("<HostQueryRq/>"), f"?application={number}")[0] == 200

    status, answer = processor.send(ADD, "?application=another")

    assert (status, answer["error"]["code"]) == (400, "bad_parameter")
    assert processor.send(ADD, "?application=1")[0] == 200


def test_other_methods_have_no_such_path(processor: Processor) -> None:
    assert processor.send(b"", method="GET")[0] == 404


def test_the_command_serves_quickbooks_alone_until_ctrl_c_and_writes_the_file(tmp_path: Path) -> None:
    path = tmp_path / "company.json"
    Company.empty().save(path)
    command = [sys.executable, "-m", "simulator", "--inspect", "0", "--company", str(path)]
    environment = {**os.environ, "PYTHONPATH": str(Path(simulator.__file__ or "").parents[1]), "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603 - ours
        assert process.stdout is not None
        url = re.search(r"(http://127\.0\.0\.1:\d+/)qbxml", process.stdout.readline())
        assert url is not None
        assert Processor(Company.empty(), url[1]).send(ADD)[0] == 200
        process.send_signal(signal.SIGINT)
        assert process.wait(SECONDS) == 0

    assert [customer.full_name for customer in Company.load(path).books["Customer"]] == ["Ada"]
