"""Compression of texts in bodies: requests, responses, metadata and search texts.

DynamoDB charges by the KB. Half of a small response is names of elements, so zlib gets a dictionary with the most
frequent ones. It makes a response of five customers a fifth smaller, and a large one no larger.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from adapters.dynamodb.keys import AttributeValue

_NAMES = (
    "BillRet APAccountRef AmountDue ItemLineRet Cost OpenAmount EstimateRet EstimateLineRet VendorRet VendorTypeRef "
    "IsVendorEligibleFor1099 SpecialAccountType AccountRet AccountType CashFlowClassification ItemInventoryRet "
    "SalesDesc SalesPrice IncomeAccountRef PurchaseDesc PurchaseCost COGSAccountRef PrefVendorRef AssetAccountRef "
    "ReorderPoint QuantityOnHand AverageCost QuantityOnOrder QuantityOnSalesOrder ItemServiceRet SalesOrPurchase "
    "Price AccountRef SalesReceiptRet SalesReceiptLineRet PurchaseOrderRet VendorRef VendorAddress VendorAddressBlock "
    "ExpectedDate IsFullyReceived PurchaseOrderLineRet ReceivedQuantity UnbilledQuantity IsBilled ReceivePaymentRet "
    "PaymentMethodRef DepositToAccountRef UnusedPayment UnusedCredits AppliedToTxnRet TxnType SalesOrderRet "
    "TotalAmount IsFullyInvoiced SalesOrderLineRet Invoiced IsManuallyClosed InvoiceRet TxnID TxnNumber CustomerRef "
    "ARAccountRef TemplateRef TxnDate RefNumber IsPending IsFinanceCharge DueDate ShipDate Subtotal ItemSalesTaxRef "
    "SalesTaxPercentage SalesTaxTotal AppliedAmount BalanceRemaining IsPaid IsToBePrinted IsToBeEmailed "
    "CustomerSalesTaxCodeRef SuggestedDiscountAmount SuggestedDiscountDate InvoiceLineRet TxnLineID ItemRef Desc "
    "Quantity Rate Amount PriceLevelRef ClassRef ParentRef ResaleNumber CustomerRet TimeCreated TimeModified "
    "EditSequence Name IsActive Sublevel CompanyName FirstName LastName BillAddress City State PostalCode "
    "BillAddressBlock Addr1 Addr2 Addr3 Phone Email CustomerTypeRef TermsRef SalesRepRef Balance TotalBalance "
    "SalesTaxCodeRef ListID FullName AccountNumber JobStatus PreferredDeliveryMethod "
)
"""Elements of frequent objects of QuickBooks, the most frequent ones last."""

_DICTIONARY = (
    "".join(f"<{name}></{name}>\n" for name in _NAMES.split())
    + '<?xml version="1.0" ?>\n<QBXML>\n<QBXMLMsgsRs>\n'
    + 'QueryRs requestID="" statusCode="0" statusSeverity="Info" statusMessage="Status OK">\n'
    + "Rs>\n</QBXMLMsgsRs>\n</QBXML>\n"
    + '<QBXML><QBXMLMsgsRq onError="stopOnError"><CustomerQueryRq requestID=""><MaxReturned></MaxReturned>'
).encode()
"""Stored texts cannot be read without it, so it must never change. zlib stores its checksum with each text."""


def pack(text: str) -> bytes:
    """Return a text in compressed form. QBXML shrinks to a tenth of its size."""
    compressor = zlib.compressobj(zdict=_DICTIONARY)
    return compressor.compress(text.encode()) + compressor.flush()


def utf8_size(text: str) -> int:
    """Return the size of a text in bytes of UTF-8. Nearly every response is in ASCII and needs no copy for that."""
    return len(text) if text.isascii() else len(text.encode())


def unpack(packed: bytes) -> str:
    """Return the text that `pack` compressed, in this release or in one without a dictionary."""
    stream = zlib.decompressobj(zdict=_DICTIONARY)
    data = stream.decompress(packed)
    if not stream.eof:
        raise zlib.error("The text is incomplete.")
    return data.decode()


def beginning(packed: bytes, max_bytes: int) -> bytes:
    """Return at most `max_bytes` of the text that `pack` compressed, in UTF-8. No more is decompressed."""
    return zlib.decompressobj(zdict=_DICTIONARY).decompress(packed, max_bytes)


def packed_text(text: str) -> AttributeValue:
    """Return the value of an attribute with a compressed text."""
    return {"B": pack(text)}


def text_of(value: AttributeValue) -> str:
    """Return the text of an attribute. Search texts of older releases are not compressed."""
    return unpack(bytes(value["B"])) if "B" in value else str(value["S"])
