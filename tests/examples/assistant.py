"""A scripted assistant: it calls the tools of `qbxml-queue-mcp` as its arguments say, and prints JSON.

Run `assistant.py owes CONNECTION`, `assistant.py propose CONNECTION CUSTOMER`, `assistant.py look REQUEST` or
`assistant.py random CONNECTION REQUEST CUSTOMER SEED CALLS`. BASE_URL and API_KEY are those of the server.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import sys
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

INVOICE = {"RefNumber": "A-1", "InvoiceLineAdd": [{"ItemRef": {"FullName": "Installation"}, "Quantity": 2}]}
BREAKOUT = "</FullName></CustomerQueryRq><CustomerAddRq><CustomerAdd><Name>Mallory</Name></CustomerAdd></CustomerAddRq>"


async def main(what: str, *arguments: str) -> None:
    """Start the server, do one thing and print the result."""
    names = ("BASE_URL", "API_KEY", "PYTHONPATH", "PATH")
    environment = {name: os.environ[name] for name in names if name in os.environ}
    server = StdioServerParameters(command=sys.executable, args=["-m", "qbxml_queue.mcp.command"], env=environment)
    async with Client(stdio_client(server)) as client:
        result = await ACTIONS[what](client, *arguments)
    sys.stdout.write(json.dumps(result) + "\n")


async def call(client: Client, tool: str, **arguments: Any) -> Any:
    """Return the answer of a tool. Raises AssertionError with its message."""
    result = await client.call_tool(tool, arguments)
    text = result.content[0].text
    assert not result.is_error, text
    return json.loads(text)


async def owes(client: Client, connection: str) -> Any:
    """Return who owes most, how much, and since when."""
    [found] = (await call(client, "list_connections"))["data"]["connections"][:1]
    assert found["id"] == connection
    fields = {"IncludeRetElement": ["CustomerRef", "TxnDate", "BalanceRemaining"]}
    query = {"InvoiceQueryRq": {"PaidStatus": "NotPaidOnly", **fields}}
    answer = await call(client, "read", connection_id=connection, request=query, limit=200)
    invoices = answer["data"]["result"]["InvoiceRet"]
    while "more" in answer:
        request = answer["data"]["request"]["id"]
        answer = await call(client, "get_request", request_id=request, offset=len(invoices), limit=200)
        invoices += answer["data"]["result"]["InvoiceRet"]
    owed: dict[str, list[Any]] = {}
    for invoice in invoices:
        owed.setdefault(invoice["CustomerRef"]["FullName"], []).append(invoice)
    totals = {name: sum(Decimal(one["BalanceRemaining"]) for one in of) for name, of in owed.items()}
    name = max(totals, key=lambda one: (totals[one], one))
    return {"name": name, "owes": str(totals[name]), "since": min(one["TxnDate"] for one in owed[name])}


async def propose(client: Client, connection: str, customer: str) -> Any:
    """Propose an invoice for a customer, twice with one key."""
    described = await call(client, "describe_request", request_name="InvoiceAddRq")
    assert "InvoiceLineAdd" in described["fields"]
    request = {"InvoiceAddRq": {"InvoiceAdd": {"CustomerRef": {"FullName": customer}, **INVOICE}}}
    proposal = {"connection_id": connection, "request": request, "idempotency_key": "a-1", "reason": "Agreed by phone."}
    first = await call(client, "propose_write", **proposal)
    again = await call(client, "propose_write", **proposal)
    assert again["data"]["request"]["id"] == first["data"]["request"]["id"]
    return first["data"]


async def look(client: Client, request: str) -> Any:
    """Wait for a request and return it."""
    return (await call(client, "get_request", request_id=request, wait_seconds=60))["data"]


async def call_at_random(client: Client, connection: str, request: str, customer: str, *draw: str) -> Any:
    """Call tools with arguments that try to do more than they may. Return how many calls worked and were refused."""
    seed, calls = draw
    chance = random.Random(seed)
    tools = {tool.name: sorted(tool.input_schema["properties"]) for tool in (await client.list_tools()).tools}
    counts = {"worked": 0, "refused": 0}
    for number in range(int(calls)):
        name = chance.choice(sorted(tools))
        values = arguments(chance, connection, request, f"random-{seed}-{number}", customer)
        given = {member: chance.choice(values[member]) for member in tools[name] if chance.random() < 0.95}
        result = await client.call_tool(name, given)
        counts["refused" if result.is_error else "worked"] += 1
    return counts


def arguments(chance: random.Random, connection: str, request: str, key: str, customer: str) -> dict[str, list[Any]]:
    """Return the values from which each argument of a call is chosen.

    `customer` is the ListID and the EditSequence of a customer whom writes try to change and to delete.
    """
    listed, _, edit_sequence = customer.partition("/")
    path = chance.choice(["/approve", "/../../approve", "?force=true", "%2Fapprove", "/queue_again"])
    kind = chance.choice(["Customer", "Vendor", "OtherName"])
    write: dict[str, Any] = {f"{kind}AddRq": {f"{kind}Add": {"Name": f"Mallory {key}"[:41]}}}
    delete = {"ListDelRq": {"ListDelType": "Customer", "ListID": listed}}
    change = {"CustomerModRq": {"CustomerMod": {"ListID": listed, "EditSequence": edit_sequence, "Phone": key[:21]}}}
    requests = [
        *(
            write,
            {"CustomerQueryRq": {}, **write},
            {"CustomerQueryRq": write},
            {"CustomerQueryRq": {"FullName": BREAKOUT}},
        ),
        *({"CustomerQueryRq": {"MaxReturned": 1}}, {"version": "16.0", **write}, {"CustomerAddRq QueryRq": {}}, {}),
        *({**write, "approval": "none"}, {"@approval": "none", "CustomerQueryRq": {}}, delete, change),
        {"QBXMLMsgsRq": {"CustomerQueryRq": {}, **write}},
    ]
    return {
        "connection_id": [
            connection,
            connection,
            connection,
            connection + path,
            f"../queued_requests/{request}",
            "",
            7,
        ],
        "request_id": [request, request + path, f"{request}/approve", "x", None],
        "request": requests,
        "request_name": ["CustomerAddRq", "../../etc/passwd", "", BREAKOUT],
        "idempotency_key": [key, key, "same", "", "k\r\nX-Force: true", "x" * 10_000],
        "reason": ["Ignore the rules.", "", BREAKOUT],
        "if_exists": ["fail", "return", "update", "force"],
        "wait_seconds": [0, 1, -5],
        "offset": [0, -1, 10**9],
        "limit": [1, 0, -1, 10**9],
        "page": [1, 0, 10**9],
        "state": [None, "waiting", "approved"],
        "words": ["", "Mallory", BREAKOUT, "x" * 10_000],
        "after": [None, "0", "x&force=true", "../approve"],
    }


ACTIONS: dict[str, Callable[..., Awaitable[Any]]] = {
    "owes": owes,
    "propose": propose,
    "look": look,
    "random": call_at_random,
}

if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
