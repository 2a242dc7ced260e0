"""The names of people in responses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from domain.records.audit import ActorType
from handlers.common.bootstrap import services
from handlers.views.audit_log import NO_NAMES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from domain.records.audit import Actor
    from handlers.views.audit_log import Names


def names_of_people(actors: Iterable[Actor | None]) -> Names:
    """Return the names of the people among the actors. Without people, nothing is read."""
    ids = {actor.id for actor in actors if actor and actor.type is ActorType.PERSON and actor.id}
    return {person.id: person.name for person in services().store.people(ids)} if ids else NO_NAMES
