"""The kept releases: the tables, the data and the answers of each, in a folder named after its version."""

from __future__ import annotations

import hashlib
import json
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from domain.records.subscription import BooksCopy, ChangePage, CopyPhase, NewestChange, ObjectCopy, PageKind
from domain.storage.changes import Put
from domain.timestamps import timestamp
from local.sam_local import samples
from local.template import Template
from tests.releases.service_in_file import opened, stored_form
from tests.releases.tables import tables_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.support.random_history import RandomHistory

ROOT = Path(__file__).resolve().parents[2]
FOLDER = Path(__file__).parent / "kept"

SEED = 2
STEPS = 45

MAX_CHARACTERS = 500
"""Of a text that is kept as it is."""


def version() -> str:
    """Return the version of the project, which `pyproject.toml` states for all its parts."""
    project: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    text: str = project["version"]
    return text


def order(name: str) -> tuple[int, ...]:
    """Return a version as numbers, by which versions are ordered."""
    return tuple(map(int, name.split(".")))


def upgradable(versions: Sequence[str], to: str) -> list[str]:
    """Return the versions from which an operator may upgrade to another one (docs/upgrading.md), in their order.

    They are the earlier ones of the same minor version, and all of the minor version before it.
    """
    earlier = [name for name in versions if order(name) < order(to)]
    pairs = {order(name)[:2] for name in earlier} - {order(to)[:2]}
    allowed = {order(to)[:2], max(pairs, default=(0, 0))}
    return [name for name in earlier if order(name)[:2] in allowed]


def kept_versions() -> list[str]:
    """Return the versions that are kept, oldest first."""
    return sorted((folder.name for folder in FOLDER.iterdir()), key=order)


def kept(name: str, part: str) -> Any:
    """Return a part of a kept version: `tables`, `service` or `answers`."""
    return json.loads((FOLDER / name / f"{part}.json").read_text(encoding="utf-8"))


def answers(history: RandomHistory) -> dict[str, Any]:
    """Return what the API returns about everything in a history, by path."""
    paths = ["/connections?counts=true", "/events"]
    for connection_id, word in sorted(history.connections.items()):
        base = f"/connections/{connection_id}"
        paths += [base, f"{base}/queued_requests?page_size=100", f"{base}/queued_requests?sort=updated_at&state=error"]
        paths += [
            f"{base}/subscriptions",
            f"{base}/audit_log?limit=100",
            f"{base}/queued_requests?search_phrase={word}",
        ]
    table = history.service.store.tables.queued_requests
    items = sorted(history.service.items(table), key=lambda item: str(item["id"]["S"]))
    paths += [f"/queued_requests/{item['id']['S']}" for item in items]
    responses = {}
    for path in paths:
        history.service.clock.advance(seconds=1)  # there is a limit of calls per second
        response = history.api.call("GET", f"/api/v1{path}")
        responses[path] = {"status": response.status, "json": _shortened(response.json)}
    return responses


def _shortened(answer: Any) -> Any:
    """Return an answer in which the hash of a long text takes its place."""
    if isinstance(answer, dict):
        return {name: _shortened(member) for name, member in answer.items()}
    if isinstance(answer, list):
        return list(map(_shortened, answer))
    is_long = isinstance(answer, str) and len(answer) > MAX_CHARACTERS
    return hashlib.sha256(answer.encode()).hexdigest() if is_long else answer


def _subscribe(history: RandomHistory) -> None:
    """Add a subscription of the first connection, and what a run has read for it."""
    connection_id = min(history.connections)
    created = history.api.call(
        "POST", f"/api/v1/connections/{connection_id}/subscriptions", {"objects": ["Customer"], "every_minutes": 60}
    )
    assert created.status == 201, created.text
    store, now = history.service.store, timestamp(history.service.clock())
    [one] = store.copy_state(connection_id).subscriptions
    began, newest = one.began_at, NewestChange("80000001-1", "2026-03-14T12:00:00-05:00")
    customers = ObjectCopy(
        connection_id,
        "Customer",
        CopyPhase.CHANGES,
        began,
        generation=1,
        watermark=newest.at,
        newest=newest,
        tokens=("69b5a2f0abcdefghijkl",),
        records=1,
    )
    changes = json.dumps(
        [{"id": newest.id, "edit_sequence": "1", "time_modified": newest.at, "record": {"Name": "Ada"}}]
    )
    page = ChangePage(connection_id, one.app_id, 7, PageKind.CHANGED, "Customer", 1, now, 1, changes)
    store.commit(
        Put(None, customers),
        Put(None, BooksCopy(connection_id, one.app_id, sequence=7, read={"Customer": now})),
        Put(None, page),
    )


def keep() -> Path:
    """Write the folder of this version, and return it."""
    folder = FOLDER / version()
    folder.mkdir(parents=True, exist_ok=True)
    with opened(None, SEED) as history:
        for _ in range(STEPS):
            history.step()
        history.service.store.commit(*samples.people())
        _subscribe(history)
        service = stored_form(history)
    with opened(service, SEED) as history:
        parts = {"tables": tables_of(Template.load()), "service": service, "answers": answers(history)}
    for name, part in parts.items():
        text = json.dumps(part, indent=1, sort_keys=True, ensure_ascii=False)
        (folder / f"{name}.json").write_text(text + "\n", encoding="utf-8")
    return folder
