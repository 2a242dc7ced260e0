"""Every field of every entity is stored and read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass, make_dataclass, replace
from enum import Enum
from types import NoneType
from typing import TYPE_CHECKING, Any, TypeVar, get_args, get_origin, get_type_hints
from uuid import uuid4

import pytest

from adapters.dynamodb.codec import Codec
from domain.qbxml import Reference
from domain.records.app import ApiKey, App
from domain.records.audit import Actor, ActorType, AuditEntry
from domain.records.connection import Connection
from domain.records.request import QueuedRequest, State, StoredRequest, Tombstone
from domain.records.session import Session
from domain.storage.changes import (
    AddRequest,
    ClaimIdempotencyKey,
    IdempotencyClaim,
    Put,
    RemoveRequest,
)
from domain.timestamps import timestamp
from tests.contract.stores import add, stored_request
from tests.support.builders import NOON, a_record

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.contract.stores import AnyStore

T = TypeVar("T")

TIMESTAMPS = "_at"


def filled_entity(entity: type[T], **values_by_name: Any) -> T:
    """Return an entity with a value in every field that is neither empty nor the default."""
    hints = get_type_hints(entity)
    values = {
        field.name: values_by_name.get(field.name, a_value(hints[field.name], field.name, field.default))
        for field in fields(entity)  # type: ignore[arg-type]
    }
    return entity(**values)


def a_value(hint: Any, name: str, default: object) -> Any:  # noqa: PLR0911 - one row for each kind of type
    """Return a value of a type that differs from the default."""
    arguments = [argument for argument in get_args(hint) if argument is not NoneType]
    if hint is bool:
        return not default
    if hint is int:
        return 7 if default != 7 else 8
    if hint is str:
        return timestamp(NOON) if name.endswith(TIMESTAMPS) else f"{name} é"
    if isinstance(hint, type) and issubclass(hint, Enum):
        return next(member for member in reversed(hint) if member is not default)
    if isinstance(hint, type) and is_dataclass(hint):
        return filled_entity(hint)
    if get_origin(hint) is tuple:
        return (a_value(arguments[0], name, None), a_value(arguments[0], name, None))
    if get_origin(hint) in {dict, Mapping}:
        return {"code": name, "number": 3, "more": {"flag": True}}
    (inner,) = arguments
    return a_value(inner, name, default)


def the_record(store: AnyStore) -> tuple[object, object]:
    record = filled_entity(QueuedRequest, response_chunks="")
    add(store, record)
    return record, store.request(record.id)


def the_record_in_the_queue(store: AnyStore) -> tuple[object, object]:
    record = filled_entity(QueuedRequest, state=State.RETRYABLE, dependencies=())
    add(store, record)
    return [record], list(store.queue_front(record.connection_id, 1))


BY_KEY = Actor(ActorType.API_KEY, "key_1", "Nightly sync é")
REFERENCES = (Reference("id", "A/B", "a/c", "é < \n 😀"), Reference("id", "A[2]/B", "a/b"))


def the_bodies(store: AnyStore) -> tuple[object, object]:
    record = filled_entity(QueuedRequest, response_size=0, response_chunks="")
    with_marks = "<a><b><?from 1?></b><c><?from 0?></c></a>"
    with_values = '<a><b>{"$from": "id", "path": "A[2]/B"}</b><c>é &lt; \n 😀</c></a>'
    store.commit(
        Put(None, filled_entity(Connection, id=record.connection_id, deleted_at=None)),
        AddRequest(record, with_marks, "text", {"order": "1007", "ключ": "値 \n 😀"}, REFERENCES, "former", BY_KEY),
    )
    metadata = {"order": "1007", "ключ": "値 \n 😀"}
    written = StoredRequest(record, with_values, None, metadata, REFERENCES, replaces="former", queued_by=BY_KEY)
    return written, stored_request(store, record.id)


def the_tombstone(store: AnyStore) -> tuple[object, object]:
    record = a_record()
    add(store, record)
    store.commit(RemoveRequest(record, timestamp(NOON)))
    return Tombstone(record.id, record.connection_id, record.app_id, timestamp(NOON)), store.request(record.id)


def the_connection(store: AnyStore) -> tuple[object, object]:
    connection = filled_entity(Connection)
    store.commit(Put(None, connection))
    return connection, store.connection(connection.id)


def the_session(store: AnyStore) -> tuple[object, object]:
    filled = filled_entity(Session)
    assert filled.in_flight
    # The ids of requests are UUIDs, which are stored in a shorter form.
    ids = tuple(str(uuid4()) for _ in filled.ids_in_flight)
    session = replace(filled, in_flight=replace(filled.in_flight, request_ids=ids))
    store.commit(Put(None, session))
    return session, store.session(session.id)


def the_app(store: AnyStore) -> tuple[object, object]:
    app = filled_entity(App)
    store.commit(Put(None, app))
    return app, store.app(app.id)


def the_api_key(store: AnyStore) -> tuple[object, object]:
    key = filled_entity(ApiKey)
    store.commit(Put(None, key))
    return key, store.api_key(key.hash)


def the_audit_entry(store: AnyStore) -> tuple[object, object]:
    entry = filled_entity(AuditEntry)
    store.commit(Put(None, entry))
    return [entry], list(store.audit_entries(entry.app_id, None, None, 1)[0])


def the_idempotency_claim(store: AnyStore) -> tuple[object, object]:
    change = filled_entity(ClaimIdempotencyKey, claim=filled_entity(IdempotencyClaim, expires_at=9), now=1)
    store.commit(change)
    with pytest.raises(Exception) as conflict:  # noqa: PT011 - the Conflict carries the stored item
        store.commit(change)
    return change.claim, conflict.value.current  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "stored_and_read",
    [
        the_record,
        the_record_in_the_queue,
        the_bodies,
        the_tombstone,
        the_connection,
        the_session,
        the_app,
        the_api_key,
        the_audit_entry,
        the_idempotency_claim,
    ],
)
def test_every_field_is_read_as_it_was_stored(
    store: AnyStore, stored_and_read: Callable[[AnyStore], tuple[object, object]]
) -> None:
    expected, read = stored_and_read(store)

    assert differences(expected, read) == []


def differences(expected: Any, read: Any, path: str = "") -> list[str]:
    """Return the paths of the fields that differ."""
    if type(expected) is not type(read):
        return [f"{path or 'entity'}: {read!r} instead of {expected!r}"]
    if isinstance(expected, list):
        return [difference for pair in zip(expected, read, strict=True) for difference in differences(*pair, path)]
    if is_dataclass(expected):
        return [
            difference
            for field in fields(expected)
            for difference in differences(
                getattr(expected, field.name), getattr(read, field.name), f"{path}.{field.name}".lstrip(".")
            )
        ]
    return [] if expected == read else [f"{path}: {read!r} instead of {expected!r}"]


@pytest.mark.parametrize("entity", [QueuedRequest, Connection, Session, App, ApiKey, AuditEntry])
def test_a_filled_entity_has_no_field_with_its_default(entity: type[Any]) -> None:
    example = filled_entity(entity)

    assert [field.name for field in fields(entity) if getattr(example, field.name) == field.default] == []
    assert [field.name for field in fields(entity) if not getattr(example, field.name)] in ([], ["file_pinned"])


@dataclass(frozen=True)
class Inner:
    """A nested dataclass."""

    state: str = "waiting"
    steps: tuple[str, ...] = ()


@dataclass(frozen=True)
class Outer:
    """An entity with nested dataclasses."""

    id: str
    inner: Inner = Inner()
    optional: Inner | None = None


@dataclass(frozen=True)
class WithRequiredSteps:
    """An entity with a tuple of dataclasses that has no default."""

    steps: tuple[Inner, ...]


@dataclass(frozen=True)
class WithRequiredName:
    """An entity with a field that may be None but has no default."""

    name: str | None


@dataclass(frozen=True)
class WithSet:
    """An entity with a field that cannot be stored."""

    labels: set[str]


class TestCodec:
    """The codec, apart from the entities of today."""

    def test_a_nested_dataclass_is_stored_by_its_own_fields(self) -> None:
        codec = Codec(Outer)
        outer = Outer("a", Inner("b", ("x",)), Inner("c"))

        item = codec.item(outer)

        assert item == {
            "id": {"S": "a"},
            "inner_state": {"S": "b"},
            "inner_steps": {"S": '["x"]'},
            "optional": {"S": '{"state":"c"}'},
        }
        assert codec.entity(item) == outer
        assert codec.entity({"id": {"S": "a"}}) == Outer("a")

    def test_a_type_without_a_stored_form_is_refused(self) -> None:
        with pytest.raises(TypeError, match="set"):
            Codec(WithSet).item(WithSet({"a"}))

    def test_a_type_hint_can_be_a_type_instead_of_text(self) -> None:
        entity = make_dataclass("Entity", [("id", str), ("steps", tuple[str, ...], ()), ("inner", Inner | None, None)])
        codec: Codec[Any] = Codec(entity)

        for original in (entity("a"), entity("a", ("x",), Inner("b"))):
            assert codec.entity(codec.item(original)) == original

    @pytest.mark.parametrize("steps", [(), (Inner("a"), Inner("b", ("x",)))])
    def test_a_tuple_of_dataclasses_without_a_default_can_be_empty(self, steps: tuple[Inner, ...]) -> None:
        codec = Codec(WithRequiredSteps)

        assert codec.entity(codec.item(WithRequiredSteps(steps))) == WithRequiredSteps(steps)

    def test_a_field_that_may_be_none_without_the_default_none_is_refused(self) -> None:
        with pytest.raises(TypeError, match=r"WithRequiredName\.name may be None"):
            Codec(WithRequiredName).item(WithRequiredName(None))
