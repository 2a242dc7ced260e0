"""The tools of an assistant: what they send, and how their answers are cut, masked and marked."""

from __future__ import annotations

import asyncio
import json
import random
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from mcp import Client
from qbxml_queue import AsyncClient
from qbxml_queue.mcp import reference
from qbxml_queue.mcp.answers import MARK, MASKED, MAX_BYTES, MAX_ROWS, SECRET, answer, masked
from qbxml_queue.mcp.command import Refused, check_scope, parser
from qbxml_queue.mcp.server import server_of
from qbxml_queue.mcp.tools import Tools
from service import API_KEY, BASE_URL, CONNECTION, Service

if TYPE_CHECKING:
    from collections.abc import Callable

RECORD = "00000000-0000-4000-8000-000000000001"
WRITE = {"CustomerAddRq": {"CustomerAdd": {"Name": "Ada Ltd"}}}
PROPOSAL = {"connection_id": CONNECTION, "request": WRITE, "idempotency_key": "ada", "reason": "She asked."}


def called(service: Callable[[httpx.Request], httpx.Response], tool: str, **arguments: Any) -> tuple[bool, str]:
    """Call a tool of a server in memory. Return whether it worked, and its text."""

    async def call() -> tuple[bool, str]:
        ticks = iter(range(0, 1000, 10))  # seconds
        async with AsyncClient(BASE_URL, API_KEY, "any", transport=httpx.MockTransport(service)) as client:
            tools = Tools(client, BASE_URL, clock=lambda: float(next(ticks)))
            async with Client(server_of(tools)) as assistant:
                result = await assistant.call_tool(tool, arguments)
                return not result.is_error, result.content[0].text  # type: ignore[union-attr]

    return asyncio.run(call())


def worked(service: Callable[[httpx.Request], httpx.Response], tool: str, **arguments: Any) -> Any:
    is_good, text = called(service, tool, **arguments)
    assert is_good, text
    return json.loads(text)


def rows_of(count: int, size: int) -> list[dict[str, str]]:
    return [{"ListID": str(number), "Name": "ä" * size} for number in range(count)]


@pytest.mark.parametrize("seed", range(20))
def test_the_parts_of_an_answer_are_small_and_together_they_are_the_whole(seed: int) -> None:
    chance = random.Random(seed)
    size = chance.choice([1, 30, 500, 15_000])
    whole = rows_of(chance.randrange(1, 1_000_000 // (size + 300)), size)
    value = {"request": {"id": "x", "tags": ["a"][: len(whole) - 1]}, "result": {"CustomerRet": whole}}
    limit, found = chance.choice([1, 7, 50, MAX_ROWS, 10**9]), list[Any]()

    while True:
        part = answer(value, reveals=False, offset=len(found), limit=limit)
        assert len(json.dumps(part["data"], ensure_ascii=False, indent=2).encode()) <= MAX_BYTES
        rows = part["data"]["result"]["CustomerRet"]
        assert 1 <= len(rows) <= min(limit, MAX_ROWS)
        assert part["rows"] == f"{len(found) + 1} to {len(found) + len(rows)} of {len(whole)}"
        found += rows
        if "more" not in part:
            break
        assert f"offset {len(found)}" in part["more"]

    assert found == whole


@pytest.mark.parametrize(("tool", "count"), [("list_connections", 100), ("search_requests", 50), ("changes", 50)])
def test_a_long_list_goes_on_at_an_offset_of_the_same_tool(tool: str, count: int) -> None:
    rows = [{"id": str(number), "name": "x" * 2_000, "label": "x" * 2_000} for number in range(count)]
    arguments = {} if tool != "search_requests" else {"connection_id": CONNECTION}
    found = list[str]()

    while True:
        answered = worked(
            lambda _request: httpx.Response(200, json={"data": rows}), tool, offset=len(found), **arguments
        )
        [listed] = [member for member in answered["data"].values() if isinstance(member, list)]
        found += [row["id"] for row in listed]
        if "more" not in answered:
            break
        assert answered["more"].startswith(f"Rows are left out. Call {tool} with offset {len(found)},")

    assert found == [row["id"] for row in rows]


def test_an_answer_of_one_large_row_is_its_beginning() -> None:
    part = answer({"result": {"CustomerRet": rows_of(1, MAX_BYTES)}}, reveals=False)

    assert len(part["data"].encode()) <= MAX_BYTES
    assert "IncludeRetElement" in part["more"]


@pytest.mark.parametrize("offset", [-5, 3, 10**9])
def test_an_offset_outside_of_the_rows_is_answered(offset: int) -> None:
    part = answer({"CustomerRet": rows_of(3, 1)}, reveals=False, offset=offset)

    assert part["data"]["CustomerRet"] == (rows_of(3, 1) if offset < 0 else [])


@pytest.mark.parametrize("name", sorted(SECRET))
def test_a_secret_number_is_masked_in_any_depth(name: str) -> None:
    shown = masked({"a": [{"VendorRet": {name: "12-3456789", "Name": "Ada", "Empty": {name: ""}}}]})

    assert shown == {"a": [{"VendorRet": {name: MASKED, "Name": "Ada", "Empty": {name: ""}}}]}


@pytest.mark.parametrize(
    "text", ["4111111111111111", "card 4111-1111-1111-1111, thanks", "378282246310005", "078-05-1120"]
)
def test_a_card_number_in_a_text_is_masked(text: str) -> None:
    assert MASKED in masked({"Memo": text})["Memo"]
    assert answer({"Memo": text}, reveals=True)["data"]["Memo"] == text


@pytest.mark.parametrize("text", ["4111111111111112", "1A2B-1700000000", "1234567890123.50", "+1 555 010 0100"])
def test_another_number_stays(text: str) -> None:
    assert masked(text) == text


@pytest.mark.parametrize("request_name", reference.request_names())
def test_every_request_can_be_described(request_name: str) -> None:
    described = reference.describe(request_name)

    assert f"class {request_name}" in described["fields"] or f"{request_name} = " in described["fields"]
    assert len(json.dumps(described)) < MAX_BYTES


def test_an_unknown_request_is_answered_with_near_names() -> None:
    with pytest.raises(reference.UnknownRequest, match=r"'CustomrAddRq' is not a request.*CustomerAddRq"):
        reference.describe("CustomrAddRq")


@pytest.mark.parametrize(
    ("words", "expected"), [("status 3200", "3200"), ("QBWC1048", "QBWC1048"), ("outcome_unknown", "outcome_unknown")]
)
def test_a_search_finds_an_error_by_its_name(words: str, expected: str) -> None:
    sections = reference.search(words)

    assert any(expected in section["text"] for section in sections)
    assert len(json.dumps(sections)) < MAX_BYTES


def test_a_search_without_a_word_of_the_documents_finds_nothing() -> None:
    assert reference.search("xyzzy " * 10_000) == []


def test_a_proposal_needs_approval_and_says_where(service: Service) -> None:
    service.polls = 10**6
    answered = worked(service, "propose_write", **PROPOSAL)

    body = json.loads(service.calls[-1].content)
    assert (body["approval"], body["metadata"]) == ("required", {"reason": "She asked."})
    assert service.calls[-1].headers["Idempotency-Key"] == "ada"
    assert answered["note"] == MARK
    assert answered["data"]["approve_at"] == f"{BASE_URL}/app/queued_requests/{RECORD}"


@pytest.mark.parametrize(
    ("tool", "request_json", "message"),
    [
        ("read", WRITE, "CustomerAddRq is not a query. Use propose_write"),
        ("read", {"CustomerQueryRq": {}, **WRITE}, "A request has one name"),
        ("propose_write", {"CustomerQueryRq": {}}, "CustomerQueryRq is a query. Use read"),
        ("propose_write", {}, "A request has one name"),
    ],
)
def test_a_request_that_is_not_for_the_tool_is_not_sent(
    service: Service, tool: str, request_json: dict[str, Any], message: str
) -> None:
    is_good, text = called(service, tool, **{**PROPOSAL, "request": request_json})

    assert not is_good
    assert message in text
    assert not service.calls


def test_a_read_returns_the_rows_when_quickbooks_has_answered(service: Service) -> None:
    service.polls = 2
    service.outcome = lambda _record: {"result": {"CustomerRet": [{"SSN": "123-45-6789", "Name": "Ada"}]}}

    answered = worked(service, "read", connection_id=CONNECTION, request={"CustomerQueryRq": {}})

    assert answered["data"]["result"] == {"CustomerRet": [{"SSN": MASKED, "Name": "Ada"}]}
    assert answered["rows"] == "1 to 1 of 1"


def test_a_read_that_has_not_ended_returns_the_id(service: Service) -> None:
    service.polls = 10**6

    answered = worked(service, "read", connection_id=CONNECTION, request={"CustomerQueryRq": {}}, wait_seconds=10**9)

    assert answered["data"]["request"]["id"] == RECORD
    assert "get_request" in answered["data"]["next"]
    waits = [int(call.url.params.get("wait", "0")) for call in service.calls[1:]]
    assert max(waits) <= 20
    assert sum(waits) <= 120


@pytest.mark.parametrize("request_id", [f"{RECORD}/approve", "../x", "", "x?force=true"])
def test_an_id_cannot_lead_to_another_call(service: Service, request_id: str) -> None:
    is_good, text = called(service, "get_request", request_id=request_id)

    assert not is_good
    assert "is not an id" in text
    assert not service.calls


def test_an_error_of_the_service_is_told(service: Service) -> None:
    service.faults = [403]

    assert called(service, "propose_write", **PROPOSAL) == (
        False,
        "Error executing tool propose_write: 403 unavailable: No.",
    )


def test_a_service_that_cannot_be_reached_is_told() -> None:
    def fail(_request: httpx.Request) -> httpx.Response:
        raise httpx.UnsupportedProtocol("no such protocol")

    is_good, text = called(fail, "list_connections")

    assert not is_good
    assert "The service could not be reached: no such protocol." in text


@pytest.mark.parametrize(
    ("scope", "arguments", "is_accepted"),
    [
        *[(scope, [], True) for scope in ("propose", "read_only")],
        *[(scope, [], False) for scope in ("full", "approve", "new")],
        ("full", ["--allow-writes"], True),
    ],
)
def test_only_a_key_that_cannot_do_harm_is_accepted(scope: str, arguments: list[str], is_accepted: bool) -> None:
    async def check() -> None:
        transport = httpx.MockTransport(Service(scope=scope))
        async with AsyncClient(BASE_URL, API_KEY, "any", transport=transport) as client:
            await check_scope(client, allows_writes=parser().parse_args(arguments).allow_writes)

    if is_accepted:
        asyncio.run(check())
    else:
        with pytest.raises(Refused, match=rf"The key has the scope {scope}\."):
            asyncio.run(check())


@pytest.mark.parametrize(
    ("address", "response", "message"),
    [
        (
            BASE_URL,
            httpx.Response(401, json={"error": {"code": "unauthorized", "message": "No."}}),
            "unauthorized: No.",
        ),
        (BASE_URL, httpx.Response(200, text="<html>"), "is not the address of a service"),
        (BASE_URL, httpx.Response(200, json=[]), "is not the address of a service"),
        (BASE_URL, httpx.Response(200, json={"data": None}), "is not the address of a service"),
        (BASE_URL, httpx.ConnectError("All attempts failed"), "No service at BASE_URL accepts API_KEY: All attempts"),
        ("queue.example", None, "No service at BASE_URL accepts API_KEY"),
        ("https://[", None, "BASE_URL|API_KEY"),
    ],
)
def test_a_service_that_cannot_be_asked_ends_the_server_with_a_sentence(
    address: str, response: httpx.Response | httpx.HTTPError | None, message: str
) -> None:
    def answered(_request: httpx.Request) -> httpx.Response:
        if isinstance(response, httpx.HTTPError):
            raise response
        assert response is not None
        return response

    async def check() -> None:
        transport = httpx.MockTransport(answered) if response is not None else None

        async def sleep(_seconds: float) -> None:
            pass

        async with AsyncClient(address, API_KEY, "any", transport=transport, sleep=sleep) as client:
            await check_scope(client, allows_writes=False)

    with pytest.raises(Refused, match=message):
        asyncio.run(check())


def test_the_tools_say_what_they_change() -> None:
    async def listed() -> dict[str, bool]:
        async with (
            AsyncClient(BASE_URL, API_KEY, "any") as client,
            Client(server_of(Tools(client, BASE_URL))) as assistant,
        ):
            tools = (await assistant.list_tools()).tools
            return {tool.name: bool(tool.annotations and tool.annotations.read_only_hint) for tool in tools}

    hints = asyncio.run(listed())

    assert [name for name, reads in hints.items() if not reads] == ["propose_write"]
    assert len(hints) == 8
