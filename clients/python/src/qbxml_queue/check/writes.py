"""The writes of `WRITES=on`: what is added to a copy of a company file, changed, and deleted again.

The questions about what touches `TimeModified` and `EditSequence` need some seconds between two writes.
"""

from __future__ import annotations

from qbxml_queue.check.plan import READS, Step

WORDS = ("copy", "test", "sample")
"""Writes are made only in a company file with one of these words in its name or path."""

SECONDS_APART = 2
"""QuickBooks' times have a resolution of a second."""

LINES = 150
"""Lines of the invoice whose response is lost, so that QuickBooks takes long enough for a person to act."""

ADDED = (
    "two customers, a job, a service item, two invoices, a payment of 5.00 and a private custom field of customers, all"
    " with names that begin with qbxml-queue check; it deletes them again, and says what is left"
)
PROMPT = (
    "The next step loses a response. Open the Task Manager on the QuickBooks machine and find QBWebConnector.exe. When "
    "this program says NOW, end that task. Then start the Web Connector again and let it update. Press Enter to begin"
)

_FIELD = "<OwnerID>{{7C1F2B60-5E0D-4B8E-9A54-1D0C3E8F6A21}}</OwnerID><DataExtName>qbxml-queue check</DataExtName>"
_LINE = "<InvoiceLineAdd><ItemRef><ListID>{new_item}</ListID></ItemRef><Quantity>2</Quantity></InvoiceLineAdd>"
_CUSTOMER = "<CustomerRef><ListID>{new_customer}</ListID></CustomerRef>"
_READ_INVOICE = "<InvoiceQueryRq><TxnID>{new_invoice}</TxnID></InvoiceQueryRq>"
_READ_CUSTOMER = "<CustomerQueryRq><ListID>{new_customer}</ListID></CustomerQueryRq>"
_MOD = (
    "<CustomerModRq><CustomerMod><ListID>{new_customer}</ListID><EditSequence>{first_sequence}</EditSequence>"
    "<Name>{tag} 1</Name><Fax>1</Fax></CustomerMod></CustomerModRq>"
)

WRITES = (
    Step(
        "customer-add",
        "a customer",
        "<CustomerAddRq><CustomerAdd><Name>{tag}</Name></CustomerAdd></CustomerAddRq>",
        learns=(("new_customer", "CustomerRet/ListID"),),
    ),
    Step(
        "item-add",
        "a service item for 10.00",
        "<ItemServiceAddRq><ItemServiceAdd><Name>{tag}</Name><SalesOrPurchase><Price>10.00</Price><AccountRef>"
        "<ListID>{income_account}</ListID></AccountRef></SalesOrPurchase></ItemServiceAdd></ItemServiceAddRq>",
        learns=(("new_item", "ItemServiceRet/ListID"),),
    ),
    Step(
        "invoice-add",
        "an invoice of 20.00",
        f"<InvoiceAddRq><InvoiceAdd>{_CUSTOMER}{_LINE}</InvoiceAdd></InvoiceAddRq>",
        learns=(("new_invoice", "InvoiceRet/TxnID"),),
        pause=SECONDS_APART,
    ),
    Step(
        "customer-invoiced",
        "the customer after the invoice",
        _READ_CUSTOMER,
    ),
    Step(
        "payment-add",
        "a payment of 5.00 of it",
        f"<ReceivePaymentAddRq><ReceivePaymentAdd>{_CUSTOMER}<TotalAmount>5.00</TotalAmount><AppliedToTxnAdd>"
        "<TxnID>{new_invoice}</TxnID><PaymentAmount>5.00</PaymentAmount></AppliedToTxnAdd></ReceivePaymentAdd>"
        "</ReceivePaymentAddRq>",
        learns=(("new_payment", "ReceivePaymentRet/TxnID"),),
        pause=SECONDS_APART,
    ),
    Step("invoice-paid", "the invoice after the payment", _READ_INVOICE),
    Step(
        "payment-delete",
        "the deletion of the payment",
        "<TxnDelRq><TxnDelType>ReceivePayment</TxnDelType><TxnID>{new_payment}</TxnID></TxnDelRq>",
        pause=SECONDS_APART,
    ),
    Step("invoice-unpaid", "the invoice after the deletion", _READ_INVOICE),
    Step(
        "job-add",
        "a job of the customer",
        "<CustomerAddRq><CustomerAdd><Name>{tag} 3</Name><ParentRef><ListID>{new_customer}</ListID></ParentRef>"
        "</CustomerAdd></CustomerAddRq>",
        learns=(("new_job", "CustomerRet/ListID"),),
    ),
    # The payment, its deletion and the job may have given the customer another EditSequence.
    Step(
        "customer-before-mod",
        "the customer before its change",
        _READ_CUSTOMER,
        learns=(("first_sequence", "CustomerRet/EditSequence"),),
    ),
    Step("customer-mod", "another name and fax number of the customer", _MOD, pause=SECONDS_APART),
    Step("job-renamed", "the job after that", "<CustomerQueryRq><ListID>{new_job}</ListID></CustomerQueryRq>"),
    Step("customer-stale", "the same change with the former EditSequence", _MOD, statuses=(3200,)),
    Step(
        "field-define",
        "a private custom field of customers",
        f"<DataExtDefAddRq><DataExtDefAdd>{_FIELD}<DataExtType>STR255TYPE</DataExtType>"
        "<AssignToObject>Customer</AssignToObject></DataExtDefAdd></DataExtDefAddRq>",
    ),
    Step(
        "field-set",
        "a value of the custom field",
        f"<DataExtAddRq><DataExtAdd>{_FIELD}<ListDataExtType>Customer</ListDataExtType><ListObjRef>"
        "<ListID>{new_customer}</ListID></ListObjRef><DataExtValue>1</DataExtValue></DataExtAdd></DataExtAddRq>",
        pause=SECONDS_APART,
    ),
    Step(
        "customer-with-field",
        "the customer after that",
        _READ_CUSTOMER,
        learns=(("sequence", "CustomerRet/EditSequence"),),
    ),
    Step(
        "second-customer",
        "a second customer",
        "<CustomerAddRq><CustomerAdd><Name>{tag} 2</Name></CustomerAdd></CustomerAddRq>",
        learns=(("second_customer", "CustomerRet/ListID"), ("second_sequence", "CustomerRet/EditSequence")),
    ),
    Step(
        "merge",
        "the merge of the second customer into the first",
        "<ListMergeRq><ListMergeType>Customer</ListMergeType><MergeFrom><ListID>{second_customer}</ListID>"
        "<EditSequence>{second_sequence}</EditSequence></MergeFrom><MergeTo><ListID>{new_customer}</ListID>"
        "<EditSequence>{sequence}</EditSequence></MergeTo></ListMergeRq>",
        pause=SECONDS_APART,
    ),
    Step(
        "merge-deleted",
        "the deleted customers after the merge",
        "<ListDeletedQueryRq><ListDelType>Customer</ListDelType></ListDeletedQueryRq>",
        statuses=(0, 1),
    ),
    Step("customer-merged", "the first customer after the merge", _READ_CUSTOMER),
    Step(
        "invoice-void",
        "the void of the invoice",
        "<TxnVoidRq><TxnVoidType>Invoice</TxnVoidType><TxnID>{new_invoice}</TxnID></TxnVoidRq>",
        pause=SECONDS_APART,
    ),
    Step("invoice-voided", "the invoice after the void", _READ_INVOICE),
    Step(
        "lost-invoice",
        "an invoice whose response is lost",
        f"<InvoiceAddRq><InvoiceAdd>{_CUSTOMER}<RefNumber>{{number}}</RefNumber>{_LINE * LINES}</InvoiceAdd>"
        "</InvoiceAddRq>",
        pages=4,
        prompt=PROMPT,
    ),
    Step(
        "lost-found",
        "the invoices with its number, of which there must be one",
        "<InvoiceQueryRq><RefNumber>{number}</RefNumber></InvoiceQueryRq>",
        learns=(("lost_invoice", "InvoiceRet/TxnID"),),
        checks=("executed_once",),
        after="lost-invoice",
    ),
)

CLEANUP = (
    Step(
        "lost-delete",
        "the deletion of the invoice whose response was lost",
        "<TxnDelRq><TxnDelType>Invoice</TxnDelType><TxnID>{lost_invoice}</TxnID></TxnDelRq>",
    ),
    Step(
        "invoice-delete",
        "the deletion of the first invoice",
        "<TxnDelRq><TxnDelType>Invoice</TxnDelType><TxnID>{new_invoice}</TxnID></TxnDelRq>",
    ),
    Step(
        "item-delete",
        "the deletion of the item",
        "<ListDelRq><ListDelType>ItemService</ListDelType><ListID>{new_item}</ListID></ListDelRq>",
    ),
    Step(
        "second-delete",
        "the deletion of the second customer, if it was not merged",
        "<ListDelRq><ListDelType>Customer</ListDelType><ListID>{second_customer}</ListID></ListDelRq>",
        statuses=(0, 3120),
    ),
    Step(
        "job-delete",
        "the deletion of the job",
        "<ListDelRq><ListDelType>Customer</ListDelType><ListID>{new_job}</ListID></ListDelRq>",
    ),
    Step(
        "customer-delete",
        "the deletion of the first customer",
        "<ListDelRq><ListDelType>Customer</ListDelType><ListID>{new_customer}</ListID></ListDelRq>",
    ),
    Step(
        "field-delete",
        "the deletion of the custom field",
        f"<DataExtDefDelRq>{_FIELD}</DataExtDefDelRq>",
        after="field-define",
    ),
)

ALL = (*READS, *WRITES, *CLEANUP)
