"""Lambda's Invoke call on a loopback port of its own, for operator commands and `aws lambda invoke` on a local stack.

The functions include the operator's, so only programs of this machine may call it. The port is not the one that a
tunnel publishes, and each call must be signed with a secret that only the owner of `.local` can read. Sources: Invoke
in the Lambda API reference; "AWS Signature Version 4 for API requests" in the IAM user guide.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from botocore.auth import SIGV4_TIMESTAMP, SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from local.functions import FunctionError, PayloadTooLarge
from local.gateway import Request, Response

if TYPE_CHECKING:
    from collections.abc import Callable

    from local.functions import Functions

ACCESS_KEY_ID = "local"
"""The access key ID of every call to a stack on this machine. Only the secret is secret."""

MAX_CLOCK_DIFFERENCE = timedelta(minutes=5)
"""Source: "Troubleshoot Signature Version 4 signing" in the IAM user guide: a signature expires after five minutes."""

_PATH = re.compile(r"/2015-03-31/functions/([A-Za-z0-9]+)/invocations")

_AUTHORIZATION = re.compile(
    r"AWS4-HMAC-SHA256 Credential=(?P<key>[^/,]+)/[0-9]{8}/(?P<region>[a-z0-9-]+)/(?P<service>[a-z0-9-]+)/aws4_request,"
    r" ?SignedHeaders=(?P<headers>[a-z0-9;-]+), ?Signature=(?P<signature>[0-9a-f]{64})"
)

_ALWAYS_SIGNED = frozenset({"host", "x-amz-date"})


@dataclass(frozen=True, slots=True)
class Operator:
    """The operator's function of a stack, the Lambda API at which it is called, and the secret that signs calls."""

    function: str
    endpoint: str
    secret: str


def lambda_api(functions: Functions, secret: str, now: Callable[[], datetime]) -> Callable[[Request], Response]:
    """Return a handler that carries out Lambda's Invoke for calls that are signed with `secret`."""

    def handle(request: Request) -> Response:
        match = _PATH.fullmatch(request.path)
        if request.method != "POST" or match is None:
            return _json(404, {"message": "Only Lambda's Invoke is served here."}, _error("UnknownOperationException"))
        if not is_signed(request, secret, now()):
            problem = "Sign the call with operate_secret of .local/credentials.json, as `make command` does."
            return _json(403, {"message": problem}, _error("InvalidSignatureException"))
        if match[1] not in functions.names:
            problem = f"Function not found: {match[1]}"
            return _json(404, {"Type": "User", "Message": problem}, _error("ResourceNotFoundException"))
        try:
            return _json(200, functions.invoke(match[1], json.loads(request.body or b"{}")))
        except (FunctionError, PayloadTooLarge) as error:
            failure = {"errorMessage": str(error), "errorType": type(error).__name__}
            return _json(200, failure, ("X-Amz-Function-Error", "Unhandled"))

    return handle


def is_signed(request: Request, secret: str, now: datetime) -> bool:
    """Return whether Signature Version 4 with `secret` covers the method, path, host, date and body of a request."""
    claim = _AUTHORIZATION.fullmatch(request.header("Authorization") or "")
    if claim is None or claim["key"] != ACCESS_KEY_ID:
        return False
    headers = {name: request.header(name) or "" for name in claim["headers"].split(";")}
    if not headers.keys() >= _ALWAYS_SIGNED or not _is_current(headers["x-amz-date"], now):
        return False
    body_hash = headers.get("x-amz-content-sha256")
    if body_hash is not None and body_hash != hashlib.sha256(request.body).hexdigest():
        return False
    url = f"http://{headers['host']}{request.target}"
    signed = AWSRequest(request.method, url, headers=headers, data=request.body)
    signed.context["timestamp"] = headers["x-amz-date"]
    signer = SigV4Auth(Credentials(ACCESS_KEY_ID, secret), claim["service"], claim["region"])
    expected = signer.signature(signer.string_to_sign(signed, signer.canonical_request(signed)), signed)
    return hmac.compare_digest(claim["signature"], expected)


def _is_current(date: str, now: datetime) -> bool:
    try:
        moment = datetime.strptime(date, SIGV4_TIMESTAMP).replace(tzinfo=UTC)
    except ValueError:
        return False
    return abs(now - moment) <= MAX_CLOCK_DIFFERENCE


def _error(error_type: str) -> tuple[str, str]:
    return "x-amzn-ErrorType", error_type


def _json(status: int, body: object, *headers: tuple[str, str]) -> Response:
    return Response(status, [("Content-Type", "application/json"), *headers], json.dumps(body).encode())
