"""Copy the customers of the company file into a database: all of them at first, then those that changed.

python3 customers.py

The database is `books-<connection id>.db`, because another connection can belong to another company. The receiver
(receiver.py) has to run.
"""

from __future__ import annotations

import socket
import sqlite3
import sys
from datetime import datetime, timedelta
from urllib.parse import urlsplit

from qbxml_queue import Api, Failed, response_of, run, variable
from receiver import URL, Events

OVERLAP = timedelta(minutes=70)
"""Older versions of QuickBooks are an hour off in summer, and the clocks of two machines differ a little."""


def start_of(queued_at: str, modified: str) -> str:
    """Return when a query was queued, less OVERLAP, in the local time of the QuickBooks machine.

    `modified` is a `TimeModified` from the same machine. Its offset shows the time zone. The result has no offset:
    QuickBooks then reads it as its local time.
    """
    zone = datetime.fromisoformat(modified).tzinfo
    return (datetime.fromisoformat(queued_at).astimezone(zone) - OVERLAP).strftime("%Y-%m-%dT%H:%M:%S")


def sync(api: Api, events: Events, database: sqlite3.Connection, webhook_url: str) -> int:
    """Fetch the customers that changed since the last call, and return their number."""
    database.execute("CREATE TABLE IF NOT EXISTS customers (list_id TEXT PRIMARY KEY, full_name TEXT, modified TEXT)")
    parameters = {"iterate": "true", "max_returned": "100", "active": "All", "webhook_url": webhook_url}
    database.execute("CREATE TABLE IF NOT EXISTS syncs (started TEXT)")
    for [started] in database.execute("SELECT started FROM syncs ORDER BY rowid DESC LIMIT 1").fetchall():
        parameters["from_modified_date"] = started
    query = api.query("customers", **parameters)
    count = 0
    with database:  # one transaction: a sync that is interrupted starts again where this one started
        for event in events.pages_of(query["id"]):
            if event["state"] != "completed":
                raise Failed(api.call("GET", event["links"]["self"])["data"])
            for customer in response_of(event).get("CustomerRet", []):
                row = (customer["ListID"], customer["FullName"], customer["TimeModified"])
                database.execute("INSERT OR REPLACE INTO customers VALUES (?, ?, ?)", row)
                count += 1
        for [modified] in database.execute("SELECT modified FROM customers LIMIT 1").fetchall():
            database.execute("INSERT INTO syncs VALUES (?)", [start_of(query["inserted_at"], modified)])
    return count


def check_receiver() -> None:
    """End the program if nothing receives the webhooks that it would wait for."""
    address = urlsplit(URL)
    try:
        socket.create_connection((address.hostname, address.port or 80), timeout=5).close()
    except OSError as error:
        sys.exit(f"Nothing receives webhooks at {URL} ({error.strerror}). Start receiver.py in another terminal.")


def main() -> None:
    api, path = Api.from_environment(), f"books-{variable('CONNECTION_ID')}.db"
    check_receiver()
    database = sqlite3.connect(path)
    number = sync(api, Events.of_connection(), database, webhook_url=URL)
    [total] = database.execute("SELECT count(*) FROM customers").fetchone()
    print(f"{number} customers fetched, {total} in {path}")


if __name__ == "__main__":
    run(main)
