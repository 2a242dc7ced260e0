"""Signatures of a webhook: Standard Webhooks 1.0 (standardwebhooks.com) and the older `X-Qube-Signature`.

The rules are in docs/reference/service-contract.md, Webhook signatures.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

SECRET_PREFIX = "whsec_"  # noqa: S105 - the public prefix of a secret, not a secret

ID_HEADER = "webhook-id"
TIMESTAMP_HEADER = "webhook-timestamp"
SIGNATURE_HEADER = "webhook-signature"
QUBE_HEADER = "X-Qube-Signature"


def signature_headers(secrets: Sequence[str], webhook_id: str, unix_time: int, body: bytes) -> dict[str, str]:
    """Return the four headers that sign `body`, with a signature for each secret.

    `unix_time` is in whole seconds. Raises ValueError if a secret is not `whsec_` followed by base64.
    """
    standard = " ".join(f"v1,{_standard(secret, webhook_id, str(unix_time), body)}" for secret in secrets)
    qube = ",".join(f"v1={_qube(secret, str(unix_time), body)}" for secret in secrets)
    return {
        ID_HEADER: webhook_id,
        TIMESTAMP_HEADER: str(unix_time),
        SIGNATURE_HEADER: standard,
        QUBE_HEADER: f"t={unix_time},{qube}",
    }


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
        # The cause is dropped, because its text could put parts of the secret into a log.
        raise ValueError(f"A webhook secret is {SECRET_PREFIX} followed by base64.") from None
