"""Record a customer's payment for an invoice.

python3 payment.py INVOICE_NUMBER
"""

from __future__ import annotations

import argparse
import sys
from typing import Any
from uuid import uuid4

from invoice import invoice_by_number
from qbxml_queue import Api, run


def receive_payment(api: Api, invoice: dict[str, Any], amount: str) -> dict[str, Any]:
    """Record a payment, once, and apply it to the invoice. Return the payment."""
    request = {
        "ReceivePaymentAddRq": {
            "ReceivePaymentAdd": {
                "CustomerRef": {"ListID": invoice["CustomerRef"]["ListID"]},
                "RefNumber": f"P-{invoice['RefNumber']}",
                "TotalAmount": amount,
                "AppliedToTxnAdd": [{"TxnID": invoice["TxnID"], "PaymentAmount": amount}],
            }
        }
    }
    response = api.execute(request, f"payment-{uuid4()}", if_exists="return")
    payment: dict[str, Any] = response["ReceivePaymentRet"]
    return payment


def main() -> None:
    parser = argparse.ArgumentParser(description="Record a customer's payment for an invoice.")
    parser.add_argument("number", help="the number of the invoice")
    number = parser.parse_args().number
    api = Api.from_environment()
    invoice = invoice_by_number(api, number)
    if invoice is None:
        sys.exit(f"QuickBooks has no invoice {number}.")
    payment = receive_payment(api, invoice, invoice["BalanceRemaining"])
    paid = invoice_by_number(api, number)
    assert paid is not None  # nobody deletes it in between
    print(f"Payment of {payment['TotalAmount']} received, {paid['BalanceRemaining']} of invoice {number} open")


if __name__ == "__main__":
    run(main)
