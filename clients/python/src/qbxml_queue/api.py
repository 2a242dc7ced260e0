"""The routes of the API: `books.api` has a method for each, under its operation id.

`qbxml_queue.schema.api` has their types.
"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from typing import TYPE_CHECKING, Any

from qbxml_queue.protocol import Call, segment

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from qbxml_queue.protocol import Protocol, Steps


@dataclass(frozen=True, slots=True)
class Route:
    """A route of the API. `parameters` are those of the URL, by their names in Python.

    A list is repeated in the URL, or its items are joined with commas if its parameter is in `joined`.
    """

    method: str
    path: str
    ids: tuple[str, ...]
    parameters: dict[str, str]
    joined: tuple[str, ...]
    has_body: bool
    needs_body: bool
    has_key: bool
    returns_data: bool


class Routes:
    """A method for each route. `run` makes the calls of an operation."""

    def __init__(self, protocol: Protocol, run: Callable[[Steps[Any]], Any]) -> None:
        from qbxml_queue.schema.routes import ROUTES  # noqa: PLC0415 - it imports this module

        self._routes = ROUTES
        self._protocol = protocol
        self._run = run

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name not in self._routes:
            likely = get_close_matches(name, self._routes, 1)
            message = f"The API has no operation {name!r}." + (f" Did you mean {likely[0]!r}?" if likely else "")
            raise AttributeError(message)
        return partial(self._call, name, self._routes[name])

    def __dir__(self) -> Iterable[str]:
        return self._routes

    def _call(self, name: str, route: Route, /, *given: Any, **options: Any) -> Any:
        names = (*route.ids, *(("body",) if route.has_body else ()))
        least = len(names) - (route.has_body and not route.needs_body)
        if not least <= len(given) <= len(names):
            raise TypeError(f"{name}() takes {', '.join(names) or 'no positional arguments'}.")
        ids = dict(zip(names, given, strict=False))
        body = ids.pop("body", None)
        connection = options.pop("connection_id", None) if "{connection_id}" in route.path else None
        ids["connection_id"] = connection or self._protocol.connection.rpartition("/")[2]
        headers = {}
        if route.has_key:
            headers["Idempotency-Key"] = options.pop("idempotency_key", None) or self._protocol.new_key()
        for option in options:
            if option not in route.parameters:
                raise TypeError(
                    f"{name}() has no parameter {option!r}. It has {', '.join(route.parameters) or 'none'}."
                )
        path = route.path.format(**{one: segment(value) for one, value in ids.items()})
        told = {
            route.parameters[one]: ",".join(value) if one in route.joined else _told(value)
            for one, value in options.items()
            if value is not None
        }
        return self._run(self._answer(route, Call(route.method, path, told, body, headers)))

    def _answer(self, route: Route, call: Call) -> Steps[Any]:
        answer = yield from self._protocol.send(call)
        return answer["data"] if route.returns_data else answer


def _told(value: Any) -> Any:
    """Return a parameter of the URL. One that is a list is repeated."""
    if isinstance(value, list | tuple):
        return [_told(one) for one in value]
    return str(value).lower() if isinstance(value, bool) else str(value)
