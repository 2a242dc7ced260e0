"""The order of elements in the requests that the simulated QuickBooks understands.

Content models are written as in a DTD: `A?,B+,(C|D)?`. A request that breaks one fails as a whole with HRESULT
0x80040400, as in QuickBooks (a wrong order, an unknown element, a bad enumeration value). Values of the right
place but a wrong form are the business of `simulator.values`, because QuickBooks answers them with a status.
Source of order, names and enumerations: qbXML 13.0.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from simulator.date_macros import DATE_MACROS
from simulator.errors import PARSE_ERROR, HresultError
from simulator.request_names import REQUEST_NAMES

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_NAMES = "(NameFilter|NameRangeFilter)?"
_LIST_FILTERS = f"MaxReturned?,ActiveStatus?,FromModifiedDate?,ToModifiedDate?,{_NAMES}"
_ENTITY_QUERY = (
    f"(ListID+|FullName+|({_LIST_FILTERS},TotalBalanceFilter?,CurrencyFilter?,ClassFilter?))?"
    ",IncludeRetElement*,OwnerID*"
)
_DATES = "(ModifiedDateRangeFilter|TxnDateRangeFilter)?"
_REF_NUMBERS = "(RefNumberFilter|RefNumberRangeFilter)?"
_TXN_TAIL = "IncludeLineItems?,IncludeLinkedTxns?,IncludeRetElement*,OwnerID*"
_REFERENCE_FILTER = "ListID+|FullName+|ListIDWithChildren|FullNameWithChildren"
_ADDRESS = "Addr1?,Addr2?,Addr3?,Addr4?,Addr5?,City?,State?,PostalCode?,Country?,Note?"

REQUESTS = {
    "CustomerQueryRq": _ENTITY_QUERY,
    "VendorQueryRq": _ENTITY_QUERY,
    "ItemQueryRq": f"(ListID+|FullName+|({_LIST_FILTERS}))?,IncludeRetElement*,OwnerID*",
    "SalesOrderQueryRq": (
        f"(TxnID+|RefNumber+|RefNumberCaseSensitive+|(MaxReturned?,{_DATES},EntityFilter?,{_REF_NUMBERS}"
        f",CurrencyFilter?))?,{_TXN_TAIL}"
    ),
    "InvoiceQueryRq": (
        f"(TxnID+|RefNumber+|RefNumberCaseSensitive+|(MaxReturned?,{_DATES},EntityFilter?,AccountFilter?"
        f",{_REF_NUMBERS},CurrencyFilter?,PaidStatus?))?,{_TXN_TAIL}"
    ),
    "HostQueryRq": "IncludeListMetaData?,IncludeRetElement*",
    "CompanyQueryRq": "IncludeRetElement*,OwnerID*",
    "PreferencesQueryRq": "IncludeRetElement*",
    "CustomerAddRq": "CustomerAdd,IncludeRetElement*",
    "SalesOrderAddRq": "SalesOrderAdd,IncludeRetElement*",
}
"""Each request that is understood, with its content model."""

ITERABLE = frozenset({"CustomerQueryRq", "VendorQueryRq", "ItemQueryRq", "SalesOrderQueryRq", "InvoiceQueryRq"})
"""The requests with the attributes metaData, iterator and iteratorID."""

_AGGREGATES = {
    "NameFilter": "MatchCriterion,Name",
    "NameRangeFilter": "FromName?,ToName?",
    "TotalBalanceFilter": "Operator,Amount",
    "CurrencyFilter": "ListID+|FullName+",
    "ClassFilter": _REFERENCE_FILTER,
    "EntityFilter": _REFERENCE_FILTER,
    "AccountFilter": _REFERENCE_FILTER,
    "ModifiedDateRangeFilter": "FromModifiedDate?,ToModifiedDate?",
    "TxnDateRangeFilter": "(FromTxnDate?,ToTxnDate?)|DateMacro",
    "RefNumberFilter": "MatchCriterion,RefNumber",
    "RefNumberRangeFilter": "FromRefNumber?,ToRefNumber?",
    "IncludeListMetaData": "IncludeMaxCapacity",
    "BillAddress": _ADDRESS,
    "ShipAddress": _ADDRESS,
    "ShipToAddress": f"Name,{_ADDRESS},DefaultShipTo?",
    "AdditionalContactRef": "ContactName,ContactValue",
    "Contacts": "Salutation?,FirstName,MiddleName?,LastName?,JobTitle?,AdditionalContactRef*",
    "CreditCardInfo": (
        "CreditCardNumber?,ExpirationMonth?,ExpirationYear?,NameOnCard?,CreditCardAddress?,CreditCardPostalCode?"
    ),
    "AdditionalNotes": "Note",
    "DataExt": "OwnerID,DataExtName,DataExtValue",
    "CustomerAdd": (
        "Name,IsActive?,ClassRef?,ParentRef?,CompanyName?,Salutation?,FirstName?,MiddleName?,LastName?,Suffix?"
        ",JobTitle?,BillAddress?,ShipAddress?,ShipToAddress*,PrintAs?,Phone?,Mobile?,Pager?,AltPhone?,Fax?,Email?,Cc?"
        ",Contact?,AltContact?,AdditionalContactRef*,Contacts*,CustomerTypeRef?,TermsRef?,SalesRepRef?,OpenBalance?"
        ",OpenBalanceDate?,SalesTaxCodeRef?,ItemSalesTaxRef?,SalesTaxCountry?,ResaleNumber?,AccountNumber?"
        ",CreditLimit?,PreferredPaymentMethodRef?,CreditCardInfo?,JobStatus?,JobStartDate?,JobProjectedEndDate?"
        ",JobEndDate?,JobDesc?,JobTypeRef?,Notes?,AdditionalNotes*,IsStatementWithParent?,DeliveryMethod?"
        ",PreferredDeliveryMethod?,PriceLevelRef?,ExternalGUID?,TaxRegistrationNumber?,CurrencyRef?"
    ),
    "SalesOrderAdd": (
        "CustomerRef,ClassRef?,TemplateRef?,TxnDate?,RefNumber?,BillAddress?,ShipAddress?,PONumber?,TermsRef?"
        ",DueDate?,SalesRepRef?,FOB?,ShipDate?,ShipMethodRef?,ItemSalesTaxRef?,IsManuallyClosed?,Memo?"
        ",CustomerMsgRef?,IsToBePrinted?,IsToBeEmailed?,IsTaxIncluded?,CustomerSalesTaxCodeRef?,Other?,ExchangeRate?"
        ",ExternalGUID?,SalesOrderLineAdd+"
    ),
    "SalesOrderLineAdd": (
        "ItemRef?,Desc?,Quantity?,UnitOfMeasure?,(Rate|RatePercent|PriceLevelRef)?,ClassRef?,Amount?,TaxAmount?"
        ",OptionForPriceRuleConflict?,InventorySiteRef?,InventorySiteLocationRef?,(SerialNumber|LotNumber)?"
        ",SalesTaxCodeRef?,IsManuallyClosed?,Other1?,Other2?,DataExt*"
    ),
}

_ENUMERATIONS = {
    "ActiveStatus": {"ActiveOnly", "InactiveOnly", "All"},
    "MatchCriterion": {"StartsWith", "Contains", "EndsWith"},
    "Operator": {"LessThan", "LessThanEqual", "Equal", "GreaterThan", "GreaterThanEqual"},
    "PaidStatus": {"All", "PaidOnly", "NotPaidOnly"},
    "DateMacro": DATE_MACROS,
    "JobStatus": {"Awarded", "Closed", "InProgress", "None", "NotAwarded", "Pending"},
    "PreferredDeliveryMethod": {"None", "Email", "Mail"},
}

_ATTRIBUTES = {
    "onError": {"stopOnError", "continueOnError", "rollbackOnError"},
    "responseData": {"includeAll", "includeNone"},
    "metaData": {"NoMetaData", "MetaDataOnly", "MetaDataAndResponseData"},
    "iterator": {"Start", "Continue", "Stop"},
}
_MESSAGE_SET_ATTRIBUTES = {"onError", "responseData", "newMessageSetID", "oldMessageSetID"}


def check_message_set(root: Element) -> Element:
    """Check a whole document against the grammar and return its QBXMLMsgsRq. Raises `HresultError` 0x80040400."""
    if root.tag != "QBXML" or [child.tag for child in root] != ["QBXMLMsgsRq"]:
        raise parse_error("QBXML must hold exactly one QBXMLMsgsRq")
    message_set = root[0]
    _check_attributes(message_set, _MESSAGE_SET_ATTRIBUTES)
    if "onError" not in message_set.attrib:
        raise parse_error("QBXMLMsgsRq has no onError")
    for request in message_set:
        _check_request(request)
    return message_set


def is_simulated(name: str) -> bool:
    """Tell whether the simulator answers this request; others that qbXML knows get status 1030."""
    return name in REQUESTS


def parse_error(detail: str) -> HresultError:
    """Return QuickBooks' parse error with a reason that only the simulator tells."""
    return HresultError(PARSE_ERROR, detail=detail)


def _check_request(request: Element) -> None:
    if request.tag not in REQUESTS:
        if request.tag not in REQUEST_NAMES:
            raise parse_error(f"there is no request {request.tag}")
        return
    allowed = {"requestID"}
    if request.tag in ITERABLE:
        allowed |= {"metaData", "iterator", "iteratorID"}
    _check_attributes(request, allowed)
    if request.get("iterator") in {"Continue", "Stop"} and "iteratorID" not in request.attrib:
        raise parse_error(f"{request.tag}: iterator={request.get('iterator')} needs an iteratorID")
    _check_children(request, REQUESTS[request.tag])


def _check_attributes(element: Element, allowed: set[str]) -> None:
    for name, value in element.attrib.items():
        if name not in allowed:
            raise parse_error(f"{element.tag} has no attribute {name}")
        if name in _ATTRIBUTES and value not in _ATTRIBUTES[name]:
            raise parse_error(f"{element.tag}: {name} cannot be {value!r}")


def _check_children(element: Element, model: str) -> None:
    if (element.text or "").strip() or any((child.tail or "").strip() for child in element):
        raise parse_error(f"{element.tag} holds text between its elements")
    names = "".join(f"{child.tag};" for child in element)
    if not _pattern(model).fullmatch(names):
        raise parse_error(f"{element.tag}: wrong, missing or misplaced elements: {names.replace(';', ' ').strip()}")
    for child in element:
        if child.tag != "SalesOrderAdd":  # the one element here that takes an attribute, defMacro
            _check_attributes(child, set())
        inner = _model_of(child.tag)
        if inner is not None:
            _check_children(child, inner)
        elif len(child):
            raise parse_error(f"{child.tag} holds a value, not elements")
        elif child.tag in _ENUMERATIONS and (child.text or "") not in _ENUMERATIONS[child.tag]:
            raise parse_error(f"{child.tag} cannot be {child.text!r}")


def _model_of(name: str) -> str | None:
    if name in _AGGREGATES:
        return _AGGREGATES[name]
    return "ListID?,FullName?" if name.endswith("Ref") else None


@cache
def _pattern(model: str) -> re.Pattern[str]:
    """Turn a content model into a pattern over child names, each followed by a semicolon."""
    return re.compile(re.sub(r"\w+", r"(?:\g<0>;)", model).replace(",", ""))
