"""Cookies of the sign-in. Scripts of the page cannot read them, and no other path of the service gets them."""

from collections.abc import Mapping
from typing import Any, Literal
from urllib.parse import urlsplit

from handlers.common.http import header, public_url

LOGIN_COOKIE = "qbxml_login"
"""Lax, because the browser comes back from another site with it."""
SESSION_COOKIE = "qbxml_session"

_MAX_CHARACTERS = 8192


def cookie(event: Mapping[str, Any], name: str) -> str | None:
    """Return a cookie of a call.

    Cookies of other applications of the domain can have any form (RFC 6265, 5.4), so `http.cookies` cannot read them. A
    name that occurs twice counts as none: another host of the domain can set a cookie for this one.
    """
    text = header(event, "Cookie") or ""
    if len(text) > _MAX_CHARACTERS:
        return None
    pairs = [pair.strip().partition("=") for pair in text.split(";")]
    found = [value for key, _, value in pairs if key == name]
    return found[0] if len(found) == 1 else None


def set_cookie(
    event: Mapping[str, Any], name: str, value: str, seconds: int, *, same_site: Literal["Lax", "Strict"]
) -> str:
    """Return a `Set-Cookie` header for the paths of the session. With 0 seconds, the browser forgets the cookie."""
    path = f"{urlsplit(public_url(event)).path}/session"
    return f"{name}={value}; Path={path}; Max-Age={seconds}; HttpOnly; Secure; SameSite={same_site}"
