"""A webhook receiver on loopback that verifies both signatures, as an API consumer would."""

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
    """A received webhook: its parsed body, its ID, and the schemes with a valid signature."""

    body: dict[str, Any]
    id: str | None
    verified: frozenset[str]


@contextmanager
def receiving(secret: str, take: Callable[[Webhook], None], port: int = 0) -> Iterator[str]:
    """Receive webhooks while the block runs, and pass each to `take`. Yield the URL to use as `webhook_url`.

    Port 0 selects a free one. Raises OSError when the port is in use.
    """

    def handle(request: Request) -> Response:
        if request.method != "POST":
            return Response(405, [], b"")
        schemes = verified_schemes(request, secret)
        take(Webhook(json.loads(request.body), request.header("webhook-id"), schemes))
        return Response(204, [], b"") if schemes else Response(401, [], b"No valid signature.\n")

    server = Server(port)
    server.start(handle)
    try:
        yield f"{server.base_url}/"
    finally:
        server.stop()


def verified_schemes(request: Request, secret: str) -> frozenset[str]:
    """Return the schemes whose signature `secret` (`whsec_…`) verifies: `standard` (Standard Webhooks), `qube`.

    The timestamp is not checked.
    """
    verified = set()
    signed = f"{request.header('webhook-id')}.{request.header('webhook-timestamp')}.".encode() + request.body
    key = base64.b64decode(secret.removeprefix("whsec_"))
    expected = "v1," + base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()
    if any(_same(signature, expected) for signature in (request.header("webhook-signature") or "").split()):
        verified.add("standard")
    parts = [part.partition("=")[::2] for part in (request.header("X-Qube-Signature") or "").split(",")]
    moment = next((value for name, value in parts if name == "t"), "")
    older = hmac.digest(secret.encode(), f"{moment}.".encode() + request.body, hashlib.sha256).hex()
    if any(name == "v1" and _same(value, older) for name, value in parts):
        verified.add("qube")
    return frozenset(verified)


def _same(value: str, expected: str) -> bool:
    # Bytes, because compare_digest refuses text that is not ASCII.
    return hmac.compare_digest(value.encode(), expected.encode())
