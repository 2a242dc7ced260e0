"""A service whose data are in a file, so that two versions of the code can work on the same data in turns.

`python -m tests.releases.service_in_file FILE SEED STEPS` reads the file, lets an app, its customers and its receiver
take some steps, and writes the file again. Released versions of this program read the files of later ones, so the
format must not change: the items of each table as DynamoDB's JSON, and the state of the history.
"""

from __future__ import annotations

import base64
import json
import sys
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import boto3
from moto import mock_aws

from local.emulated_dynamodb import emulated_dynamodb
from local.tables import make_tables
from tests.support.random_history import RandomHistory
from tests.support.services import using
from tests.support.whole_service import WholeService

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

REGION = {"region_name": "us-east-1", "aws_access_key_id": "local", "aws_secret_access_key": "local"}

COMPRESSIBLE = "a long note " * 24_000
"""Stored in chunks, which are small."""


@contextmanager
def opened(stored: Mapping[str, Any] | None, seed: int) -> Iterator[RandomHistory]:
    """Yield the history of a stored service, or a new one."""
    with emulated_dynamodb(), mock_aws():
        client = boto3.client("dynamodb", **REGION)
        service = WholeService(client, boto3.client("dynamodbstreams", **REGION), make_tables(client, ""), seed=seed)
        with using(service.services):
            if stored is None:
                yield RandomHistory(service, seed, noise=COMPRESSIBLE)
                return
            for table, items in stored["tables"].items():
                for item in items:
                    client.put_item(TableName=table, Item={name: _from_json(value) for name, value in item.items()})
            service.skip_streams()
            service.clock.now = datetime.fromisoformat(stored["now"])
            service.messages.texts.extend(stored["messages"])
            yield RandomHistory(service, seed, stored["history"], noise=COMPRESSIBLE)


def stored_form(history: RandomHistory) -> dict[str, Any]:
    """Return the service of a history as JSON."""
    service = history.service
    service.read_streams()
    return {
        "now": service.clock().isoformat(),
        "history": history.state(),
        "messages": list(service.messages.texts),
        "tables": {
            table: [
                {name: _to_json(value) for name, value in sorted(item.items())}
                for item in sorted(service.items(table), key=str)
            ]
            for table in service.table_names
        },
    }


def _to_json(value: Mapping[str, Any]) -> dict[str, Any]:
    ((kind, stored),) = value.items()
    if kind == "B":
        return {kind: base64.b64encode(bytes(stored)).decode()}
    return {kind: sorted(stored) if kind == "SS" else stored}


def _from_json(value: Mapping[str, Any]) -> dict[str, Any]:
    ((kind, stored),) = value.items()
    return {kind: base64.b64decode(stored) if kind == "B" else stored}


def main(file: Path, seed: int, steps: int) -> None:
    """Let a service in a file take some steps."""
    with opened(json.loads(file.read_text(encoding="utf-8")), seed) as history:
        for _ in range(steps):
            history.step()
        text = json.dumps(stored_form(history))
    file.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
