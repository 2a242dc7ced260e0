"""Copy the customers of the company file into `books.db`: all of them at first, then those that changed.

python3 customers.py
"""

from __future__ import annotations

import sqlite3
from datetime import datetime

from qbxml_queue import Api, Failed, response_of
from receiver import URL, Events


def sync(api: Api, events: Events, database: sqlite3.Connection, webhook_url: str) -> int:
    """Fetch the customers that changed since the last call, and return their number."""
    database.execute("CREATE TABLE IF NOT EXISTS customers (list_id TEXT PRIMARY KEY, full_name TEXT, modified TEXT)")
    parameters = {"iterate": "true", "max_returned": "100", "active": "All", "webhook_url": webhook_url}
    dates = [datetime.fromisoformat(row[0]) for row in database.execute("SELECT modified FROM customers")]
    if dates:
        parameters["from_modified_date"] = max(dates).isoformat()
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
    return count


def main() -> None:
    database = sqlite3.connect("books.db")
    number = sync(Api.from_environment(), Events(), database, webhook_url=URL)
    [total] = database.execute("SELECT count(*) FROM customers").fetchone()
    print(f"{number} customers fetched, {total} in books.db")


if __name__ == "__main__":
    main()
