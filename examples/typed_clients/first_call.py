"""Write a customer and read all customers, page by page, with the Python client.

Usage:
    python3 -m venv .venv-client && . .venv-client/bin/activate
    pip install ./clients/python
    python3 examples/typed_clients/first_call.py
"""

from __future__ import annotations

import os
import sys
from decimal import Decimal

from qbxml_queue import Client, QuickBooksError

if missing := [name for name in ("BASE_URL", "API_KEY", "CONNECTION_ID") if not os.environ.get(name)]:
    sys.exit(f"{missing[0]} is not set. In the folder of the project, run: set -a; . .local/env; set +a")

with Client.from_environment() as books:
    try:
        added = books.execute({"CustomerAddRq": {"CustomerAdd": {"Name": "Blue Door Bakery"}}})["CustomerRet"]
        print(f"{added['FullName']} since {added['TimeCreated']:%Y}, balance {added['Balance']}")
    except QuickBooksError as error:  # on the second run, the name is in use
        print(f"{error.status_code} {error.reason}")

    count, total = 0, Decimal(0)
    for page in books.iterate({"CustomerQueryRq": {"ActiveStatus": "All"}}, page_size=50):
        count += len(page["CustomerRet"])
        total += sum((customer["Balance"] for customer in page["CustomerRet"]), Decimal(0))
    print(f"{count} customers owe {total}")
