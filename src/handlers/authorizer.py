"""API Gateway's authorizer: identifies the app by an API key, or by the session token of a person."""

import base64
import logging
from dataclasses import asdict
from typing import Any

from domain.errors import Unauthorized
from domain.people.tokens import TOKEN_PREFIX, SessionToken
from domain.records.app import ApiKey, App, api_key_hash
from domain.timestamps import timestamp
from handlers.common.bootstrap import end_init, services
from handlers.common.logs import ServiceLogger

logger = ServiceLogger()

_UNAUTHORIZED = Unauthorized("Unauthorized")
"""API Gateway responds with 401 to exactly this message, and with 500 to any other."""

end_init(lambda services: services.key_uses)


def handler(event: dict[str, Any], _context: object) -> dict[str, Any]:
    """Return a policy for the caller's app. Raises the error to which API Gateway responds with 401."""
    text = _user_name(event.get("authorizationToken", ""))
    if text is None:
        raise _refused("malformed")
    app, caller = _person(text) if text.startswith(TOKEN_PREFIX) else _api_key(text)
    # The whole stage, not only this method: API Gateway caches the policy for the caller's other calls.
    api, stage, *_ = event["methodArn"].split("/")
    return {
        "principalId": app.id,
        "policyDocument": {
            "Version": "2012-10-17",
            "Statement": [{"Action": "execute-api:Invoke", "Effect": "Allow", "Resource": f"{api}/{stage}/*"}],
        },
        "context": {"app_id": app.id, "environment": app.environment.value, **caller, **asdict(app.limits)},
    }


def _person(token_text: str) -> tuple[App, dict[str, str]]:
    """Return the app and the person of a session token, as the context has them."""
    token = SessionToken.of(token_text)
    found = services().sign_ins.signed_in(token) if token else None
    if not found or not found.membership or not found.app:
        # Every token ends after ten minutes, so this is not a sign of an attack.
        logger.info("session_token.refused")
        raise _UNAUTHORIZED
    name = {"person_name": found.person.name} if found.person.name else {}
    return found.app, {"role": found.membership.role.value, "person_id": found.person.id, **name}


def _api_key(text: str) -> tuple[App, dict[str, str]]:
    """Return the app and the API key with this text, as the context has them."""
    key_hash = api_key_hash(text)
    key = services().store.api_key(key_hash)
    if key is None:
        raise _refused("unknown", key_hash=key_hash)
    if key.revoked_at:
        raise _refused("revoked", key_hash=key_hash, app_id=key.app_id)
    if not key.is_active(timestamp(services().clock())):
        raise _refused("expired", key_hash=key_hash, app_id=key.app_id)
    app = services().store.app(key.app_id)
    if app is None:  # it was deleted
        raise _refused("unknown", key_hash=key_hash, app_id=key.app_id)
    _note_use(key)
    name = {"key_name": key.name} if key.name else {}
    return app, {"scope": key.scope.value, "key_id": key.id, "key_family": key.family, **name}


def _note_use(key: ApiKey) -> None:
    """Note the hour of the call. A failure is only logged: the key is valid all the same."""
    try:
        services().key_uses.note(key)
    except Exception as error:  # noqa: BLE001 - whatever fails, it concerns no call
        logger.always(logging.WARNING, "api_key.use_not_noted", key_id=key.id, app_id=key.app_id, reason=str(error))


def _refused(reason: str, **facts: str) -> Unauthorized:
    """Log why a credential is refused, without the credential, and return the error."""
    logger.always(logging.WARNING, "api_key.refused", reason=reason, **facts)
    return _UNAUTHORIZED


def _user_name(authorization: str) -> str | None:
    """Return the user name of a Basic credential (RFC 7617) with an empty password, or None for anything else."""
    scheme, _, credential = authorization.partition(" ")
    if scheme.lower() != "basic":
        return None
    try:
        user, colon, password = base64.b64decode(credential.strip(), validate=True).decode().partition(":")
    except ValueError:  # not ASCII, not base64 or not UTF-8
        return None
    return user if colon and not password else None
