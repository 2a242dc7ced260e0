"""The plan: a table of steps, each with one request and with what is expected.

What is expected comes from three sources: the service contract (states, error codes, the label of the request), the
simulator (statuses, and what the checks of a step compare) and Intuit's schema (elements and their order). A test asks
the whole plan of the simulator, so the statuses here are those of the simulator.

A place in a request, such as `{customer}`, has a value that an earlier step has learned. A step without one of its
values is skipped.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from qbxml_queue.check.kinds import CORE, OBJECTS, SWITCHED, UNLIMITED, query_of

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_MESSAGE_SETS = 80
"""How many message sets a run may send. Each request counts as one until it is known that others travelled with it."""

TOGETHER = 20
"""How many requests are queued in one call at most, so that they can travel in one message set."""

UNKNOWN_ID = "7FFFFFFE-1000000000"
"""A ListID in QuickBooks' form that no object has: objects are counted from 80000001."""

_COUNT = '<CustomerQueryRq metaData="MetaDataOnly"><ActiveStatus>All</ActiveStatus></CustomerQueryRq>'
_PAGE = (
    "<CustomerQueryRq {}><MaxReturned>{{customers_in_a_page}}</MaxReturned><ActiveStatus>All</ActiveStatus>"
    "<IncludeRetElement>ListID</IncludeRetElement></CustomerQueryRq>"
)
_CUSTOMERS = "<CustomerQueryRq><MaxReturned>3</MaxReturned><ActiveStatus>All</ActiveStatus>{}</CustomerQueryRq>"
_NAMED = "<NameFilter><MatchCriterion>Contains</MatchCriterion><Name>{}</Name></NameFilter>"
_INVOICES = "<InvoiceQueryRq><MaxReturned>{}</MaxReturned>{}</InvoiceQueryRq>"


@dataclass(frozen=True, slots=True)
class Step:
    """A request, and what is expected.

    `statuses` are the expected status codes. `refused` is the code with which the service is expected to refuse the
    call, and `error` the one with which the request is expected to end without a response. `learns` names values, each
    with its path in the response. `checks` are functions of `checks`, by name. `limit` is the most objects of one
    response, `pages` the most message sets. Steps that are `is_together` are queued in one call. `pause` is how many
    seconds to wait before. With a `prompt`, a person is asked to act when the request has been sent. A step is asked
    only if the one that it comes `after` was.
    """

    name: str
    about: str
    request: str
    statuses: tuple[int, ...] = (0,)
    version: str = ""
    is_validated: bool = True
    refused: str = ""
    error: str = ""
    learns: tuple[tuple[str, str], ...] = ()
    checks: tuple[str, ...] = ()
    limit: int | None = None
    pages: int = 1
    is_together: bool = False
    pause: int = 0
    prompt: str = ""
    after: str = ""

    @property
    def request_name(self) -> str:
        """The request element."""
        return self.request.partition(">")[0].split()[0].strip("</>")


FACTS = (
    Step(
        "host",
        "the product and the versions of QBXML",
        "<HostQueryRq></HostQueryRq>",
        learns=(
            ("product", "HostRet/ProductName"),
            ("major", "HostRet/MajorVersion"),
            ("minor", "HostRet/MinorVersion"),
            ("country", "HostRet/Country"),
        ),
        checks=("versions",),
    ),
    Step(
        "company",
        "the company",
        "<CompanyQueryRq></CompanyQueryRq>",
        learns=(("company", "CompanyRet/CompanyName"), ("is_sample", "CompanyRet/IsSampleCompany")),
    ),
    Step("preferences", "the preferences", "<PreferencesQueryRq></PreferencesQueryRq>"),
)

LARGE = (
    Step("count", "how many customers there are, as metaData", _COUNT, learns=(("customers", "@retCount"),)),
    Step(
        "iterator",
        "all customers in three pages",
        _PAGE.format('iterator="Start"'),
        statuses=(0, 1),
        learns=(("iterator", "@iteratorID"),),
        checks=("pages",),
        pages=4,
    ),
    Step(
        "iterator-ended",
        "a page of an iterator that has ended",
        _PAGE.format('iterator="Continue" iteratorID="{iterator}"'),
        statuses=(3000,),
    ),
    Step(
        "iterator-stopped",
        "the end of an iterator that has ended",
        _PAGE.format('iterator="Stop" iteratorID="{iterator}"'),
        statuses=(3000,),
    ),
    Step(
        "large-list",
        "500 whole customers in one response",
        "<CustomerQueryRq><MaxReturned>500</MaxReturned><ActiveStatus>All</ActiveStatus></CustomerQueryRq>",
        statuses=(0, 1),
        learns=(("customer", "CustomerRet/ListID"),),
        limit=500,
    ),
    Step(
        "accounts",
        "all accounts, in the order of QuickBooks",
        "<AccountQueryRq><ActiveStatus>All</ActiveStatus></AccountQueryRq>",
        learns=(("income_account", "AccountRet[AccountType='Income']/ListID"),),
    ),
)

FILTERS = (
    Step(
        "name-filter",
        "customers with an a in their names",
        _CUSTOMERS.format(_NAMED.format("a")),
        statuses=(0, 1),
        checks=("names",),
        limit=3,
    ),
    Step(
        "non-ascii-filter",
        "customers with an é in their names",
        _CUSTOMERS.format(_NAMED.format("&#233;")),
        statuses=(0, 1),
        checks=("accents",),
        limit=3,
    ),
    Step(
        "modified-dates",
        "customers that were changed from 1990 to 2037",
        _CUSTOMERS.format("<FromModifiedDate>1990-01-01</FromModifiedDate><ToModifiedDate>2037-12-31</ToModifiedDate>"),
        statuses=(0, 1),
        limit=3,
    ),
    Step(
        "transaction-dates",
        "invoices from 2000 to 2037",
        _INVOICES.format(
            3,
            "<TxnDateRangeFilter><FromTxnDate>2000-01-01</FromTxnDate><ToTxnDate>2037-12-31</ToTxnDate>"
            "</TxnDateRangeFilter>",
        ),
        statuses=(0, 1),
        learns=(("old_invoice", "InvoiceRet/TxnID"), ("old_time", "InvoiceRet/TimeModified")),
        checks=("dates",),
        limit=3,
    ),
    Step(
        "one-second",
        "the invoices that were changed in the second in which the first of them was",
        _INVOICES.format(
            100,
            "<ModifiedDateRangeFilter><FromModifiedDate>{old_local_time}</FromModifiedDate>"
            "<ToModifiedDate>{old_local_time}</ToModifiedDate></ModifiedDateRangeFilter>",
        ),
        statuses=(0, 1),
        limit=100,
    ),
    Step(
        "deleted-lists",
        "deleted customers, vendors and items",
        "<ListDeletedQueryRq><ListDelType>Customer</ListDelType><ListDelType>Vendor</ListDelType>"
        "<ListDelType>ItemService</ListDelType></ListDeletedQueryRq>",
        statuses=(0, 1),
    ),
    Step(
        "deleted-transactions",
        "deleted invoices and bills",
        "<TxnDeletedQueryRq><TxnDelType>Invoice</TxnDelType><TxnDelType>Bill</TxnDelType></TxnDeletedQueryRq>",
        statuses=(0, 1),
    ),
)

REPORTS = (
    Step(
        "balance-sheet",
        "the balance sheet",
        "<GeneralSummaryReportQueryRq><GeneralSummaryReportType>BalanceSheetStandard</GeneralSummaryReportType>"
        "</GeneralSummaryReportQueryRq>",
    ),
    Step(
        "profit-and-loss",
        "profit and loss of last year by month",
        "<GeneralSummaryReportQueryRq><GeneralSummaryReportType>ProfitAndLossStandard</GeneralSummaryReportType>"
        "<ReportDateMacro>LastYear</ReportDateMacro><SummarizeColumnsBy>Month</SummarizeColumnsBy>"
        "</GeneralSummaryReportQueryRq>",
    ),
    Step(
        "aging",
        "what customers owe, by age",
        "<AgingReportQueryRq><AgingReportType>ARAgingSummary</AgingReportType></AgingReportQueryRq>",
    ),
)

VERSIONS = tuple(
    Step(
        f"version-{version}",
        f"a customer by QBXML {version}",
        "<CustomerQueryRq><MaxReturned>1</MaxReturned></CustomerQueryRq>",
        statuses=(0, 1),
        version=version,
        limit=1,
    )
    for version in ("5.0", "10.0", "14.0", "16.0", "17.0")
)

REFUSALS = (
    Step(
        "later-version",
        "a version of QBXML that QuickBooks does not claim",
        "<CustomerQueryRq><MaxReturned>1</MaxReturned></CustomerQueryRq>",
        version="{next_version}",
        refused="unsupported_by_version",
    ),
    Step(
        "wrong-order",
        "elements in the wrong order",
        "<CustomerQueryRq><ActiveStatus>All</ActiveStatus><MaxReturned>1</MaxReturned></CustomerQueryRq>",
        refused="invalid_request",
    ),
    Step(
        "parse-error",
        "an element that does not exist, without validation",
        "<CustomerQueryRq><NoSuchElement>1</NoSuchElement></CustomerQueryRq>",
        is_validated=False,
        error="qbxml_parse_error",
    ),
    Step(
        "iterator-with-ids",
        "an iterator of listed customers, without validation",
        f'<CustomerQueryRq iterator="Start"><ListID>{UNKNOWN_ID}</ListID><MaxReturned>1</MaxReturned>'
        "</CustomerQueryRq>",
        is_validated=False,
        error="qbxml_parse_error",
    ),
    Step(
        "unknown-id",
        "a customer that does not exist",
        f"<CustomerQueryRq><ListID>{UNKNOWN_ID}</ListID></CustomerQueryRq>",
        statuses=(500,),
    ),
    Step(
        "known-and-unknown-id",
        "two customers, of which one does not exist",
        f"<CustomerQueryRq><ListID>{{customer}}</ListID><ListID>{UNKNOWN_ID}</ListID></CustomerQueryRq>",
        statuses=(500,),
        checks=("one_object",),
    ),
    Step(
        "unknown-filter",
        "invoices of a customer that does not exist",
        _INVOICES.format(3, f"<EntityFilter><ListID>{UNKNOWN_ID}</ListID></EntityFilter>"),
        statuses=(500,),
        limit=3,
    ),
    Step(
        "unknown-change",
        "a change of a customer that does not exist, which changes nothing",
        f"<CustomerModRq><CustomerMod><ListID>{UNKNOWN_ID}</ListID><EditSequence>1</EditSequence><Fax>1</Fax>"
        "</CustomerMod></CustomerModRq>",
        statuses=(3120,),
    ),
    Step(
        "unknown-reference",
        "a customer with terms that do not exist, which adds nothing",
        "<CustomerAddRq><CustomerAdd><Name>qbxml-queue check</Name><TermsRef>"
        "<FullName>qbxml-queue check</FullName></TermsRef></CustomerAdd></CustomerAddRq>",
        statuses=(3140,),
    ),
)

KINDS = tuple(
    Step(
        f"kind-{kind}",
        f"{OBJECTS} objects of the kind {kind}",
        query_of(kind),
        statuses=(0, 1, 3250) if kind in SWITCHED else (0, 1),
        limit=None if kind in UNLIMITED else OBJECTS,
        is_together=True,
    )
    for kind in (*CORE, *SWITCHED)
)

PROBES = (*LARGE, *FILTERS, *REPORTS, *VERSIONS, *REFUSALS)
READS = (*FACTS, *KINDS, *PROBES)


def cost_of(steps: Iterable[Step]) -> int:
    """Return how many message sets steps send at most, if each request is sent alone."""
    return sum(step.pages for step in steps)
