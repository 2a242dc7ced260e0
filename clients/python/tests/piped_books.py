"""Gives the books of a simulated company to the tests of the TypeScript client: a line of JSON for each call.

    python piped_books.py

It reads `{"do": NAME, …}` and writes the result of the method of `Pipe` with this name.
"""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parents[2]), str(HERE.parents[2] / "src")]
sys.path.insert(0, str(HERE.parent / "src"))

import httpx  # noqa: E402 - they need the paths
from books import Books, Clock, _result  # noqa: E402
from fields import random_content, random_fields  # noqa: E402
from qbxml_queue.values import to_json  # noqa: E402
from service import BASE_URL  # noqa: E402

from domain import qbxml  # noqa: E402
from simulator import Company  # noqa: E402

VERSION = "16.0"


class Pipe:
    """One company. `edits` are what others change: each before a request with its name is executed."""

    def __init__(self) -> None:
        self.start()

    def start(self, customers: int = 5) -> None:
        self.books = Books(Company.generated(customers=customers, now=Clock()))
        self.books.before = self._edit
        self.faults: list[str] = []
        self.edits: list[dict[str, Any]] = []
        self.made = 0

    def call(self, method: str, path: str, headers: dict[str, str], body: str | None) -> dict[str, Any]:
        """Make a call. A fault is a call that is refused, one that is not sent, or one whose answer is lost."""
        fault = self.faults.pop(0) if self.faults else ""
        if fault == "unsent":
            return {"unsent": True}
        if fault == "busy":
            return {"status": 429, "body": '{"error": {"code": "too_many_requests", "message": "No."}}'}
        answer = self.books(httpx.Request(method, f"{BASE_URL}{path}", headers=headers, content=body))
        return {"lost": True} if fault == "lost" else {"status": answer.status_code, "body": answer.text}

    def set(
        self, *, closed: bool | None = None, faults: list[str] | None = None, edits: list[dict[str, Any]] | None = None
    ) -> None:
        """Open or close the books, and say what happens to the calls and to the requests that come."""
        if closed is False:
            self.books.open()
        elif closed:
            self.books.is_closed = True
        if faults is not None:
            self.faults = faults
        if edits is not None:
            self.edits, self.made = edits, 0

    def state(self) -> dict[str, Any]:
        return {
            "writes": self.books.writes,
            "records": len(self.books.records),
            "executed": len(self.books.executed),
            "made": self.made,
            "last": [[one.tag for one in self.books.executed[-1].iter()]] if self.books.executed else [],
        }

    def define(self, name: str, objects: list[str]) -> None:
        """Define a custom field."""
        content = {"OwnerID": "0", "DataExtName": name, "DataExtType": "STR255TYPE", "AssignToObject": objects}
        self.ask({"DataExtDefAddRq": {"DataExtDefAdd": content}})

    def forget_keys(self) -> None:
        """Forget the idempotency keys, as the service does after a day."""
        self.books.keys.clear()

    def discard_last(self) -> None:
        """Discard the last request that waits, and open QuickBooks for the others."""
        *self.books.waiting, (record, *_) = self.books.waiting
        self.books.open()
        record["state"] = "discarded"

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        return _result(self.books.ask(qbxml.parse_request_json(request, VERSION)))

    def fields(self, request: str, seed: str, share: float) -> Any:
        return to_json(random_fields(request, random.Random(seed), share))

    def content(self, request: str, seed: str, share: float) -> Any:
        return to_json(random_content(request, random.Random(seed), share))

    def awaits(self, request: dict[str, Any]) -> bool:
        """Return whether the last request that waits is this one, as the service reads both."""
        expected = qbxml.parse_request_json(request, VERSION)
        return ET.tostring(self.books.waiting[-1][1].element) == ET.tostring(expected.element)

    def waiting(self) -> Any:
        """Return the last request that waits, as the service has read it: the path and the text of each value."""
        [element] = self.books.waiting[-1][1].element
        return sorted(_leaves(element, ""))

    def reads(self, request: dict[str, Any]) -> None:
        """Read a request as the service does. Raises InvalidRequest."""
        qbxml.parse_request_json(request, VERSION)

    def _edit(self, name: str) -> None:
        if not self.edits or self.edits[0]["before"] != name:
            return
        edit = self.edits.pop(0)
        self.books.is_closed = edit.get("closes", False)
        [(request, content)] = edit["request"].items()
        for one in edit.get("also", ()):
            self.ask(one)
        kind = request.removesuffix("ModRq")
        [(member, fields)] = content.items()
        key = "ListID" if "ListID" in fields else "TxnID"
        now = self.ask({f"{kind}QueryRq": {key: fields[key]}})[f"{kind}Ret"][0]
        change = {key: fields[key], "EditSequence": now["EditSequence"], **fields}
        asked = self.books.ask(qbxml.parse_request_json({request: {member: change}}, VERSION))
        assert asked.get("statusCode") == "0", asked.attrib
        self.made += 1


def _leaves(element: Any, path: str) -> list[list[str]]:
    if not len(element):
        return [[path, element.text]] if element.text else []
    return [leaf for one in element for leaf in _leaves(one, f"{path}/{one.tag}")]


def main() -> None:
    pipe = Pipe()
    for line in sys.stdin:
        asked: dict[str, Any] = json.loads(line)
        try:
            answer = {"is": getattr(pipe, asked["do"])(**{name: one for name, one in asked.items() if name != "do"})}
        except Exception as error:  # noqa: BLE001 - the test that asked shows it
            answer = {"error": repr(error)}
        print(json.dumps(answer), flush=True)  # noqa: T201 - this is the answer


main()
