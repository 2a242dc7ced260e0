"""Put restored tables into use, so that no write is executed twice. `make restore STACK=qbxml-queue`.

Point-in-time recovery restores a table under another name. This program copies the tables `restored-…` of one moment
into the tables of the stack, which keep their stream, time to live and own recovery. Each table is restored by itself,
so the copies can disagree. `local/rebuild.py` makes them agree with the records and prepares them:

QuickBooks may since have executed every write that had not ended at that moment, and the service may have told
QuickBooks to forget the response. Therefore each of these writes is put into recovery without a company file mark: it
ends with the response that QuickBooks still stores, or as `outcome_unknown`, and is never sent again
(docs/decisions/0005-recovery-of-lost-responses.md). Reads are sent again. All sessions are removed.

Stop the functions first: docs/restore.md. The program works in parts, in several processes, and keeps what it has done
in a folder (`local/parts.py`). If it is interrupted, start it again, and it continues. When it has finished, the folder
is deleted, and a further run begins anew.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import signal
import sys
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime
from functools import lru_cache, partial
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any

from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from botocore.session import Session

from adapters.dynamodb.client import MAX_BATCH_KEYS
from domain.errors import TooManyRequests
from local import aws, deploy
from local.parts import Database, Row, Work, digest, in_batches, key_text, write_rows
from local.rebuild import prepare

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from adapters.dynamodb.keys import Item
    from local.parts import Done

RESTORED = "restored-"
"""Prefix of the names of restored tables."""

TABLES = ("queued_requests", "queue", "payloads", "counts", "connections", "apps", "subscriptions")
"""The tables that are restored."""

EMPTIED = ("sessions", "events")
"""The tables that `local/rebuild.py` empties. The next login begins a session, and the next event a log."""

KEPT = ("idempotency_keys", "usages", "audit_log", "people", "change_pages")
"""The tables that stay as they are. A call that is repeated with the idempotency key of a request that is gone returns
404 and queues nothing. What was done after the moment of the restore was done. No event names the pages of changes any
more, and they expire."""


WANTED, STORED = "w", "s"
"""Kinds of rows: items of the restored table, and of the table of the stack."""

PROCESSES_PER_PROCESSOR = 4
"""A process spends most of its time waiting for DynamoDB."""

RETRIES = 12


def main(arguments: Sequence[str] | None = None) -> int:
    """Prepare the tables of a stack and print what was done; return the exit status."""
    options = _parser().parse_args(arguments)
    try:
        counts = _restore(options, partial(print, flush=True))
    except (aws.AwsError, deploy.DeployError) as error:
        print(f"make restore: {error}", file=sys.stderr)
        return 1
    except (BotoCoreError, ClientError, TooManyRequests) as error:
        cause = str(error) if isinstance(error, TooManyRequests) else aws.explanation(error)
        print(f"make restore: {cause}\nStart it again: it continues.", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("make restore: interrupted. Start it again: it continues.", file=sys.stderr)
        return 130
    for what, number in counts.items():
        print(f"{number:6} {what}")
    return 0


def _restore(options: argparse.Namespace, report: Callable[[str], None]) -> Mapping[str, int]:
    here = aws.resolved(options.region, options.profile)
    deploy.outputs(here.client("cloudformation"), options.stack)  # says which stack or region is wrong
    resources = _resources(here.client("cloudformation"), options.stack)
    physical = {logical: name for logical, name, _ in resources}
    names = {name: physical[f"{name.title().replace('_', '')}Table"] for name in (*TABLES, *EMPTIED, *KEPT)}
    functions = [name for _, name, kind in resources if kind == "AWS::Lambda::Function"]
    database = Database(partial(_client, here.region, here.profile), names)
    identity = check(here.client("lambda"), functions, database)
    folder = Path(options.folder) / f"{options.stack}-{identity}"
    if folder.exists():
        report(f"continues an earlier run. To begin anew, delete {folder}")
    with ProcessPoolExecutor(options.processes, get_context("spawn"), _ignore_interrupts) as pool:
        work = Work(folder, pool, report)
        for name in TABLES:
            put_count, deleted_count = copy_table(work, database, RESTORED + names[name], names[name])
            report(f"{names[name]}: {put_count} items written, {deleted_count} deleted")
        counts = prepare(work, database, datetime.now(UTC))
    shutil.rmtree(folder)
    return counts


def _ignore_interrupts() -> None:
    """Let only the first process see Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@lru_cache(maxsize=1)
def _client(region: str, profile: str | None) -> Any:
    """Return the client of a process."""
    config = Config(connect_timeout=5, read_timeout=60, retries={"mode": "standard", "total_max_attempts": RETRIES})
    return Session(profile=profile).create_client("dynamodb", region_name=region, config=config)


def check(functions_client: Any, functions: Sequence[str], database: Database) -> str:
    """Check that no function of the stack can run and that all restored tables are ready. Raises DeployError.

    Return an identity of all these tables: a table that is restored again has another one.
    """
    for function in functions:
        concurrency = functions_client.get_function_concurrency(FunctionName=function)
        if concurrency.get("ReservedConcurrentExecutions") != 0:
            raise deploy.DeployError(f"{function} can run. Stop all functions first: docs/restore.md")
    dynamodb, identities = database.connect(), []
    for name in map(database.names.__getitem__, TABLES):
        try:
            restored = dynamodb.describe_table(TableName=RESTORED + name)["Table"]
        except dynamodb.exceptions.ResourceNotFoundException as error:
            raise deploy.DeployError(
                f"{RESTORED}{name} does not exist. Restore {name} under this name first."
            ) from error
        if restored["TableStatus"] != "ACTIVE":
            raise deploy.DeployError(f"{RESTORED}{name} is {restored['TableStatus']}. Wait until it is restored.")
        current = dynamodb.describe_table(TableName=name)["Table"]
        identities += [f"{table['TableArn']} {table['CreationDateTime']}" for table in (restored, current)]
    return hashlib.sha256("\n".join(identities).encode()).hexdigest()[:12]


def copy_table(work: Work, database: Database, source: str, target: str) -> tuple[int, int]:
    """Make `target` equal to `source`. Return the numbers of written and deleted items.

    Equal items are not written, so the stream reports only changes. The rows of both tables are keys and digests.
    """
    schema = _schema(database, target)
    if _schema(database, source) != schema:
        raise deploy.DeployError(f"{source} has other keys than {target}")
    key_names = [key["AttributeName"] for key in schema]
    files: list[Path] = []
    for table in (source, target):
        visit = partial(_write_digests, WANTED if table == source else STORED, key_names)
        # Nothing writes to a restored table, so a cheaper read shows the same.
        files += work.walk(f"read {target}", database, table, visit, ConsistentRead=table == target)[1]
    done, _ = work.join(f"copy {target}", files, partial(_copy_differences, database, source, target))
    return done["written"], done["deleted"]


def _schema(database: Database, table: str) -> Any:
    return database.connect().describe_table(TableName=table)["Table"]["KeySchema"]


def _write_digests(side: str, key_names: Sequence[str], items: Iterator[Item], file: Path) -> Done:
    rows = (Row(key_text(item, key_names), side, digest(item)) for item in items)
    return {"items": write_rows(file, rows)}


def _copy_differences(database: Database, source: str, target: str, rows: Sequence[Row], _file: Path) -> Done:
    digests: dict[str, dict[str, str]] = {WANTED: {}, STORED: {}}
    for row in rows:
        digests[row.key][row.group] = row.value
    missing = [key for key, value in digests[WANTED].items() if digests[STORED].get(key) != value]
    for keys_of_batch in in_batches(missing, MAX_BATCH_KEYS):
        item_keys = [json.loads(key) for key in keys_of_batch]
        items = database.dynamodb.batch_get({source: item_keys}, eventually={source})[source]
        database.write(target, ({"PutRequest": {"Item": item}} for item in items))
    surplus = digests[STORED].keys() - digests[WANTED].keys()  # items that were stored since
    database.write(target, ({"DeleteRequest": {"Key": json.loads(key)}} for key in sorted(surplus)))
    return {"written": len(missing), "deleted": len(surplus)}


def _resources(cloudformation: Any, stack: str) -> list[tuple[str, str, str]]:
    """Return the logical ID, the physical ID and the type of each resource of a stack."""
    pages = cloudformation.get_paginator("list_stack_resources").paginate(StackName=stack)
    fields = ("LogicalResourceId", "PhysicalResourceId", "ResourceType")
    rows = [tuple(resource[field] for field in fields) for page in pages for resource in page["StackResourceSummaries"]]
    return [(logical, physical, kind) for logical, physical, kind in rows]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m local.restore", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--stack", default=deploy.STACK_NAME, help="default: %(default)s")
    parser.add_argument("--folder", default=".local/restore", help="what was done; default: %(default)s")
    processes = PROCESSES_PER_PROCESSOR * (os.cpu_count() or 1)
    parser.add_argument("--processes", type=int, default=processes, help="default: %(default)s")
    aws.add_options(parser)
    return parser


if __name__ == "__main__":
    sys.exit(main())
