"""Signatures of a webhook: Standard Webhooks, and the older `X-Qube-Signature` (contract §9).

Standard Webhooks (standardwebhooks.com, specification 1.0): HMAC-SHA256 of `id.timestamp.body`
under the bytes that a `whsec_…` secret encodes in base64; several signatures are separated by a
space. `X-Qube-Signature`: HMAC-SHA256 of `t.body` under the secret's text, in hexadecimal.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
from typing import TYPE_CHECKING

from domain.webhooks.defaults import SIGNATURE_TOLERANCE_SECONDS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SECRET_PREFIX = "whsec_"  # noqa: S105 - the public prefix of a secret, not one

ID_HEADER = "webhook-id"
TIMESTAMP_HEADER = "webhook-timestamp"
SIGNATURE_HEADER = "webhook-signature"
QUBE_HEADER = "X-Qube-Signature"

_LONGEST_TIMESTAMP = 15
"""Digits; far beyond any date, and short enough that a hostile number costs nothing."""


class NotVerified(ValueError):
    """A webhook is not from us, was changed on its way, or is too old."""


def signature_headers(secrets: Sequence[str], webhook_id: str, unix_time: int, body: bytes) -> dict[str, str]:
    """Return the four headers that sign `body`, with a signature for each secret in their order.

    `unix_time` is in whole seconds. Raises ValueError when a secret is not `whsec_` + base64.
    """
    standard = " ".join(f"v1,{_standard(secret, webhook_id, str(unix_time), body)}" for secret in secrets)
    qube = ",".join(f"v1={_qube(secret, str(unix_time), body)}" for secret in secrets)
    return {
        ID_HEADER: webhook_id,
        TIMESTAMP_HEADER: str(unix_time),
        SIGNATURE_HEADER: standard,
        QUBE_HEADER: f"t={unix_time},{qube}",
    }


def verify(secret: str, headers: Mapping[str, str], body: bytes, now: int) -> None:
    """Check the Standard Webhooks signature of a webhook as it was received.

    `now` is in Unix seconds; header names are compared without regard to case. Raises NotVerified.
    """
    values = {name.lower(): value for name, value in headers.items()}
    webhook_id, sent_at = values.get(ID_HEADER, ""), values.get(TIMESTAMP_HEADER, "")
    _require_recent(sent_at, now)
    expected = f"v1,{_standard(secret, webhook_id, sent_at, body)}"
    _require_one_of(expected, values.get(SIGNATURE_HEADER, "").split())


def verify_qube(secret: str, header: str, body: bytes, now: int) -> None:
    """Check an `X-Qube-Signature` header: `t=<unix>,v1=<hex>[,v1=…]`. Raises NotVerified."""
    pairs = [part.strip().partition("=") for part in header.split(",")]
    sent_at = next((value for name, _, value in pairs if name == "t"), "")
    _require_recent(sent_at, now)
    _require_one_of(_qube(secret, sent_at, body), [value for name, _, value in pairs if name == "v1"])


def _standard(secret: str, webhook_id: str, sent_at: str, body: bytes) -> str:
    content = b".".join((webhook_id.encode(), sent_at.encode(), body))
    return base64.b64encode(hmac.digest(_key(secret), content, hashlib.sha256)).decode()


def _qube(secret: str, sent_at: str, body: bytes) -> str:
    return hmac.digest(secret.encode(), b".".join((sent_at.encode(), body)), hashlib.sha256).hex()


def _key(secret: str) -> bytes:
    if not secret.startswith(SECRET_PREFIX):
        raise ValueError(f"A webhook secret begins with {SECRET_PREFIX}.")
    try:
        return base64.b64decode(secret.removeprefix(SECRET_PREFIX), validate=True)
    except binascii.Error:
        # Not from the cause: its text must not carry parts of the secret into a log.
        raise ValueError(f"A webhook secret is {SECRET_PREFIX} and base64.") from None


def _require_recent(sent_at: str, now: int) -> None:
    if not (sent_at.isascii() and sent_at.isdigit() and len(sent_at) <= _LONGEST_TIMESTAMP):
        raise NotVerified("The timestamp is missing or no number.")
    if abs(now - int(sent_at)) > SIGNATURE_TOLERANCE_SECONDS:
        raise NotVerified("The timestamp is too old or in the future.")


def _require_one_of(expected: str, given: Sequence[str]) -> None:
    # Bytes: compare_digest refuses text that is not ASCII, and a header can hold anything.
    if not any(hmac.compare_digest(expected.encode(), one.encode()) for one in given):
        raise NotVerified("No signature matches.")
