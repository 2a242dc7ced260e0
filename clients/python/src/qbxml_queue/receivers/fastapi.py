"""The webhook handler for FastAPI and Starlette."""

from __future__ import annotations

from functools import update_wrapper
from inspect import isawaitable
from typing import TYPE_CHECKING, Any

from starlette.concurrency import run_in_threadpool  # type: ignore[import-not-found, unused-ignore]
from starlette.exceptions import HTTPException  # type: ignore[import-not-found, unused-ignore]
from starlette.requests import Request  # type: ignore[import-not-found, unused-ignore]
from starlette.responses import Response  # type: ignore[import-not-found, unused-ignore]

from qbxml_queue.receivers import MAX_BODY_BYTES, REFUSED, TOO_LARGE, check_secret, event_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from qbxml_queue.webhooks import Event


def webhook(
    secret: str, *, max_bytes: int = MAX_BODY_BYTES
) -> Callable[[Callable[[Event, str], Awaitable[None] | None]], Callable[[Request], Awaitable[Response]]]:
    """Make an endpoint of a function that takes an event and its `webhook-id`. Raises ValueError without a secret.

    The function may be asynchronous. A synchronous one runs in a thread, so it may wait for a database.
    """
    check_secret(secret)

    def decorate(function: Callable[[Event, str], Awaitable[None] | None]) -> Callable[[Request], Awaitable[Response]]:
        async def endpoint(request: Request) -> Response:
            body = await _body_of(request, max_bytes)
            found = await run_in_threadpool(event_of, secret, request.headers, body)
            if found is None:
                raise HTTPException(401, REFUSED)
            result = await run_in_threadpool(function, *found)
            if isawaitable(result):
                await result
            return Response(status_code=204)

        update_wrapper(endpoint, function)
        # FastAPI would read the parameters of the function as those of the call.
        wrapper: Any = endpoint
        del wrapper.__wrapped__
        wrapper.__annotations__ = {"request": Request, "return": Response}
        return endpoint

    return decorate


async def _body_of(request: Request, max_bytes: int) -> bytes:
    """Return the body of a call. Raises HTTPException if it is too large."""
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > max_bytes:
            raise HTTPException(413, TOO_LARGE)
    return bytes(body)
