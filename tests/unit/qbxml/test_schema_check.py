"""The schema check reports every problem with its location and a suggestion."""

from __future__ import annotations

from typing import Any

import pytest

from domain.errors import InvalidRequest, Problem
from domain.qbxml import parse_request_json, parse_request_xml
from tests.support.qbxml_samples import request_xml


def problems_of(body: str, version: str = "13.0", **options: Any) -> tuple[Problem, ...]:
    with pytest.raises(InvalidRequest) as caught:
        parse_request_xml(request_xml(body), version, **options)
    return caught.value.problems


def problem_of(body: str, version: str = "13.0", **options: Any) -> Problem:
    (problem,) = problems_of(body, version, **options)
    return problem


def is_valid(body: str, version: str = "13.0", **options: Any) -> bool:
    return parse_request_xml(request_xml(body), version, **options) is not None


def customers(*children: str, attributes: str = "") -> str:
    return f"<CustomerQueryRq{attributes}>{''.join(children)}</CustomerQueryRq>"


def invoice(*children: str) -> str:
    customer = "<CustomerRef><FullName>Ann</FullName></CustomerRef>"
    return f"<InvoiceAddRq><InvoiceAdd>{customer}{''.join(children)}</InvoiceAdd></InvoiceAddRq>"


MAX = "<MaxReturned>5</MaxReturned>"
DATE_TIME = "a date-time without Z and without a fraction, such as 2026-01-31T13:30:00-08:00"
ACTIVE = "<ActiveStatus>All</ActiveStatus>"


@pytest.mark.parametrize(
    "body",
    [
        "<HostQueryRq/>",
        "<AccountTaxLineInfoQueryRq>\n</AccountTaxLineInfoQueryRq>",
        customers(),
        customers(MAX, ACTIVE, "<OwnerID>0</OwnerID>"),
        customers("<ListID>8-1</ListID>", "<ListID>8-2</ListID>"),
        customers(MAX, "<NameFilter><MatchCriterion>Contains</MatchCriterion><Name>a</Name></NameFilter>"),
        customers(MAX, attributes=' requestID="1" iterator="Start"'),
        customers(MAX, attributes=' iterator="Continue" iteratorID="{x}"'),
        invoice("<InvoiceLineAdd><Quantity>1</Quantity><Amount>97.50</Amount></InvoiceLineAdd>"),
        invoice("<InvoiceLineAdd/>", "<InvoiceLineGroupAdd><ItemGroupRef/></InvoiceLineGroupAdd>", "<InvoiceLineAdd/>"),
    ],
)
def test_valid_requests_are_accepted(body: str) -> None:
    assert is_valid(body)


def test_a_wrong_order_is_explained_by_a_neighbor() -> None:
    problem = problem_of(customers(ACTIVE, MAX))

    assert problem.message == "MaxReturned is out of order. QBXML fixes the order of elements."
    assert problem.suggestion == "Move MaxReturned before ActiveStatus."
    assert problem.path == "CustomerQueryRq/MaxReturned"
    assert (problem.line, problem.column) == (
        1,
        len("<QBXML><QBXMLMsgsRq onError='stopOnError'>" + customers(ACTIVE)) - 17,
    )


def test_alternatives_cannot_be_combined() -> None:
    problem = problem_of(customers("<ListID>8-1</ListID>", MAX))

    assert problem.message == "ListID and MaxReturned cannot be combined."
    assert problem.path == "CustomerQueryRq/MaxReturned"


def test_an_element_that_occurs_too_often_is_counted() -> None:
    assert problem_of(customers(MAX, MAX)).message == "MaxReturned may occur once; it occurs 2 times."


def test_a_maximum_number_of_occurrences_is_checked() -> None:
    contact = (
        "<AdditionalContactRef><ContactName>Fax</ContactName><ContactValue>1</ContactValue></AdditionalContactRef>"
    )

    def customer(count: int) -> str:
        return f"<CustomerAddRq><CustomerAdd><Name>Ann</Name>{contact * count}</CustomerAdd></CustomerAddRq>"

    assert is_valid(customer(8))
    assert "may occur 8 times; it occurs 9 times" in problem_of(customer(9)).message


def test_a_missing_element_is_reported_at_its_parent() -> None:
    problem = problem_of(customers("<NameFilter><MatchCriterion>Contains</MatchCriterion></NameFilter>"))

    assert (problem.message, problem.path) == ("NameFilter requires Name.", "CustomerQueryRq/NameFilter")


def test_a_missing_choice_lists_its_alternatives() -> None:
    assert problem_of(customers("<ClassFilter></ClassFilter>")).message == (
        "ClassFilter requires one of ListID, FullName, ListIDWithChildren, FullNameWithChildren."
    )


def test_an_empty_request_that_requires_a_child_is_rejected() -> None:
    assert problem_of("<CustomerAddRq/>").message == "CustomerAddRq requires CustomerAdd."


@pytest.mark.parametrize(
    ("child", "suggestion"),
    [
        ("<ActiveStatuss>All</ActiveStatuss>", "Did you mean ActiveStatus?"),
        ("<activestatus>All</activestatus>", "Did you mean ActiveStatus?"),
        ("<FromName>A</FromName>", "It belongs in NameRangeFilter."),
        ("<Xyzzy/>", None),
    ],
)
def test_an_unknown_element_has_a_similar_name_or_its_parent_as_suggestion(child: str, suggestion: str | None) -> None:
    problem = problem_of(customers(child))

    assert "is not an element of CustomerQueryRq" in problem.message
    assert problem.suggestion == suggestion


def test_a_request_that_must_be_empty_rejects_children() -> None:
    problem = problem_of("<AccountTaxLineInfoQueryRq><MaxReturned>1</MaxReturned></AccountTaxLineInfoQueryRq>")

    assert (problem.message, problem.suggestion) == (
        "AccountTaxLineInfoQueryRq must be empty.",
        "Remove MaxReturned.",
    )


def test_an_unknown_request_has_similar_names_as_suggestion() -> None:
    problem = problem_of("<CustomersQueryRq/>")

    assert problem.message == "QBXML has no request CustomersQueryRq."
    assert "CustomerQueryRq" in (problem.suggestion or "")


def test_subscription_requests_are_rejected_with_their_message_set() -> None:
    assert "QBXMLSubscriptionMsgsRq" in problem_of("<DataEventSubscriptionAddRq/>").message


@pytest.mark.parametrize(
    ("child", "message", "suggestion"),
    [
        (
            "<MaxReturned>many</MaxReturned>",
            "MaxReturned must be a whole number of at most 18 digits, not 'many'.",
            None,
        ),
        (
            "<MaxReturned>5.0</MaxReturned>",
            "MaxReturned must be a whole number of at most 18 digits, not '5.0'.",
            "Write 5.",
        ),
        ("<MaxReturned>0</MaxReturned>", "MaxReturned must be at least 1, not '0'.", None),
        (
            "<ActiveStatus>activeonly</ActiveStatus>",
            "ActiveStatus must be one of ActiveOnly, InactiveOnly, All, not 'activeonly'.",
            "Did you mean ActiveOnly?",
        ),
        (
            "<FromModifiedDate>2026-01-31T13:30:00Z</FromModifiedDate>",
            f"FromModifiedDate must be {DATE_TIME}, not '2026-01-31T13:30:00Z'.",
            "Write 2026-01-31T13:30:00+00:00.",
        ),
        (
            "<TotalBalanceFilter><Operator>Equal</Operator><Amount>97.5</Amount></TotalBalanceFilter>",
            "Amount must be an amount with up to 13 digits, and two decimals or none, such as 97.50, not '97.5'.",
            "Write 97.50.",
        ),
        (
            "<IncludeRetElement>" + "x" * 51 + "</IncludeRetElement>",
            "IncludeRetElement has 51 characters; at most 50 are allowed.",
            "Shorten it by 1.",
        ),
        ("<OwnerID>1</OwnerID>", "OwnerID must be 0 or a GUID in braces, not '1'.", None),
        (f"<ListID>{'x' * 37}</ListID>", f"ListID must be an ID of at most 36 characters, not {'x' * 37!r}.", None),
    ],
)
def test_a_wrong_value_is_explained(child: str, message: str, suggestion: str | None) -> None:
    problem = problem_of(customers(child))

    assert (problem.message, problem.suggestion) == (message, suggestion)


def test_whole_numbers_have_at_most_18_digits() -> None:
    assert is_valid(customers(f"<MaxReturned>{'9' * 18}</MaxReturned>"))

    for digits, figure in ((19, "19"), (5000, "5,000")):
        message = problem_of(customers(f"<MaxReturned>{'9' * digits}</MaxReturned>")).message
        assert message == f"MaxReturned has {figure} digits; at most 18 are allowed."


def test_text_in_place_of_elements_and_the_reverse_are_rejected() -> None:
    first, second = problems_of(customers("<NameRangeFilter>A</NameRangeFilter>", "<OwnerID><ListID/></OwnerID>"))

    assert first.message == "NameRangeFilter must contain elements, not text."
    assert second.message == "OwnerID must contain text, not elements."


def test_an_empty_element_means_its_default() -> None:
    assert is_valid(customers("<ActiveStatus></ActiveStatus>"))
    assert problem_of(customers("<ActiveStatus> </ActiveStatus>"))


@pytest.mark.parametrize(
    ("attributes", "message", "suggestion"),
    [
        (' metadata="NoMetaData"', "CustomerQueryRq has no attribute metadata.", "Did you mean metaData?"),
        (
            ' metaData="All"',
            "metaData must be one of NoMetaData, MetaDataOnly, MetaDataAndResponseData, not 'All'.",
            None,
        ),
        (' iterator="start"', "iterator must be one of Start, Continue, Stop, not 'start'.", "Did you mean Start?"),
        (f' requestID="{"x" * 51}"', "requestID has 51 characters; at most 50 are allowed.", None),
        (
            ' iterator="Start"',
            "An iterator requires MaxReturned, the number of objects in a page.",
            "Add <MaxReturned>100</MaxReturned>.",
        ),
        (' iterator="Continue"', "iterator=Continue requires the iteratorID that QuickBooks returned.", None),
    ],
)
def test_attributes_are_checked(attributes: str, message: str, suggestion: str | None) -> None:
    problem = problem_of(customers(attributes=attributes))

    assert (problem.message, problem.suggestion) == (message, suggestion)


def test_only_some_queries_support_iterators() -> None:
    problem = problem_of(f'<AccountQueryRq iterator="Start">{MAX}</AccountQueryRq>')

    assert problem.message == "AccountQueryRq does not support iterators."
    assert problem.path == "AccountQueryRq/@iterator"


def test_attributes_of_nested_elements_are_checked() -> None:
    assert is_valid('<InvoiceAddRq><InvoiceAdd defMacro="TxnID:1"><CustomerRef/></InvoiceAdd></InvoiceAddRq>')
    assert (
        problem_of(customers('<MaxReturned colour="red">1</MaxReturned>')).path == "CustomerQueryRq/MaxReturned/@colour"
    )


def test_all_problems_are_reported_at_once_with_their_location() -> None:
    body = (
        "<InvoiceAddRq>\n<InvoiceAdd>\n<InvoiceLineAdd>\n<Amount>1.5</Amount>\n<Quantity>1</Quantity>\n</InvoiceLineAdd>\n"
        "<InvoiceLineAdd>\n<Amount>2.5</Amount>\n</InvoiceLineAdd>\n<Memoo/>\n</InvoiceAdd>\n</InvoiceAddRq>"
    )

    locations = {(problem.path, problem.line) for problem in problems_of(body)}

    assert locations == {
        ("InvoiceAddRq/InvoiceAdd", 2),
        ("InvoiceAddRq/InvoiceAdd/Memoo", 10),
        ("InvoiceAddRq/InvoiceAdd/InvoiceLineAdd[1]/Amount", 4),
        ("InvoiceAddRq/InvoiceAdd/InvoiceLineAdd[1]/Quantity", 5),
        ("InvoiceAddRq/InvoiceAdd/InvoiceLineAdd[2]/Amount", 8),
    }


@pytest.mark.parametrize(
    "child", ["<OwnerID>x</OwnerID>", "<Unknown/>", "<MaxReturned/><ActiveStatus/>", "<FullName>日</FullName>"]
)
def test_at_most_100_problems_are_reported(child: str) -> None:
    assert len(problems_of(customers(child * 20_000))) == 100


@pytest.mark.parametrize(
    "body",
    [
        f"<{'X' * 5000}Rq/>",
        customers(f"<{'X' * 5000}/>"),
        customers(f"<ActiveStatus>{'X' * 5000}</ActiveStatus>"),
        customers(f"<MaxReturned>-{'1' * 5000}</MaxReturned>"),
        customers(f"<FullName>{'Ł' * 5000}</FullName>"),
        customers(attributes=f' iterator="{"X" * 5000}"'),
        customers(f"text {'x' * 5000}", MAX),
        invoice(f"<Memo>{'x' * 5000}</Memo>"),
    ],
)
def test_problems_shorten_long_texts(body: str) -> None:
    assert len(str(problem_of(body).as_dict())) < 500


def test_json_problems_have_pointers_into_the_original_tree() -> None:
    with pytest.raises(InvalidRequest) as caught:
        parse_request_json(
            {
                "request": {
                    "name": "CustomerQueryRq",
                    "attributes": {"request_id": "x" * 51, "metaData": "x"},
                    "children": [
                        {"name": "OwnerID", "text": "x"},
                        {"name": "MaxReturned", "text": "x"},
                        {"name": "NameFilter"},
                    ],
                }
            }
        )

    assert [problem.path for problem in caught.value.problems] == [
        "/request/attributes/request_id",
        "/request/attributes/metaData",
        "/request/children/1/text",
        "/request/children/2",
        "/request/children/2",
        "/request/children/0/text",
    ]


def test_on_error_is_required_in_xml() -> None:
    with pytest.raises(InvalidRequest) as caught:
        parse_request_xml("<QBXML>\n<QBXMLMsgsRq><HostQueryRq/></QBXMLMsgsRq></QBXML>")

    (problem,) = caught.value.problems
    assert (problem.message, problem.line) == ("onError is missing.", 2)
    assert problem.suggestion == 'Write <QBXMLMsgsRq onError="stopOnError">.'


CLASS_FILTER = "<ClassFilter><FullName>a</FullName></ClassFilter>"


def test_an_element_of_a_later_version_is_rejected() -> None:
    problem = problem_of(customers(CLASS_FILTER), "11.0")

    assert problem.message == "ClassFilter requires QBXML 12.0; this request uses 11.0."
    assert is_valid(customers(CLASS_FILTER), "12.0")


def test_a_request_of_a_later_version_is_rejected() -> None:
    assert "requires QBXML" in problem_of(f"<TransferQueryRq>{MAX}</TransferQueryRq>", "4.0").message


@pytest.mark.parametrize(
    ("attributes", "since"),
    [
        (' iterator="Start"', "5.0"),
        (' iterator="Continue" iteratorID="{x}"', "5.0"),
        (' metaData="NoMetaData"', "4.0"),
    ],
)
def test_an_attribute_of_a_later_version_is_rejected(attributes: str, since: str) -> None:
    name = attributes.strip().partition("=")[0]
    before = f"{int(float(since)) - 1}.0"

    problem = problems_of(customers(MAX, attributes=attributes), before)[0]

    assert problem.message == f"{name} requires QBXML {since}; this request uses {before}."
    assert (problem.path, problem.suggestion) == (
        f"CustomerQueryRq/@{name}",
        f"Use version {since} if QuickBooks supports it.",
    )
    assert is_valid(customers(MAX, attributes=attributes), since)


def test_the_version_of_an_attribute_is_checked_in_json_too() -> None:
    request = {"name": "CustomerQueryRq", "attributes": {"metaData": "NoMetaData"}}

    with pytest.raises(InvalidRequest) as caught:
        parse_request_json({"version": "3.0", "request": request})

    assert [problem.path for problem in caught.value.problems] == ["/request/attributes/metaData"]


def test_a_value_of_a_later_version_is_rejected() -> None:
    name = "Form1099CategoryAccountMappingQueryRq"
    body = f"<{name}><MappingCategory>BOX15</MappingCategory></{name}>"

    assert problem_of(body, "13.0").message == "The value BOX15 requires QBXML 14.0; this request uses 13.0."
    assert is_valid(body, "14.0")


def test_in_a_newer_version_unknown_elements_pass_and_known_ones_are_checked() -> None:
    assert is_valid(customers(MAX, "<New><Newer/></New>", ACTIVE, attributes=' colour="red"'), "16.0")
    assert is_valid("<NewQueryRq><New/></NewQueryRq>", "17.0")
    assert problem_of(customers("<MaxReturned>x</MaxReturned>", "<New/>"), "16.0").path == "CustomerQueryRq/MaxReturned"
    assert problem_of(customers(ACTIVE, "<New/>", MAX), "16.0").path == "CustomerQueryRq/MaxReturned"
    assert problem_of(customers("<New/>"), "14.0").message == "New is not an element of CustomerQueryRq."


@pytest.mark.parametrize("version", ["15.0", "16.0", "17.0"])
@pytest.mark.parametrize(
    ("body", "message", "suggestion"),
    [
        (customers("<MaxReturnd>5</MaxReturnd>"), "MaxReturnd is not an element of", "Did you mean MaxReturned?"),
        (customers(attributes=' metadata="NoMetaData"'), "has no attribute metadata", "Did you mean metaData?"),
        ("<CustomersQueryRq/>", "no request CustomersQueryRq", "CustomerQueryRq"),
    ],
)
def test_in_a_newer_version_a_name_that_resembles_a_known_one_is_rejected(
    body: str, version: str, message: str, suggestion: str
) -> None:
    problem = problem_of(body, version)

    assert message in problem.message
    assert suggestion in (problem.suggestion or "")


@pytest.mark.parametrize("version", ["13.0", "15.0", "16.0"])
def test_an_unknown_request_is_rejected_up_to_16(version: str) -> None:
    assert problem_of("<FooQueryRq/>", version).message == "QBXML has no request FooQueryRq."


def test_a_value_of_16_is_accepted_there_only() -> None:
    body = "<TxnDeletedQueryRq><TxnDelType>PayrollPriorPayment</TxnDelType></TxnDeletedQueryRq>"

    assert is_valid(body, "16.0")
    assert "requires QBXML 16.0" in problem_of(body, "15.0").message


@pytest.mark.parametrize("version", ["99.0", "17.1", "13.5", "0.9", "XX3.0", "CA99.0", "18.0"])
def test_a_version_that_does_not_exist_is_rejected(version: str) -> None:
    problem = problem_of("<HostQueryRq/>", version)

    assert (problem.message, problem.suggestion) == (
        f"QBXML {version} does not exist.",
        "Use a version from 1.0 to 17.0.",
    )
    with pytest.raises(InvalidRequest) as caught:
        parse_request_json({"version": version, "request": {"name": "HostQueryRq"}})
    assert [problem.path for problem in caught.value.problems] == ["/version"]


@pytest.mark.parametrize("version", ["CA2.0", "CA3.0", "UK3.0"])
def test_an_edition_with_its_own_schema_is_checked_for_well_formedness_only(version: str) -> None:
    assert is_valid(customers("<Province/>", attributes=' iterator="Start"'), version)
    assert problem_of(f'<HostQueryRq requestID="{"x" * 51}"/>', version).path == "HostQueryRq/@requestID"
    assert problem_of(customers("<FullName>\u65e5</FullName>"), version).path == "CustomerQueryRq/FullName"


def test_a_macro_that_the_request_does_not_define_is_rejected() -> None:
    problem = problem_of(
        "<DataExtAddRq><DataExtAdd><OwnerID>0</OwnerID><DataExtName>a</DataExtName><TxnDataExtType>Invoice"
        '</TxnDataExtType><TxnID useMacro="TxnID:1"/><DataExtValue>7</DataExtValue></DataExtAdd></DataExtAddRq>'
    )

    assert problem.message == "No element defines the macro 'TxnID:1', and each request is sent on its own."
    assert problem.path == "DataExtAddRq/DataExtAdd/TxnID/@useMacro"


def test_editions_outside_the_us_allow_longer_texts() -> None:
    tax_code = "<SalesTaxCodeRef><FullName>HST ON</FullName></SalesTaxCodeRef>"
    account = f"<Name>a</Name><AccountType>Bank</AccountType>{tax_code}"
    body = f"<AccountAddRq><AccountAdd>{account}</AccountAdd></AccountAddRq>"

    assert "at most 3 are allowed" in problem_of(body).message
    assert "at most 3 are allowed" in problem_of(body, country="US").message
    assert is_valid(body, country="CA")


def test_without_validation_the_schema_is_not_checked() -> None:
    assert is_valid(customers("<Nonsense/>"), validate=False)
    assert is_valid("<NonsenseRq/>", validate=False)


def test_without_validation_the_label_is_still_limited() -> None:
    assert problem_of(f'<HostQueryRq requestID="{"x" * 51}"/>', validate=False).path == "HostQueryRq/@requestID"
