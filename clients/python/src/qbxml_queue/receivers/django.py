"""The webhook handler for Django."""

from __future__ import annotations

from functools import wraps
from inspect import isawaitable
from typing import TYPE_CHECKING, Any

from asgiref.sync import async_to_sync  # type: ignore[import-not-found, unused-ignore]
from django.http import HttpRequest, HttpResponse  # type: ignore[import-not-found, import-untyped, unused-ignore]
from django.views.decorators.csrf import csrf_exempt  # type: ignore[import-not-found, import-untyped, unused-ignore]
from django.views.decorators.http import require_POST  # type: ignore[import-not-found, import-untyped, unused-ignore]

from qbxml_queue.receivers import MAX_BODY_BYTES, REFUSED, TOO_LARGE, check_secret, ended, event_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from qbxml_queue.webhooks import Event


def webhook(
    secret: str, *, max_bytes: int = MAX_BODY_BYTES
) -> Callable[[Callable[[Event, str], Any]], Callable[[HttpRequest], HttpResponse]]:
    """Make a view of a function that takes an event and its `webhook-id`. Raises ValueError without a secret.

    The signature takes the place of the CSRF token. The function may be asynchronous.
    """
    check_secret(secret)

    def decorate(function: Callable[[Event, str], Any]) -> Callable[[HttpRequest], HttpResponse]:
        def view(request: HttpRequest) -> HttpResponse:
            # `request.body` has a limit for the whole project, 2.5 MB by default.
            body = request.read(max_bytes + 1)
            if len(body) > max_bytes:
                return HttpResponse(TOO_LARGE, status=413, content_type="text/plain")
            found = event_of(secret, request.headers, body)
            if found is None:
                return HttpResponse(REFUSED, status=401, content_type="text/plain")
            result = function(*found)
            if isawaitable(result):
                async_to_sync(ended)(result)
            return HttpResponse(status=204)

        exempt: Callable[[HttpRequest], HttpResponse] = csrf_exempt(require_POST(wraps(function)(view)))
        return exempt

    return decorate
