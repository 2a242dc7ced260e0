"""API Gateway's authorizer: which app calls, by its API key (contract §1)."""

from __future__ import annotations

import base64
import binascii
from typing import Any

from domain.apps.record import api_key_hash
from domain.errors import Unauthorized
from handlers.bootstrap import services


def handler(event: dict[str, Any], _context: object) -> dict[str, Any]:
    """Return a policy for the key's app, or raise what API Gateway answers with 401."""
    key = _key_in(event.get("authorizationToken", ""))
    found = services().store.api_key(api_key_hash(key)) if key else None
    if found is None or found.revoked_at:
        # API Gateway's word for 401; any other text would be a 500.
        raise Unauthorized("Unauthorized")
    # The whole stage, not the one method: API Gateway uses the policy again for the key's other calls.
    api, stage, *_ = event["methodArn"].split("/")
    return {
        "principalId": found.app_id,
        "policyDocument": {
            "Version": "2012-10-17",
            "Statement": [{"Action": "execute-api:Invoke", "Effect": "Allow", "Resource": f"{api}/{stage}/*"}],
        },
        "context": {"app_id": found.app_id, "scope": found.scope.value},
    }


def _key_in(authorization: str) -> str | None:
    """Return the user name of a Basic credential (RFC 7617) without a password, None for anything else."""
    scheme, _, credential = authorization.partition(" ")
    if scheme.lower() != "basic":
        return None
    try:
        user, colon, password = base64.b64decode(credential.strip(), validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        return None
    return user if colon and not password else None
