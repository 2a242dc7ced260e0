"""Save a customer with a phone number: add it if it is new, otherwise change what differs.

python3 update.py CUSTOMER PHONE
"""

from __future__ import annotations

import argparse
from typing import Any
from uuid import uuid4

from qbxml_queue import Api, run


def save_customer(api: Api, name: str, fields: dict[str, Any]) -> dict[str, Any]:
    """Add a customer with these fields, or change those that differ. Return it as it is then."""
    request = {"CustomerAddRq": {"CustomerAdd": {"Name": name, **fields}}}
    response = api.execute(request, f"customer-{uuid4()}", if_exists="update")
    customer: dict[str, Any] = response["CustomerRet"]
    return customer


def main() -> None:
    parser = argparse.ArgumentParser(description="Save a customer with a phone number.")
    parser.add_argument("customer", help="the customer's name")
    parser.add_argument("phone")
    arguments = parser.parse_args()
    customer = save_customer(Api.from_environment(), arguments.customer, {"Phone": arguments.phone})
    print(f"{customer['FullName']}: phone {customer['Phone']}")


if __name__ == "__main__":
    run(main)
