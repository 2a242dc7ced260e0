"""The places of an endpoint's names: its parameters, the fields of its body at each level, and its headers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, get_args, get_origin

from pydantic import BaseModel

from domain.suggestions import MAX_COMPARED_CHARACTERS, did_you_mean, letters

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pydantic.fields import FieldInfo

_OTHER_NAMES: Mapping[str, str] = {
    "request": "request_json",
    "json": "request_json",
    "qbxml": "request_xml",
    "xml": "request_xml",
    "callback_url": "webhook_url",
    "limit": "page_size",
    "per_page": "page_size",
    "order": "sort_direction",
    "order_by": "sort",
    "sort_by": "sort",
    "q": "search_phrase",
    "search": "search_phrase",
    "query": "search_phrase",
    "cursor": "after",
    "next": "after",
    "status": "state",
    "since": "from",
    "created_after": "from",
    "until": "to",
    "created_before": "to",
    "queued_after": "from",
    "queued_since": "from",
    "queued_before": "to",
    "updated_after": "updated_since",
    "sent_after": "sent_since",
    "fields": "include[]",
    "start": "from",
    "end": "to",
    "tags": "label",
    **dict.fromkeys(("expires_at", "deadline", "not_after", "valid_until"), "send_by"),
    **dict.fromkeys(("ttl", "expires_in", "timeout"), "send_within"),
    "key": "idempotency_key",
    **dict.fromkeys(("lane", "queue_priority", "urgency"), "priority"),
    **dict.fromkeys(("upsert", "on_conflict", "find_or_create"), "if_exists"),
    **dict.fromkeys(("name", "id", "alias"), "ref"),
}
"""The names of other APIs for our fields and parameters."""

_MEMBERS_OF_A_REQUEST = frozenset({"name", "attributes", "children", "version"})
_OF_A_BATCH = frozenset({"ref", "depends_on", "requests"})

QUEUEING_HEADERS: Mapping[str, str] = {
    "idempotency_key": "Send it as the header Idempotency-Key.",
    "wait": "Send it as a header, such as Prefer: wait=10.",
    "prefer": "Send it as a header, such as Prefer: wait=10.",
}
"""How to send what a call that queues takes from its headers."""


@dataclass(frozen=True, slots=True)
class Places:
    """The names that an endpoint has, and where each of them belongs.

    `parameters` are the names of its query parameters, `body` is the model of its body, and `headers` says how to send
    the headers that callers mistake for fields.
    """

    parameters: Sequence[str] = ()
    body: type[BaseModel] | None = None
    headers: Mapping[str, str] = field(default_factory=dict)

    def example(self, path: Sequence[str | int]) -> Any:
        """Return the example of the field at a path in the body, or None if it has none.

        The numbers in a path are positions in arrays.
        """
        *outer, name = [step for step in path if isinstance(step, str)]
        model = self._model(outer)
        found = dict(_fields(model)).get(name) if model else None
        return found.examples[0] if found and found.examples else None

    def instead_of_field(self, name: str, path: Sequence[str | int]) -> str | None:
        """Return what to write in place of an unknown field in the object at `path` in the body."""
        model = self._model(path)
        names = [own for own, _ in _fields(model)] if model else []
        if len(name) > MAX_COMPARED_CHARACTERS:
            return None
        is_request = name[:1].isupper() and name.endswith("Rq")
        is_member = name in _MEMBERS_OF_A_REQUEST and _OTHER_NAMES.get(name) not in names
        if "request_json" in names and (is_request or is_member):
            return f'Write it inside request_json: {{"request_json": {{"{name}": …}}}}.'
        if "request_json" in names and name in _OF_A_BATCH:
            return "Only the requests of a batch have it: POST …/queued_requests/batch."
        return self._instead(name, names)

    def instead_of_parameter(self, name: str) -> str | None:
        """Return what to write in place of an unknown query parameter."""
        return self._instead(name, self.parameters)

    def _instead(self, name: str, names: Sequence[str]) -> str | None:
        own = letters(name) if len(name) <= MAX_COMPARED_CHARACTERS else ""
        if own and own not in map(letters, names):
            elsewhere = (how for other, how in self._elsewhere() if letters(other) == own)
            if how := next(elsewhere, None):
                return how
        return did_you_mean(name, names, others=_OTHER_NAMES)

    def _elsewhere(self) -> Iterator[tuple[str, str]]:
        """Yield every name of the endpoint with how to write it."""
        for name in self.parameters:
            yield name, f"Write it in the URL: ?{name}=…"
        yield from self.headers.items()
        if self.body:
            yield from ((name, f'Write it at the top of the body: {{"{name}": …}}.') for name, _ in _fields(self.body))
            for outer, field_info in _fields(self.body):
                for inner, is_list in _models_in(field_info.annotation):
                    form = '[{{"{}": …}}]' if is_list else '{{"{}": …}}'
                    for name, _ in _fields(inner):
                        yield name, f'Write it inside {outer}: {{"{outer}": {form.format(name)}}}.'

    def _model(self, path: Sequence[str | int]) -> type[BaseModel] | None:
        """Return the model of the object at a path in the body."""
        model = self.body
        for step in path:
            if model is not None and isinstance(step, str):
                annotation = next((found.annotation for name, found in _fields(model) if name == step), None)
                model = next((inner for inner, _ in _models_in(annotation)), None)
        return model


def _fields(model: type[BaseModel]) -> Iterator[tuple[str, FieldInfo]]:
    """Yield the fields of a model by the names that callers use."""
    for name, found in model.model_fields.items():
        yield found.alias or name, found


def _models_in(annotation: Any, *, in_list: bool = False) -> Iterator[tuple[type[BaseModel], bool]]:
    """Yield the models in the type of a field, each with whether it is that of the items of an array."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation, in_list
    for part in get_args(annotation):
        yield from _models_in(part, in_list=in_list or get_origin(annotation) is list)
