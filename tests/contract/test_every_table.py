"""A restore says of every table of the template what happens to it, and a page says what is lost with it."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from domain.records.subscription import ChangePage, CopyPhase, ObjectCopy, PageKind, Subscription, next_number
from domain.storage.changes import Put
from domain.timestamps import timestamp
from local.restore import EMPTIED, KEPT, RESTORED, TABLES
from local.rewinding import AGAIN
from local.sam_local import samples
from local.tables import make_tables
from local.template import Template
from tests.support.random_history import RandomHistory
from tests.support.restoring import copied, rebuilt

if TYPE_CHECKING:
    from tests.support.whole_service import WholeService

ROOT = Path(__file__).resolve().parents[2]
STEPS = 40
NOBODYS_ID = "c0000000-0000-4000-8000-00000000000f"


def logical_ids(*names: str) -> set[str]:
    """Return the logical ids of tables by their names in the code."""
    return {f"{name.title().replace('_', '')}Table" for name in names}


def contents(service: WholeService, *names: str) -> dict[str, list[Any]]:
    """Return the items of tables by their names in the code."""
    return {name: sorted(service.items(service.store.tables.name_of(name)), key=str) for name in names}


def test_a_restore_restores_empties_or_keeps_every_table() -> None:
    tables = Template.load().resources("AWS::DynamoDB::Table")
    with_recovery = {name for name, table in tables.items() if "PointInTimeRecoverySpecification" in table}

    assert sorted(logical_ids(*TABLES, *EMPTIED, *KEPT)) == sorted(tables)
    assert len(TABLES) + len(EMPTIED) + len(KEPT) == len(tables)
    assert with_recovery == logical_ids(*TABLES, "audit_log", "people")


def test_what_a_restore_does_with_each_table(service: WholeService) -> None:
    history = RandomHistory(service, seed=1)
    for _ in range(STEPS):
        history.step()
    history.queue()
    service.store.commit(*samples.people())
    connection_id = next(iter(history.connections))
    subscribe(service, history.app_id, connection_id)
    service.read_streams()
    before = contents(service, *TABLES, *EMPTIED, *KEPT)
    assert [name for name, items in before.items() if not items] == []
    make_tables(service.client, RESTORED)
    for name in TABLES:
        for item in before[name]:
            service.client.put_item(TableName=RESTORED + service.store.tables.name_of(name), Item=item)
    for _ in range(STEPS):
        history.step()
    at_the_restore = contents(service, *KEPT)

    for name in TABLES:
        copied(service.client, service.store.tables, name)
    rebuilt(service.client, service.store.tables, service.clock())

    emptied = contents(service, *EMPTIED)
    beginnings = [item for item in emptied.pop("events") if "began_at" in item]
    assert not any(emptied.values())
    assert beginnings == contents(service, "events")["events"] != [], "of the logs, only where each began remains"
    assert contents(service, *KEPT) == at_the_restore
    after = contents(service, *TABLES)
    for name in ("queued_requests", "connections"):
        assert {item["id"]["S"] for item in after[name]} == {item["id"]["S"] for item in before[name]}
    assert after["apps"] == before["apps"]
    state = service.store.copy_state(connection_id)
    assert [one.phase for one in state.objects] == [CopyPhase.SNAPSHOT, CopyPhase.CHANGES]
    moment = datetime.fromisoformat(state.objects[1].watermark or "")
    assert moment == service.clock() - AGAIN
    connection = service.store.connection(connection_id)
    assert connection is None or connection.deleted_at or connection.run_due_at
    assert service.store.copy_state(NOBODYS_ID).subscriptions == ()


def subscribe(service: WholeService, app_id: str, connection_id: str) -> None:
    """Store a subscription, of which one object had a snapshot a minute ago, and one of a connection that is gone."""
    now = timestamp(service.clock())
    watermark = now[:19] + "+00:00"
    recent = next_number(0, service.clock() - timedelta(minutes=1))
    page = ChangePage(connection_id, app_id, 5, PageKind.CHANGED, "Bill", 1, now, 1, '[{"id": "1"}]')
    service.store.commit(
        Put(None, Subscription("s", connection_id, app_id, now, now, ("Account", "Bill"), 15, "all", now)),
        Put(None, Subscription("s", NOBODYS_ID, app_id, now, now, ("Bill",), 15, "all", now)),
        Put(None, ObjectCopy(connection_id, "Account", CopyPhase.CHANGES, now, recent, watermark)),
        Put(None, ObjectCopy(connection_id, "Bill", CopyPhase.CHANGES, now, 1, watermark)),
        Put(None, page),
    )


def test_the_page_says_of_every_table_what_is_lost_with_it() -> None:
    page = (ROOT / "docs/what-is-lost.md").read_text(encoding="utf-8")

    rows = re.findall(r"^\| `(\w+)` \| (restored|emptied|kept) \| (.+) \| (.+) \|$", page, re.MULTILINE)

    treated = {"restored": TABLES, "emptied": EMPTIED, "kept": KEPT}
    documented = {word: {f"{name}Table" for name, treatment, *_ in rows if treatment == word} for word in treated}
    assert documented == {word: logical_ids(*names) for word, names in treated.items()}
