"""Record a customer's payment for an invoice.

python3 payment.py INVOICE_NUMBER
"""

from __future__ import annotations

import sys
from typing import Any

from invoice import invoice_by_number
from qbxml_queue import Api


def receive_payment(api: Api, invoice: dict[str, Any], amount: str) -> dict[str, Any]:
    """Record a payment and apply it to the invoice, which the response then shows as linked."""
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
    payment: dict[str, Any] = api.execute(request, f"payment-{invoice['RefNumber']}")["ReceivePaymentRet"]
    return payment


def main() -> None:
    [number] = sys.argv[1:]
    api = Api.from_environment()
    invoice = invoice_by_number(api, number)
    if invoice is None:
        sys.exit(f"QuickBooks has no invoice {number}.")
    payment = receive_payment(api, invoice, invoice["BalanceRemaining"])
    paid = invoice_by_number(api, number)
    assert paid is not None
    print(f"Payment of {payment['TotalAmount']} received, {paid['BalanceRemaining']} of invoice {number} open")


if __name__ == "__main__":
    main()
