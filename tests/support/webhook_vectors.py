"""Webhooks that a receiver gets, and whether it may accept them: the signed ones, and what an attacker can send.

Every receiver of the project gets the same ones: the recipes of docs/webhooks.md, the examples and the clients.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import random
import re
from dataclasses import asdict, dataclass
from typing import Any

SECRET = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
SHORTEST = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
OTHER = "whsec_ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8="
ID = "11111111-1111-4111-8111-111111111111"
EVENT = {"type": "queued_request.discarded", "result": None, "subject": "Ädä 😀"}
BODY = json.dumps(EVENT, ensure_ascii=False).encode()
SEED = 20261123


@dataclass(frozen=True)
class Vector:
    """A webhook, whether its signature is valid, and whether its body is an event. `body` is base64."""

    name: str
    secret: str | None
    headers: dict[str, str | None]
    body: str
    is_valid: bool = False
    is_event: bool = True

    def as_dict(self) -> dict[str, Any]:
        """Return the members for a program that reads JSON."""
        return asdict(self)


def signature(key: bytes, webhook_id: str, timestamp: str, body: bytes) -> str:
    """Return the signature of Standard Webhooks."""
    content = f"{webhook_id}.{timestamp}.".encode() + body
    return "v1," + base64.b64encode(hmac.digest(key, content, hashlib.sha256)).decode()


def key_of(secret: str) -> bytes:
    """Return the key of a secret as a careless receiver reads it."""
    text = re.sub(r"[^A-Za-z0-9+/]", "", secret.removeprefix("whsec_"))
    return base64.b64decode(text[: len(text) - (len(text) % 4 == 1)] + "==")


def a_vector(name: str, now: float, *, is_valid: bool = False, **given: Any) -> Vector:
    """Return a webhook that is signed with its secret, unless `given` has another signature."""
    secret = given.get("secret", SECRET)
    webhook_id, timestamp = given.get("id", ID), given.get("timestamp", str(int(now)))
    body = given.get("body", BODY)
    key = given["key"] if "key" in given else key_of(secret)
    headers = {
        "webhook-id": webhook_id,
        "webhook-timestamp": timestamp,
        "webhook-signature": signature(key, webhook_id, timestamp, body),
        **given.get("headers", {}),
    }
    headers = {header: value for header, value in headers.items() if value is not None}
    text = base64.b64encode(body).decode()
    return Vector(name, secret, headers, text, is_valid, given.get("is_event", True))


def vectors(now: float) -> list[Vector]:
    """Return every vector at this time, in Unix seconds. The tolerance is 300 seconds."""
    return [
        *accepted(now),
        *with_weak_secrets(now),
        *with_other_times(now),
        *with_other_signatures(now),
        *without_an_event(now),
        *mutated(now),
    ]


def accepted(now: float) -> list[Vector]:
    """Return what a receiver accepts."""
    mine, others = (signature(key_of(secret), ID, str(int(now)), BODY) for secret in (SECRET, OTHER))
    lists = (f"{others} {mine}", f"{mine} {others}", f"v2,x {mine}", f"{mine} {mine}", f"  {mine} ", f"v1,é {mine}")
    return [
        a_vector("signed", now, is_valid=True),
        a_vector("signed with the shortest secret", now, is_valid=True, secret=SHORTEST),
        a_vector("signed with 25 bytes", now, is_valid=True, secret="whsec_" + base64.b64encode(b"x" * 25).decode()),
        a_vector("signed with 64 bytes", now, is_valid=True, secret="whsec_" + base64.b64encode(b"x" * 64).decode()),
        *(a_vector(f"signed {age} s ago", now, is_valid=True, timestamp=str(int(now) - age)) for age in (-280, 280)),
        *(a_vector(repr(text), now, is_valid=True, headers={"webhook-signature": text}) for text in lists),
    ]


def with_weak_secrets(now: float) -> list[Vector]:
    """Return what an attacker signs who guesses that a secret is missing or short."""
    weak = [
        "",
        "whsec_",
        "whsec_AA==",
        "whsec_" + "A" * 28,
        "A" * 44,
        SECRET.removeprefix("whsec_"),
        "WHSEC_" + "A" * 32,
    ]
    weak += ["whsec_" + "A" * 33, "whsec_" + "A" * 30 + "==", SECRET.rstrip("="), "whsec_whsec_" + "A" * 32]
    unreadable = [
        "whsec_é" + "A" * 31,
        "whsec_" + "!" * 32,
        f" {SECRET}",
        f"{SECRET}\n",
        "whsec_" + "-_" * 16,
        "whsec_\ud800",
    ]
    unreadable += [f"{SECRET} {OTHER}", "whsec_" + "=" * 32, "whsec_" + "A" * 32 + "====", "whsec_" + "\u0660" * 32]
    return [
        *(a_vector(f"weak secret {secret!r}", now, secret=secret) for secret in weak),
        *(a_vector(f"secret {secret!r}", now, secret=secret, key=b"") for secret in [*weak, *unreadable, None]),
    ]


def with_other_times(now: float) -> list[Vector]:
    """Return signed webhooks whose time is old, in the future, or not a time."""
    second = str(int(now))
    moments = [str(int(now) + age) for age in (-320, 320, -86400, 86400, -(10**9))]
    moments += ["", "now", "-1", "0", "NaN", "Infinity", "1e9", f"+{second}", f" {second}", f"{second} ", f"{second}.0"]
    moments += [
        f"{second}\n",
        hex(int(now)),
        f"0{second}" * 10,
        "0" * 10 + second,
        "9" * 12,
        "9" * 13,
        "9" * 400,
        "9" * 5000,
        "1" * 10**6,
    ]
    moments += [
        "².",
        "²",
        second.translate({48 + digit: 0x660 + digit for digit in range(10)}),
        "\uff11\uff17",
        "null",
        "[]",
    ]
    return [a_vector(f"time {moment[:30]!r}", now, timestamp=moment) for moment in moments]


def with_other_signatures(now: float) -> list[Vector]:
    """Return webhooks that lack a header, or have another id, body, version or signature."""
    mine = signature(key_of(SECRET), ID, str(int(now)), BODY)
    texts = [
        "",
        "v1",
        "v1,",
        ",",
        "v1,x",
        "v1,é",
        "v1,\ud800",
        "v1=" + mine[3:],
        mine[3:],
        f"v2,{mine[3:]}",
        f"v1a,{mine[3:]}",
    ]
    texts += [
        f"V1,{mine[3:]}",
        mine[:-1],
        mine[:-5],
        mine + "A",
        mine + "=",
        f"v1,v1,{mine[3:]}",
        f"{mine},{mine}",
        mine.lower(),
    ]
    texts += [
        " " * 5000,
        "v1, " * 2000,
        "v1," + "A" * 10**5,
        f"\0{mine}",
        "undefined",
        "v1,undefined",
        mine.replace(",", ", "),
    ]
    hexadecimal = hmac.digest(SECRET.encode(), f"{int(now)}.".encode() + BODY, hashlib.sha256).hex()
    names = ("webhook-id", "webhook-timestamp", "webhook-signature")
    without = [*((name,) for name in names), names[:2], names[1:], names]
    return [
        *(a_vector(f"signature {text[:40]!r}", now, headers={"webhook-signature": text}) for text in texts),
        *(a_vector(f"without {some}", now, headers=dict.fromkeys(some)) for some in without),
        *(a_vector(f"{name} is empty", now, headers={name: ""}) for name in names),
        a_vector("an empty id, signed", now, id=""),
        *(a_vector(f"id {text!r}", now, headers={"webhook-id": text}) for text in ("another", "é", "\ud800", ID + " ")),
        a_vector("the older scheme", now, headers={"webhook-signature": f"t={int(now)},v1={hexadecimal}"}),
        a_vector("another secret", now, key=key_of(OTHER)),
        a_vector("the text of the secret as the key", now, key=SECRET.encode()),
        a_vector("an empty key", now, key=b""),
    ]


def without_an_event(now: float) -> list[Vector]:
    """Return signed bodies that are not events. A recipe checks the signature alone, and a client also the event."""
    bodies = (b"", b"{", b"null", b"[]", b"1", b'"text"', b"\xff\xfe\xfd", b"[" * 100_000, b'{"result": {"a": "b"}}')
    more = (b'{"result": {}, "request_json": null}', b'{"result": {}, "request_json": {"request": {}}}')
    return [
        a_vector(f"signed {body[:40]!r}", now, is_valid=True, body=body, is_event=False) for body in (*bodies, *more)
    ]


def mutated(now: float) -> list[Vector]:
    """Return signed webhooks of which one character of a header or one byte of the body was changed."""
    source = random.Random(SEED)
    signed = a_vector("signed", now)
    found = []
    for number in range(200):
        name = source.choice(["body", *signed.headers])
        if name == "body":
            at = source.randrange(len(BODY))
            body = BODY[:at] + bytes([BODY[at] ^ source.randrange(1, 256)]) + BODY[at + 1 :]
            found.append(a_vector(f"mutant {number}", now, body=body, headers=signed.headers))
            continue
        text = signed.headers[name] or ""
        at = source.randrange(len(text))
        character = source.choice([one for one in "aZ09+/=,. é\ud800\n" if one != text[at]])
        changed = text[:at] + source.choice(["", character, character + text[at]]) + text[at + 1 :]
        found.append(a_vector(f"mutant {number}: {name}", now, headers={**signed.headers, name: changed}))
    return found
