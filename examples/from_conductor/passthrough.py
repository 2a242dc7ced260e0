"""A stand-in for Conductor's `end_users.passthrough`: the same payload, the same native names.

python3 passthrough.py
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any
from uuid import uuid4

sys.path.insert(0, str(Path(__file__).parents[1] / "first_sync"))

from qbxml_queue import Api, run


def passthrough(api: Api, qbd_payload: dict[str, Any], idempotency_key: str | None = None) -> dict[str, Any]:
    """Execute a payload such as {"InvoiceQueryRq": {…}} and wait for the response.

    Give writes a key of your own, for example the id of the order: a repeated call then returns the first result.
    """
    return api.execute(qbd_payload, idempotency_key or str(uuid4()))


def main() -> None:
    api = Api.from_environment()
    response = passthrough(api, {"InvoiceQueryRq": {"MaxReturned": 1, "PaidStatus": "NotPaidOnly"}})
    for invoice in response["InvoiceRet"]:
        print(invoice["RefNumber"], invoice["CustomerRef"]["FullName"], invoice["BalanceRemaining"])


if __name__ == "__main__":
    run(main)
