"""The path of the REST API that a caller probably meant."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from domain.suggestions import letters, similarity

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

PREFIX = "/api/v1"

_MAX_CHARACTERS = 300
_MAX_SEGMENTS = 12
"""A longer path resembles none of ours, and the comparison would take long."""

_MIN_SIMILARITY = 0.65
_AN_ID = 0.6
"""The similarity of a segment that is not an id to the id that a path has in its place."""

_BELOW_A_CONNECTION = ("connections", "{connection_id}")
_WITHOUT_CONNECTION = 0.1
"""How much less similar a path is that lacks the connection."""

_PREFIXES = frozenset({"", "api", "v1", "apiv1"})

_OTHER_NAMES = {
    **dict.fromkeys(("cancel", "abort", "stop"), "discard"),
    **dict.fromkeys(("retry", "requeue", "repeat", "rerun", "resubmit"), "queue_again"),
    **dict.fromkeys(("resend", "replay"), "redeliver"),
}
"""The actions of other APIs for ours."""

_separators = re.compile(r"[/\\.:;,|]+").split
is_id = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}").fullmatch


def suggested_path(path: str, templates: Iterable[str]) -> tuple[str, str] | None:
    """Return the template of the path that is probably meant, and the path with the ids of the caller, or None.

    `path` is what follows `/api/v1`. The base URL of the caller may have had this prefix already.
    """
    given = _segments(path)
    if not given:
        return None
    given[-1] = _OTHER_NAMES.get(given[-1].lower(), given[-1])
    found = [(*_compared(template, given), template) for template in templates if template.startswith(f"{PREFIX}/")]
    best, suggested, template = max(found, key=lambda each: each[0])
    return (template, f"{PREFIX}/{suggested}") if best >= _MIN_SIMILARITY else None


def known_beginning(path: str, templates: Iterable[str]) -> tuple[str, list[str]]:
    """Return the beginning of a path that exists, with the ids of the caller, and what can follow it."""
    routes = [template.removeprefix(f"{PREFIX}/").split("/") for template in templates if template.startswith(PREFIX)]
    known: list[str] = []
    for given in _segments(path):
        found = [(*_segment(names[len(known)], given), names) for names in routes if len(names) > len(known)]
        exact = [(written, names) for similar, written, names in found if similar == 1.0]
        if not exact:
            break
        routes = [names for _, names in exact]
        known.append(exact[0][0])
    following = {names[len(known)] for names in routes if len(names) > len(known)}
    return "/".join([PREFIX, *known]), sorted(following)


def _segments(path: str) -> list[str]:
    """Return the segments of what follows `/api/v1`, or none if they are too many to compare."""
    given = _separators(path.strip()) if len(path) <= _MAX_CHARACTERS else []
    while given and letters(given[0]) in _PREFIXES:
        given = given[1:]
    given = [segment for segment in given if segment]
    return given if len(given) <= _MAX_SEGMENTS else []


def _compared(template: str, given: Sequence[str]) -> tuple[float, str]:
    """Return how similar a path is to a template, and the path as it should be written."""
    names = template.removeprefix(f"{PREFIX}/").split("/")
    lacks = 0.0
    if len(names) == len(given) + len(_BELOW_A_CONNECTION) and tuple(names[:2]) == _BELOW_A_CONNECTION:
        given, lacks = [*_BELOW_A_CONNECTION, *given], _WITHOUT_CONNECTION
    if len(names) != len(given):
        return 0.0, ""
    similarities, written = zip(*map(_segment, names, given), strict=True)
    lowest = min(similarities)
    whole = sum(similarities) / len(similarities) if lowest >= _AN_ID else 0.0
    return whole - lacks, "/".join(written)


def _segment(name: str, given: str) -> tuple[float, str]:
    """Return how similar a segment is to that of a template, and how it should be written."""
    if not name.startswith("{"):
        return similarity(given, name), name
    own = given.strip("{}<> ").lower()
    if is_id(own):
        return 1.0, own
    return (1.0 if given == name else _AN_ID), name
