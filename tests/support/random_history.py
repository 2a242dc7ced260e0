"""The life of an app, by chance: its callers, its customers' machines, its receiver, and what happens by itself.

Everything that one of them sends contains a word that marks whose content it is.
"""

from __future__ import annotations

import random
import re
from typing import TYPE_CHECKING, Any

from domain.web_connector.session.login import BUSY_SECONDS_OF_A_WRITE
from tests.support.web_connector.quickbooks import hcp
from tests.support.whole_service import PASSWORD

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.support.api_response import ApiResponse
    from tests.support.whole_service import WholeService

WORD = re.compile(r"zq[rca][0-9]{4}qz")
"""`zqr0017qz` is of a request, `zqc0003qz` of a connection, and `zqa0001qz` of an app."""

REQUEST = re.compile(r'<(?P<name>\w+)Rq requestID="(?P<label>[^"]*)"(?P<rest>.*?)</(?P=name)Rq>')

NOISE = random.Random(1).randbytes(140_000).hex()
"""Too large for the item of a body, compressed too."""

MAX_EXCHANGES = 6


class RandomHistory:
    """An app with two connections. `seed` decides what happens.

    `noise` makes some responses large, and some requests if it is NOISE: other texts could be compressed too well.
    With `state`, the history continues one that was stored.
    """

    def __init__(
        self, service: WholeService, seed: int, state: Mapping[str, Any] | None = None, noise: str = NOISE
    ) -> None:
        self.service = service
        self.chance = random.Random(seed)
        self._noise = noise
        self.request_words: set[str] = set()
        """The words of all requests, also of those that were deleted."""
        if state:
            self._last_word, self.app_word = state["last_word"], state["app_word"]
            self.app_id: str = state["app_id"]
            self.connections: dict[str, str] = dict(state["connections"])
            self.api = service.client_of(self.app_id)
            return
        self._last_word = 0
        self.app_word = self._word("a")
        self.app_id = service.operate("create_app", name=self.app_word)["app_id"]
        texts = {"name": self.app_word, "logo_url": f"https://{self.app_word}.example/logo.png"}
        texts["email"] = f"{self.app_word}@shop.example"
        service.operate("set_contact", app_id=self.app_id, **texts)
        service.operate("rotate_webhook_secret", app_id=self.app_id)
        self.api = service.client_of(self.app_id)
        self.connections = {self._connect(word): word for word in (self._word("c"), self._word("c"))}
        """The id of each connection, and its word."""

    def state(self) -> dict[str, Any]:
        """Return what another program needs to continue the history."""
        return {
            "last_word": self._last_word,
            "app_word": self.app_word,
            "app_id": self.app_id,
            "connections": self.connections,
        }

    def _word(self, kind: str) -> str:
        self._last_word += 1
        return f"zq{kind}{self._last_word:04}qz"

    def _call(self, method: str, path: str, body: Any = None, **headers: str) -> ApiResponse:
        self.service.clock.advance(seconds=1)
        return self.api.call(method, f"/api/v1{path}", body, headers=headers or None)

    def _request_word(self) -> str:
        word = self._word("r")
        self.request_words.add(word)
        return word

    def _connect(self, word: str) -> str:
        """Create a connection with everything that a caller can set, and return its id."""
        settings = {
            "name": word,
            "company_file": f"C:\\Books\\{word}.qbw",
            "webhook_url": f"https://{word}.example/hooks?token={word}",
            "webhook_events": ["connection.*"],
            "batch_size": self.chance.choice([1, 3]),
        }
        connection_id: str = self._call("POST", "/connections", settings).json["data"]["id"]
        self._call("POST", f"/connections/{connection_id}/password", {"password": PASSWORD})
        link = {"redirect_url": f"https://{word}.example/{word}"}
        self._call("POST", f"/connections/{connection_id}/onboarding_url", link)
        return connection_id

    # --- Steps

    def step(self) -> None:
        """Let something happen."""
        steps = {
            self.queue: 6,
            self.queue_batch: 2,
            self.run_session: 6,
            self.redeliver: 1,
            self.discard: 1,
            self.queue_again: 1,
            self.delete: 4,
            self.live: 2,
        }
        (step,) = self.chance.choices(list(steps), list(steps.values()))
        step()
        self.service.receiver.status = self.chance.choice([200, 503])
        if self.chance.random() < 0.5:
            self.service.read_streams()
        if self.chance.random() < 0.3:
            self.service.deliver_messages()

    def _some_connection(self) -> str:
        return self.chance.choice(list(self.connections))

    def queue(self) -> None:
        """Queue a request with a word in every text."""
        connection_id, word = self._some_connection(), self._request_word()
        weights = {"read": 3, "write": 3, "pages": 3, "query": 3, "large": 1 if self._noise == NOISE else 0}
        (kind,) = self.chance.choices(list(weights), list(weights.values()))
        if kind == "query":
            # The parameters of a convenience query are the only texts of it. The label is `requestID`.
            self._call("GET", f"/connections/{connection_id}/customers?name={word}")
            return
        path = f"/connections/{connection_id}/queued_requests"
        response = self._call("POST", path, self._request(word, kind), **{"Idempotency-Key": word})
        assert response.status == 201, response.text

    def _request(self, word: str, kind: str) -> dict[str, Any]:
        search = {"NameFilter": {"MatchCriterion": "Contains", "Name": word}}
        requests: dict[str, dict[str, Any]] = {
            "read": {"CustomerQueryRq": {"@requestID": word, **search}},
            "pages": {"CustomerQueryRq": {"@requestID": word, "@iterator": "Start", "MaxReturned": 2, **search}},
            "write": {"CustomerAddRq": {"@requestID": word, "CustomerAdd": {"Name": word, "Notes": f"Note {word}"}}},
            "large": {"CustomerQueryRq": {"@requestID": word, "FullName": [word, *_lines(NOISE)]}},
        }
        return {
            "request_json": requests[kind],
            "label": f"label {word}",
            "metadata": {f"order {word}": word},
            "webhook_url": f"https://hooks.example/{word}",
        }

    def queue_batch(self) -> None:
        """Queue two requests, of which the second has a value of the response to the first."""
        connection_id, words = self._some_connection(), [self._request_word(), self._request_word()]
        first = self._request(words[0], "write") | {"ref": "customer"}
        second = self._request(words[1], "write") | {"depends_on": ["customer"]}
        second["request_json"]["CustomerAddRq"]["CustomerAdd"]["ParentRef"] = {
            "ListID": {"$from": "customer", "path": "CustomerRet/ListID"}
        }
        response = self._call(
            "POST", f"/connections/{connection_id}/queued_requests/batch", {"requests": [first, second]}
        )
        assert response.status == 201, response.text

    def run_session(self) -> None:
        """Let a Web Connector work for some exchanges. It may end at any point, and repeat calls."""
        connection_id, word = self.chance.choice(list(self.connections.items()))
        self.service.clock.advance(seconds=BUSY_SECONDS_OF_A_WRITE)
        ticket, company_file, *_ = self.service.soap("authenticate", connection_id, PASSWORD)
        if company_file in {"none", "busy"}:
            return
        facts = hcp(None).replace("Acme", word)
        for _ in range(MAX_EXCHANGES):
            request = self.service.soap("sendRequestXML", ticket, facts, company_file, "US", "16", "0")
            facts = ""
            if not request:
                break
            event = self.chance.random()
            if event < 0.1:
                return  # the machine was switched off
            if event < 0.2:
                self.service.soap("connectionError", ticket, "0x80040408", f"Could not start QuickBooks for {word}.")
                break
            answer = (self._response(request), "", "")
            if event < 0.3:
                code = self.chance.choice(["0x80040400", "0x80040402"])
                answer = ("", code, f"QuickBooks failed with {word}.")
            for _ in range(self.chance.choice([1, 1, 1, 2])):
                self.service.soap("receiveResponseXML", ticket, *answer)
        if self.chance.random() < 0.8:
            self.service.soap("closeConnection", ticket)
        if self.chance.random() < 0.2:
            self.service.soap("getLastError", ticket)

    def _response(self, request: str) -> str:
        """Return the answer of a company in which all texts about a request are its word.

        A query without one, such as those that settle a write, finds nothing.
        """
        parts = []
        for element in REQUEST.finditer(request):
            name, label = element["name"], element["label"]
            word = next(iter(WORD.findall(element[0])), "")
            pages = ' iteratorRemainingCount="0" iteratorID="{1-2-3}"' if "iterator=" in element["rest"] else ""
            if not name.endswith("Query") and self.chance.random() < 0.3:
                status = f'statusCode="3180" statusSeverity="Error" statusMessage="{word} was not saved."'
                customer = ""
            elif not word:
                status, customer = 'statusCode="1" statusSeverity="Info" statusMessage="Nothing matches."', ""
            else:
                status = 'statusCode="0" statusSeverity="Info" statusMessage="Status OK"'
                noise = self._noise if self.chance.random() < 0.15 else ""
                customer = (
                    f"<CustomerRet><ListID>80000001-1</ListID><EditSequence>1</EditSequence><Name>{word}</Name>"
                    f"<Notes>{noise}{word}</Notes></CustomerRet>"
                )
            parts.append(f'<{name}Rs requestID="{label}" {status}{pages}>{customer}</{name}Rs>')
        return f'<?xml version="1.0" ?>\n<QBXML>\n<QBXMLMsgsRs>\n{"".join(parts)}\n</QBXMLMsgsRs>\n</QBXML>\n'

    def _some_request(self) -> dict[str, Any] | None:
        path = f"/connections/{self._some_connection()}/queued_requests?page_size=100&bodies=false"
        requests: list[dict[str, Any]] = self._call("GET", path).json["data"]
        return self.chance.choice(requests) if requests else None

    def redeliver(self) -> None:
        """Send a webhook again."""
        if request := self._some_request():
            self._call("POST", f"/queued_requests/{request['id']}/redeliver")

    def discard(self) -> None:
        """Take requests out of the queue."""
        path = f"/connections/{self._some_connection()}/queued_requests/discard"
        self._call("POST", path, {"filter": {"label_prefix": f"label zqr{self.chance.randrange(10):04}"[:-1]}})

    def queue_again(self) -> None:
        """Queue requests again that have failed. The new requests have the words of the old ones."""
        path = f"/connections/{self._some_connection()}/queued_requests/queue_again"
        self._call("POST", path, {"filter": {"state": "error", "label_prefix": "label zqr"}})

    def delete(self) -> None:
        """Delete a request, in any state in which that is possible."""
        if request := self._some_request():
            self._call("DELETE", f"/queued_requests/{request['id']}?force=true&dependants=true")

    def live(self) -> None:
        """Let hours pass, or days."""
        self.service.live(self.chance.choice([0.1, 0.5, 2]))


def _lines(text: str) -> list[str]:
    """Return a text in parts that fit into a name."""
    return [text[start : start + 200] for start in range(0, len(text), 200)]
