"""The check against the schema: what is wrong, where, and how to mend it; all of it at once."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest

from domain.errors import InvalidRequest, Problem
from domain.qbxml import parse_request_json, parse_request_xml
from domain.qbxml.schema import facts
from tests.support.qbxml_samples import request_xml

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence


def problems_of(body: str, version: str = "13.0", **options: Any) -> tuple[Problem, ...]:
    with pytest.raises(InvalidRequest) as raised:
        parse_request_xml(request_xml(body), version, **options)
    return raised.value.problems


def problem_of(body: str, version: str = "13.0", **options: Any) -> Problem:
    (problem,) = problems_of(body, version, **options)
    return problem


def is_fine(body: str, version: str = "13.0", **options: Any) -> bool:
    return parse_request_xml(request_xml(body), version, **options) is not None


def customers(*children: str, attributes: str = "") -> str:
    return f"<CustomerQueryRq{attributes}>{''.join(children)}</CustomerQueryRq>"


def invoice(*children: str) -> str:
    customer = "<CustomerRef><FullName>Ann</FullName></CustomerRef>"
    return f"<InvoiceAddRq><InvoiceAdd>{customer}{''.join(children)}</InvoiceAdd></InvoiceAddRq>"


MAX = "<MaxReturned>5</MaxReturned>"
DATE_TIME = "a date-time, like 2026-01-31T13:30:00-08:00, without Z and without a fraction"
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
def test_what_the_schema_allows_is_accepted(body: str) -> None:
    assert is_fine(body)


def test_a_wrong_order_is_explained_by_the_neighbours() -> None:
    problem = problem_of(customers(ACTIVE, MAX))

    assert problem.message == "MaxReturned stands too late: the order of elements is fixed."
    assert problem.suggestion == "ActiveStatus comes after MaxReturned."
    assert problem.path == "CustomerQueryRq/MaxReturned"
    assert (problem.line, problem.column) == (
        1,
        len("<QBXML><QBXMLMsgsRq onError='stopOnError'>" + customers(ACTIVE)) - 17,
    )


def test_alternatives_exclude_each_other() -> None:
    problem = problem_of(customers("<ListID>8-1</ListID>", MAX))

    assert problem.message == "ListID and MaxReturned exclude each other."
    assert problem.path == "CustomerQueryRq/MaxReturned"


def test_what_stands_too_often_is_counted() -> None:
    assert problem_of(customers(MAX, MAX)).message == "MaxReturned may stand once; here it stands 2 times."


def test_a_bounded_number_is_counted() -> None:
    contact = (
        "<AdditionalContactRef><ContactName>Fax</ContactName><ContactValue>1</ContactValue></AdditionalContactRef>"
    )

    def customer(count: int) -> str:
        return f"<CustomerAddRq><CustomerAdd><Name>Ann</Name>{contact * count}</CustomerAdd></CustomerAddRq>"

    assert is_fine(customer(8))
    assert "may stand 8 times; here it stands 9 times" in problem_of(customer(9)).message


def test_what_is_missing_is_named_at_its_parent() -> None:
    problem = problem_of(customers("<NameFilter><MatchCriterion>Contains</MatchCriterion></NameFilter>"))

    assert (problem.message, problem.path) == ("NameFilter needs Name.", "CustomerQueryRq/NameFilter")


def test_a_missing_choice_names_its_alternatives() -> None:
    assert problem_of(customers("<ClassFilter></ClassFilter>")).message == (
        "ClassFilter needs one of ListID or FullName or ListIDWithChildren or FullNameWithChildren."
    )


def test_an_empty_request_that_needs_a_child_is_refused() -> None:
    assert problem_of("<CustomerAddRq/>").message == "CustomerAddRq needs CustomerAdd."


@pytest.mark.parametrize(
    ("child", "suggestion"),
    [
        ("<ActiveStatuss>All</ActiveStatuss>", "Did you mean ActiveStatus?"),
        ("<activestatus>All</activestatus>", "Did you mean ActiveStatus?"),
        ("<FromName>A</FromName>", "It belongs into NameRangeFilter."),
        ("<Xyzzy/>", None),
    ],
)
def test_an_unknown_element_is_answered_with_the_nearest_name_or_its_home(child: str, suggestion: str | None) -> None:
    problem = problem_of(customers(child))

    assert "has no child" in problem.message
    assert problem.suggestion == suggestion


def test_a_request_without_children_takes_none() -> None:
    problem = problem_of("<AccountTaxLineInfoQueryRq><MaxReturned>1</MaxReturned></AccountTaxLineInfoQueryRq>")

    assert (problem.message, problem.suggestion) == (
        "AccountTaxLineInfoQueryRq has no children.",
        "Remove MaxReturned.",
    )


def test_an_unknown_request_is_answered_with_the_nearest_names() -> None:
    problem = problem_of("<CustomersQueryRq/>")

    assert problem.message == "QBXML has no request CustomersQueryRq."
    assert "CustomerQueryRq" in (problem.suggestion or "")


def test_requests_of_another_message_set_are_named_as_such() -> None:
    assert "QBXMLSubscriptionMsgsRq" in problem_of("<DataEventSubscriptionAddRq/>").message


@pytest.mark.parametrize(
    ("child", "message", "suggestion"),
    [
        ("<MaxReturned>many</MaxReturned>", "MaxReturned is a whole number; not 'many'.", None),
        ("<MaxReturned>5.0</MaxReturned>", "MaxReturned is a whole number; not '5.0'.", "Write 5."),
        ("<MaxReturned>0</MaxReturned>", "MaxReturned is at least 1, not '0'.", None),
        (
            "<ActiveStatus>activeonly</ActiveStatus>",
            "ActiveStatus is one of ActiveOnly, InactiveOnly, All; not 'activeonly'.",
            "Did you mean ActiveOnly?",
        ),
        (
            "<FromModifiedDate>2026-01-31T13:30:00Z</FromModifiedDate>",
            f"FromModifiedDate is {DATE_TIME}; not '2026-01-31T13:30:00Z'.",
            "Write 2026-01-31T13:30:00+00:00.",
        ),
        (
            "<TotalBalanceFilter><Operator>Equal</Operator><Amount>97.5</Amount></TotalBalanceFilter>",
            "Amount is an amount with two decimals or none, like 97.50; not '97.5'.",
            "Write 97.50.",
        ),
        (
            "<IncludeRetElement>" + "x" * 51 + "</IncludeRetElement>",
            "IncludeRetElement has at most 50 characters; here are 51.",
            "Shorten it by 1.",
        ),
        ("<OwnerID>1</OwnerID>", "OwnerID is 0 or a GUID in braces; not '1'.", None),
        (f"<ListID>{'x' * 37}</ListID>", f"ListID is an id of at most 36 characters; not {'x' * 37!r}.", None),
    ],
)
def test_a_wrong_value_is_explained(child: str, message: str, suggestion: str | None) -> None:
    problem = problem_of(customers(child))

    assert (problem.message, problem.suggestion) == (message, suggestion)


def test_a_number_of_a_great_many_digits_is_a_number() -> None:
    assert is_fine(customers(f"<MaxReturned>{'9' * 5000}</MaxReturned>"))
    assert problem_of(customers(f"<MaxReturned>-{'9' * 5000}</MaxReturned>"))


def test_text_where_elements_belong_and_elements_where_text_belongs() -> None:
    first, second = problems_of(customers("<NameRangeFilter>A</NameRangeFilter>", "<OwnerID><ListID/></OwnerID>"))

    assert first.message == "NameRangeFilter holds elements, not text."
    assert second.message == "OwnerID holds text, not elements."


def test_an_empty_element_means_its_default() -> None:
    assert is_fine(customers("<ActiveStatus></ActiveStatus>"))
    assert problem_of(customers("<ActiveStatus> </ActiveStatus>"))


@pytest.mark.parametrize(
    ("attributes", "message", "suggestion"),
    [
        (' metadata="NoMetaData"', "CustomerQueryRq has no attribute metadata.", "Did you mean metaData?"),
        (' metaData="All"', "metaData is one of NoMetaData, MetaDataOnly, MetaDataAndResponseData; not 'All'.", None),
        (' iterator="start"', "iterator is one of Start, Continue, Stop; not 'start'.", "Did you mean Start?"),
        (f' requestID="{"x" * 51}"', "requestID has at most 50 characters.", None),
        (
            ' iterator="Start"',
            "An iteration needs MaxReturned: how many objects a page has.",
            "Add <MaxReturned>100</MaxReturned>.",
        ),
        (' iterator="Continue"', "iterator=Continue needs the iteratorID that QuickBooks returned.", None),
    ],
)
def test_attributes_are_checked(attributes: str, message: str, suggestion: str | None) -> None:
    problem = problem_of(customers(attributes=attributes))

    assert (problem.message, problem.suggestion) == (message, suggestion)


def test_only_some_queries_iterate() -> None:
    problem = problem_of(f'<AccountQueryRq iterator="Start">{MAX}</AccountQueryRq>')

    assert problem.message == "AccountQueryRq cannot iterate."
    assert problem.path == "AccountQueryRq/@iterator"


def test_attributes_inside_a_request_are_checked_too() -> None:
    assert is_fine('<InvoiceAddRq><InvoiceAdd defMacro="TxnID:1"><CustomerRef/></InvoiceAdd></InvoiceAddRq>')
    assert (
        problem_of(customers('<MaxReturned colour="red">1</MaxReturned>')).path == "CustomerQueryRq/MaxReturned/@colour"
    )


def test_all_problems_come_at_once_each_with_its_place() -> None:
    body = (
        "<InvoiceAddRq>\n<InvoiceAdd>\n<InvoiceLineAdd>\n<Amount>1.5</Amount>\n<Quantity>1</Quantity>\n</InvoiceLineAdd>\n"
        "<InvoiceLineAdd>\n<Amount>2.5</Amount>\n</InvoiceLineAdd>\n<Memoo/>\n</InvoiceAdd>\n</InvoiceAddRq>"
    )

    found = {(problem.path, problem.line) for problem in problems_of(body)}

    assert found == {
        ("InvoiceAddRq/InvoiceAdd", 2),
        ("InvoiceAddRq/InvoiceAdd/Memoo", 10),
        ("InvoiceAddRq/InvoiceAdd/InvoiceLineAdd[1]/Amount", 4),
        ("InvoiceAddRq/InvoiceAdd/InvoiceLineAdd[1]/Quantity", 5),
        ("InvoiceAddRq/InvoiceAdd/InvoiceLineAdd[2]/Amount", 8),
    }


@pytest.mark.parametrize(
    "child", ["<OwnerID>x</OwnerID>", "<Unknown/>", "<MaxReturned/><ActiveStatus/>", "<FullName>日</FullName>"]
)
def test_a_hundred_problems_are_enough_and_quickly_found(child: str) -> None:
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
def test_what_is_wrong_is_not_repeated_in_full(body: str) -> None:
    assert len(str(problem_of(body).as_dict())) < 500


def test_json_problems_have_pointers_to_what_was_given() -> None:
    with pytest.raises(InvalidRequest) as raised:
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

    assert [problem.path for problem in raised.value.problems] == [
        "/request/attributes/request_id",
        "/request/attributes/metaData",
        "/request/children/1/text",
        "/request/children/2",
        "/request/children/2",
        "/request/children/0/text",
    ]


def test_on_error_is_required_in_xml_as_quickbooks_does() -> None:
    with pytest.raises(InvalidRequest) as raised:
        parse_request_xml("<QBXML>\n<QBXMLMsgsRq><HostQueryRq/></QBXMLMsgsRq></QBXML>")

    (problem,) = raised.value.problems
    assert (problem.message, problem.line) == ("onError is missing.", 2)
    assert problem.suggestion == 'Write <QBXMLMsgsRq onError="stopOnError">.'


CLASS_FILTER = "<ClassFilter><FullName>a</FullName></ClassFilter>"


def test_an_element_that_came_later_than_the_requests_version_is_refused() -> None:
    problem = problem_of(customers(CLASS_FILTER), "11.0")

    assert problem.message == "ClassFilter came with QBXML 12.0; this request is written in 11.0."
    assert is_fine(customers(CLASS_FILTER), "12.0")


def test_a_request_that_came_later_than_its_version_is_refused() -> None:
    assert "came with QBXML" in problem_of(f"<TransferQueryRq>{MAX}</TransferQueryRq>", "4.0").message


@pytest.mark.parametrize(
    ("attributes", "since"),
    [
        (' iterator="Start"', "5.0"),
        (' iterator="Continue" iteratorID="{x}"', "5.0"),
        (' metaData="NoMetaData"', "4.0"),
    ],
)
def test_an_attribute_that_came_later_than_the_requests_version_is_refused(attributes: str, since: str) -> None:
    name = attributes.strip().partition("=")[0]
    before = f"{int(float(since)) - 1}.0"

    problem = problems_of(customers(MAX, attributes=attributes), before)[0]

    assert problem.message == f"{name} came with QBXML {since}; this request is written in {before}."
    assert (problem.path, problem.suggestion) == (
        f"CustomerQueryRq/@{name}",
        f"Use version {since}, if QuickBooks supports it.",
    )
    assert is_fine(customers(MAX, attributes=attributes), since)


def test_the_version_of_an_attribute_is_checked_in_json_too() -> None:
    request = {"name": "CustomerQueryRq", "attributes": {"metaData": "NoMetaData"}}

    with pytest.raises(InvalidRequest) as raised:
        parse_request_json({"version": "3.0", "request": request})

    assert [problem.path for problem in raised.value.problems] == ["/request/attributes/metaData"]


def test_a_value_that_came_later_than_the_requests_version_is_refused() -> None:
    name = "Form1099CategoryAccountMappingQueryRq"
    body = f"<{name}><MappingCategory>BOX15</MappingCategory></{name}>"

    assert problem_of(body, "13.0").message == "The value BOX15 came with QBXML 14.0."
    assert is_fine(body, "14.0")


def test_above_what_the_schema_knows_unknown_elements_pass_and_known_ones_are_checked() -> None:
    assert is_fine(customers(MAX, "<New><Newer/></New>", ACTIVE, attributes=' colour="red"'), "16.0")
    assert is_fine("<NewQueryRq><New/></NewQueryRq>", "16.0")
    assert problem_of(customers("<MaxReturned>x</MaxReturned>", "<New/>"), "16.0").path == "CustomerQueryRq/MaxReturned"
    assert problem_of(customers(ACTIVE, "<New/>", MAX), "16.0").path == "CustomerQueryRq/MaxReturned"
    assert problem_of(customers("<New/>"), "14.0").message == "CustomerQueryRq has no child New."


def test_names_may_be_longer_in_other_countries_where_their_editions_allow_it() -> None:
    tax_code = "<SalesTaxCodeRef><FullName>HST ON</FullName></SalesTaxCodeRef>"
    account = f"<Name>a</Name><AccountType>Bank</AccountType>{tax_code}"
    body = f"<AccountAddRq><AccountAdd>{account}</AccountAdd></AccountAddRq>"

    assert "at most 3 characters" in problem_of(body).message
    assert "at most 3 characters" in problem_of(body, country="US").message
    assert is_fine(body, country="CA")


def test_without_validation_the_schema_is_not_asked() -> None:
    assert is_fine(customers("<Nonsense/>"), validate=False)
    assert is_fine("<NonsenseRq/>", validate=False)


def test_without_validation_the_label_is_still_limited() -> None:
    assert problem_of(f'<HostQueryRq requestID="{"x" * 51}"/>', validate=False).path == "HostQueryRq/@requestID"


_TEXTS = {
    "AMTTYPE": "97.50",
    "BOOLTYPE": "true",
    "DATETIMETYPE": "2026-01-31T13:30:00-08:00",
    "DATETYPE": "2026-01-31",
    "FLOATTYPE": "1.25",
    "GUIDTYPE": "0",
    "IDTYPE": "8-1",
    "INTTYPE": "7",
    "MACROTYPE": "TxnID:1",
    "PERCENTTYPE": "8.25",
    "PRICETYPE": "1.5",
    "QUANTYPE": "2",
    "STRTYPE": "Ann",
    "TIMEINTERVALTYPE": "PT8H",
}


class _Maker:
    """Makes JSON requests from the facts of a type; children come in random order."""

    def __init__(self, name: str, seed: int) -> None:
        request = facts.request_facts(name)
        assert request is not None
        self._types: Sequence[Any] = request["types"]
        self._random = random.Random(seed)
        self.tree = {"version": "14.0", "request": {"name": name, "children": self._children(request["content"])}}

    def _children(self, group: Mapping[str, Any]) -> list[dict[str, Any]]:
        children = list(self._particle(group))
        names = [child["name"] for child in children]
        if len(set(names)) == len(names):
            self._random.shuffle(children)
        return children

    def _particle(self, particle: Any) -> Iterator[dict[str, Any]]:
        if isinstance(particle, list):
            name, times, kind, *more = particle
            for _ in range(self._times(times)):
                yield {"name": name, **self._value(kind, *more)}
            return
        for _ in range(self._times(particle.get("times", "1"))):
            if "choice" in particle:
                yield from self._particle(self._random.choice(particle["choice"]))
            else:
                for part in particle["sequence"]:
                    yield from self._particle(part)

    def _times(self, times: str) -> int:
        least = 0 if times == "*" or times.startswith(("?", "0")) else 1
        return self._random.randint(least, 1 if times in {"1", "?"} else 2)

    def _value(self, kind: Any, limits: Mapping[str, Any] | None = None) -> dict[str, Any]:
        limits = limits or {}
        if isinstance(kind, str):
            return {"text": str(limits.get("least", _TEXTS[kind]))[: limits.get("length")]}
        described = self._types[kind]
        if isinstance(described, dict):
            return {"children": self._children(described)}
        return {"text": self._random.choice(described)}


@pytest.mark.parametrize("name", sorted(facts.request_names()))
def test_a_valid_request_of_any_type_is_accepted_whatever_the_order_of_its_json(name: str) -> None:
    for seed in range(3):
        made = _Maker(name, seed)

        request = parse_request_json(made.tree)

        assert parse_request_xml(request.to_xml(), "14.0") == request
