"""The webhook handler for Flask 3.1 and newer."""

from __future__ import annotations

from functools import wraps
from inspect import isawaitable
from typing import TYPE_CHECKING, Any

from flask import current_app, request  # type: ignore[import-not-found, unused-ignore]

from qbxml_queue.receivers import MAX_BODY_BYTES, REFUSED, check_secret, ended, event_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from qbxml_queue.webhooks import Event


def webhook(
    secret: str, *, max_bytes: int = MAX_BODY_BYTES
) -> Callable[[Callable[[Event, str], Any]], Callable[[], tuple[str, int]]]:
    """Make a view of a function that takes an event and its `webhook-id`. Raises ValueError without a secret.

    The function may be asynchronous if Flask is installed with its extra `async`.
    """
    check_secret(secret)

    def decorate(function: Callable[[Event, str], Any]) -> Callable[[], tuple[str, int]]:
        @wraps(function)
        def view() -> tuple[str, int]:
            request.max_content_length = max_bytes  # Flask answers 413 to more
            found = event_of(secret, dict(request.headers), request.get_data())
            if found is None:
                return REFUSED, 401
            result = current_app.ensure_sync(function)(*found)
            if isawaitable(result):  # from an asynchronous function behind another decorator
                current_app.async_to_sync(ended)(result)
            return "", 204

        return view

    return decorate
