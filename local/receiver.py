"""A webhook receiver on loopback, as an API consumer would write one: it verifies both signatures of the contract."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from local.gateway import Request, Response
from local.server import Server

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@dataclass(frozen=True, slots=True)
class Webhook:
    """A webhook that arrived: its parsed body, its id, and the schemes whose signature was right."""

    body: dict[str, Any]
    id: str | None
    verified: frozenset[str]


@contextmanager
def receiving(secret: str, take: Callable[[Webhook], None], port: int = 0) -> Iterator[str]:
    """Receive webhooks while the block runs, hand each to `take`; yields the URL to give as `webhook_url`.

    Port 0 takes a free one. Raises OSError when the port is in use.
    """

    def answer(request: Request) -> Response:
        if request.method != "POST":
            return Response(405, [], b"")
        verified = verified_schemes(request, secret)
        take(Webhook(json.loads(request.body), request.header("webhook-id"), verified))
        return Response(204, [], b"") if verified else Response(401, [], b"No valid signature.\n")

    server = Server(port)
    server.start(answer)
    try:
        yield f"{server.base_url}/"
    finally:
        server.stop()


def verified_schemes(request: Request, secret: str) -> frozenset[str]:
    """Return which signatures verify with `secret` (`whsec_…`): `standard` (Standard Webhooks), `qube`.

    When they were made is not looked at.
    """
    verified = set()
    signed = f"{request.header('webhook-id')}.{request.header('webhook-timestamp')}.".encode() + request.body
    key = base64.b64decode(secret.removeprefix("whsec_"))
    expected = "v1," + base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()
    if any(_same(each, expected) for each in (request.header("webhook-signature") or "").split()):
        verified.add("standard")
    parts = [part.partition("=")[::2] for part in (request.header("X-Qube-Signature") or "").split(",")]
    moment = next((value for name, value in parts if name == "t"), "")
    older = hmac.digest(secret.encode(), f"{moment}.".encode() + request.body, hashlib.sha256).hex()
    if any(name == "v1" and _same(value, older) for name, value in parts):
        verified.add("qube")
    return frozenset(verified)


def _same(given: str, expected: str) -> bool:
    # Bytes: compare_digest refuses text that is not ASCII, and a header can hold anything.
    return hmac.compare_digest(given.encode(), expected.encode())
