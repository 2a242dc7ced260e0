"""GET /session/login and /session/callback: the way to the identity provider and back (docs/security.md, People).

Only this function has the libraries that check the provider's token, and an artifact of its own.
"""

import logging
from typing import Any
from urllib.parse import urlencode, urlsplit

from domain.errors import ServiceError, shortened
from domain.people.logins import LOGIN_SECONDS, BegunLogin
from domain.people.provider import ProviderFailed, TokenRefused
from domain.people.sign_ins import NotInvited
from domain.people.tokens import Cookie
from domain.records.person import LASTS
from handlers.common.bootstrap import end_init, services
from handlers.common.cookies import LOGIN_COOKIE, SESSION_COOKIE, cookie, set_cookie
from handlers.common.http import NO_STORE, header, public_url, response
from handlers.common.logs import ServiceLogger

logger = ServiceLogger()
end_init(lambda services: (services.sign_ins, services.identity_provider))

_MAX_CODE_CHARACTERS = 4096


class _Problem(Exception):
    """The person is not signed in. `code` is for the console, and the message for the log. Neither has a credential."""

    def __init__(self, code: str, reason: str, to: str = "/app") -> None:
        super().__init__(reason)
        self.code = code
        self.to = to


def handler(event: dict[str, Any], _context: object) -> dict[str, Any]:
    """Redirect the browser: to the provider, or back to the console, signed in or with a problem."""
    if not services().settings.oidc_issuer:
        return response(404, "text/plain; charset=utf-8", "This service has no sign-in for people. Use an API key.\n")
    try:
        return _to_provider(event) if event["resource"] == "/session/login" else _from_provider(event)
    except _Problem as problem:
        logger.always(logging.WARNING, "sign_in.refused", problem=problem.code, reason=str(problem))
        query = urlencode({"problem": problem.code, "to": problem.to})
        url = f"{public_url(event)}/app/sign_in?{query}"
        return _redirect(303, url, set_cookie(event, LOGIN_COOKIE, "", 0, same_site="Lax"))


def _to_provider(event: dict[str, Any]) -> dict[str, Any]:
    public = urlsplit(public_url(event))
    if header(event, "Host") != public.netloc and not _parameter(event, "moved"):
        # The provider returns to this host, where the browser must have the cookie.
        query = urlencode({"moved": "yes", "to": _parameter(event, "to") or "/app"})
        return _redirect(302, f"{public_url(event)}/session/login?{query}")
    login = BegunLogin.begun(_parameter(event, "to"), services().secrets)
    try:
        url = services().identity_provider.authorization_url(
            _redirect_uri(event), state=login.state, nonce=login.nonce, challenge=login.challenge
        )
    except ProviderFailed as failure:
        raise _Problem("provider_failed", str(failure), login.to) from None
    return _redirect(302, url, set_cookie(event, LOGIN_COOKIE, login.text, LOGIN_SECONDS, same_site="Lax"))


def _from_provider(event: dict[str, Any]) -> dict[str, Any]:
    login = BegunLogin.of(cookie(event, LOGIN_COOKIE) or "")
    if login is None or not login.has_state(_parameter(event, "state") or ""):
        raise _Problem("invalid_login", "The state is not that of this browser.")
    signed_in = _signed_in(event, login)
    logger.always(logging.INFO, "sign_in.done", person_id=signed_in.person_id)
    return _redirect(
        303,
        public_url(event) + login.to,
        set_cookie(event, SESSION_COOKIE, signed_in.text, int(LASTS.total_seconds()), same_site="Strict"),
        set_cookie(event, LOGIN_COOKIE, "", 0, same_site="Lax"),
    )


def _signed_in(event: dict[str, Any], login: BegunLogin) -> Cookie:
    """Redeem the code of a call and sign the person in. Raises _Problem."""
    if error := _parameter(event, "error"):
        raise _Problem("denied" if error == "access_denied" else "provider_failed", shortened(error, 100), login.to)
    code = _parameter(event, "code")
    if not code or len(code) > _MAX_CODE_CHARACTERS:
        raise _Problem("invalid_login", "The call has no code, or one that is too long.", login.to)
    try:
        claims = services().identity_provider.claims(
            _redirect_uri(event), code=code, verifier=login.verifier, nonce=login.nonce
        )
        return services().sign_ins.sign_in(claims)
    except ProviderFailed as failure:
        raise _Problem("provider_failed", str(failure), login.to) from None
    except TokenRefused as refusal:
        raise _Problem("invalid_login", str(refusal), login.to) from None
    except NotInvited as refusal:
        problem = "unverified_email" if refusal.is_unverified else "not_invited"
        raise _Problem(problem, "The person belongs to no app.", login.to) from None
    except ServiceError as failure:  # the database is busy
        raise _Problem("try_again", failure.message, login.to) from None


def _redirect(status: int, url: str, *cookies: str) -> dict[str, Any]:
    headers = {**NO_STORE, "Location": url, "Referrer-Policy": "no-referrer"}
    all_headers = {name: [value] for name, value in headers.items()}
    return {
        "statusCode": status,
        "multiValueHeaders": all_headers | ({"Set-Cookie": list(cookies)} if cookies else {}),
        "body": "",
        "isBase64Encoded": False,
    }


def _redirect_uri(event: dict[str, Any]) -> str:
    return f"{public_url(event)}/session/callback"


def _parameter(event: dict[str, Any], name: str) -> str | None:
    """Return a query parameter that occurs once."""
    values: list[str] = (event.get("multiValueQueryStringParameters") or {}).get(name, [])
    return values[0] if len(values) == 1 else None
