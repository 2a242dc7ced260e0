"""Change a customer's phone number.

python3 update.py CUSTOMER PHONE
"""

from __future__ import annotations

import argparse
import sys
from typing import Any
from uuid import uuid4

from qbxml_queue import Api, Failed, run

STALE_EDIT_SEQUENCE = 3200
MAX_ATTEMPTS = 3


def customer_by_name(api: Api, name: str) -> dict[str, Any] | None:
    """Return the customer with this full name."""
    query = {"CustomerQueryRq": {"FullName": name}}
    customers = api.execute(query, f"customer-{uuid4()}").get("CustomerRet", [])
    return customers[0] if customers else None


def change_customer(api: Api, customer: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    """Change some fields of a customer, and return it as it is then.

    QuickBooks accepts a change only with the EditSequence of the latest version. If somebody else has changed the
    customer meanwhile, read it again and repeat.
    """
    for _ in range(MAX_ATTEMPTS):
        identity = {"ListID": customer["ListID"], "EditSequence": customer["EditSequence"]}
        try:
            response = api.execute({"CustomerModRq": {"CustomerMod": identity | changes}}, f"change-{uuid4()}")
        except Failed as failure:
            if failure.status_code != STALE_EDIT_SEQUENCE:
                raise
            query = {"CustomerQueryRq": {"ListID": customer["ListID"]}}
            [customer] = api.execute(query, f"customer-{uuid4()}")["CustomerRet"]
        else:
            changed_customer: dict[str, Any] = response["CustomerRet"]
            return changed_customer
    raise RuntimeError(f"{customer['FullName']} changes all the time; try again later")


def main() -> None:
    parser = argparse.ArgumentParser(description="Change a customer's phone number.")
    parser.add_argument("customer", help="the customer's full name")
    parser.add_argument("phone")
    arguments = parser.parse_args()
    api = Api.from_environment()
    customer = customer_by_name(api, arguments.customer)
    if customer is None:
        sys.exit(f"QuickBooks has no customer {arguments.customer}.")
    changed = change_customer(api, customer, {"Phone": arguments.phone})
    print(f"{changed['FullName']}: phone {changed['Phone']}")


if __name__ == "__main__":
    run(main)
