"""Cookies of the sign-in. Scripts of the page cannot read them, and no other path of the service gets them."""

from collections.abc import Mapping
from http.cookies import CookieError, SimpleCookie
from typing import Any, Literal
from urllib.parse import urlsplit

from handlers.common.http import header, public_url

LOGIN_COOKIE = "qbxml_login"
"""Lax, because the browser comes back from another site with it."""
SESSION_COOKIE = "qbxml_session"

_MAX_CHARACTERS = 8192


def cookie(event: Mapping[str, Any], name: str) -> str | None:
    """Return a cookie of a call. A header that cannot be read has none."""
    text = header(event, "Cookie") or ""
    if len(text) > _MAX_CHARACTERS:
        return None
    try:
        morsel = SimpleCookie(text).get(name)
    except CookieError:
        return None
    return morsel.value if morsel else None


def set_cookie(
    event: Mapping[str, Any], name: str, value: str, seconds: int, *, same_site: Literal["Lax", "Strict"]
) -> str:
    """Return a `Set-Cookie` header for the paths of the session. With 0 seconds, the browser forgets the cookie."""
    path = f"{urlsplit(public_url(event)).path}/session"
    return f"{name}={value}; Path={path}; Max-Age={seconds}; HttpOnly; Secure; SameSite={same_site}"
