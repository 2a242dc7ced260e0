from __future__ import annotations

import base64
import hashlib
import hmac
import json
from decimal import Decimal
from typing import Any

import pytest
from qbxml_queue import InvalidSignature, verify

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
NOW = 1614265330
EVENT = {
    "type": "queued_request.completed",
    "request_json": {"version": "13.0", "request": {"name": "CustomerQueryRq"}},
    "result": {"CustomerRet": [{"Balance": "97.50"}]},
}
BODY = json.dumps(EVENT).encode()


def signed(body: bytes, secret: str = SECRET, timestamp: str = str(NOW)) -> dict[str, str]:
    key = base64.b64decode(secret.removeprefix("whsec_"))
    digest = hmac.digest(key, f"msg_1.{timestamp}.".encode() + body, hashlib.sha256)
    return {
        "Webhook-Id": "msg_1",
        "Webhook-Timestamp": timestamp,
        "Webhook-Signature": f"v1,{base64.b64encode(digest).decode()}",
    }


def test_the_example_of_standard_webhooks_has_a_valid_signature() -> None:
    headers = {
        "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "webhook-timestamp": str(NOW),
        "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    }

    assert verify(SECRET, headers, b'{"test": 2432232314}', now=NOW) == {"test": 2432232314}


def test_a_signed_event_is_returned_with_pythons_types() -> None:
    event = verify(SECRET, signed(BODY), BODY, now=NOW)

    assert event["type"] == "queued_request.completed"
    assert event["result"] == {"CustomerRet": [{"Balance": Decimal("97.50")}]}


def test_an_event_that_leaves_out_its_result_is_returned() -> None:
    body = json.dumps({**EVENT, "result": None, "result_omitted": True}).encode()

    event = verify(SECRET, signed(body), body, now=NOW)

    assert event["type"] == "queued_request.completed"
    assert event["result"] is None


def test_the_event_of_a_connection_is_returned() -> None:
    body = json.dumps({"type": "connection.stalled", "id": "0b7e6a5c", "name": "Bakery"}).encode()

    event = verify(SECRET, signed(body), body, now=NOW)

    assert event["type"] == "connection.stalled"
    assert event["name"] == "Bakery"


def test_one_of_several_signatures_is_enough() -> None:
    headers = signed(BODY)
    other = signed(BODY, "whsec_" + "A" * 32)["Webhook-Signature"]

    verify(SECRET, {**headers, "Webhook-Signature": f"{other} {headers['Webhook-Signature']}"}, BODY, now=NOW)


@pytest.mark.parametrize(
    ("headers", "body", "now"),
    [
        (signed(BODY), BODY + b" ", NOW),
        (signed(BODY, "whsec_" + "A" * 32), BODY, NOW),
        (signed(BODY), BODY, NOW + 301),
        (signed(BODY), BODY, NOW - 301),
        ({}, BODY, NOW),
        ({**signed(BODY), "Webhook-Signature": "v1,é"}, BODY, NOW),
        ({**signed(BODY), "Webhook-Timestamp": "now"}, BODY, NOW),
        ({**signed(BODY), "Webhook-Timestamp": "²"}, BODY, NOW),
    ],
)
def test_any_other_body_secret_or_time_is_refused(headers: dict[str, Any], body: bytes, now: int) -> None:
    with pytest.raises(InvalidSignature):
        verify(SECRET, headers, body, now=now)


def test_a_secret_that_anybody_could_use_is_refused_before_the_signature_is_looked_at() -> None:
    for secret in ("", "whsec_", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_é", "whsec_" + "A" * 28):
        with pytest.raises(InvalidSignature, match="at least 24 bytes"):
            verify(secret, signed(BODY), BODY, now=NOW)
