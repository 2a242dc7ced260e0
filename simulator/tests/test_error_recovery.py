"""Error recovery: QuickBooks executes a message set once and keeps its response (docs/reference/qbxml-rules.md)."""

from __future__ import annotations

import pytest

from simulator.basics.errors import HresultError
from simulator.tests.support import ADD, a_company, document, recovery


def test_a_message_set_is_executed_once_and_its_response_is_repeated() -> None:
    company = a_company()
    first = recovery(company, ADD, new="A")

    again = recovery(company, f"\n{ADD}\n", new="A")
    check = recovery(company, new="A", old="A")

    assert (first.get("newMessageSetID"), first.get("messageSetStatusCode")) == ("A", "0")
    list_ids = [response.findtext("CustomerAddRs/CustomerRet/ListID") for response in (first, again, check)]
    assert len(set(list_ids)) == 1
    assert list_ids[0]
    assert [(write.name, write.message_set_id) for write in company.writes] == [("CustomerAddRq", "A")]


def test_a_status_check_of_an_unknown_message_set_is_9002_and_executes_nothing() -> None:
    company = a_company()

    for body in ("", ADD):
        response = recovery(company, body, new="A", old="A")
        assert (response.get("messageSetStatusCode"), len(response)) == ("9002", 0)
    assert company.executed == []


def test_the_same_id_with_other_content_is_9001() -> None:
    company = a_company()
    recovery(company, ADD, new="A")

    other = recovery(company, ADD.replace("Once", "Twice"), new="A")

    assert (other.get("messageSetStatusCode"), len(other)) == ("9001", 0)
    assert len(company.writes) == 1


def test_an_id_of_25_characters_is_9004() -> None:
    company = a_company()

    assert recovery(company, ADD, new="x" * 25).get("messageSetStatusCode") == "9004"
    assert recovery(company, old="x" * 25).get("messageSetStatusCode") == "9004"
    assert company.writes == []
    assert recovery(company, ADD, new="x" * 24).get("messageSetStatusCode") == "0"


def test_an_old_id_clears_its_message_set_and_600_means_that_there_was_none() -> None:
    company = a_company()
    recovery(company, ADD, new="A")

    assert recovery(company, old="A").get("messageSetStatusCode") == "0"
    nothing = company.process_request(document("", sets=' oldMessageSetID="A"'))
    assert '<QBXMLMsgsRs newMessageSetID="" messageSetStatusCode="600">\n\n</QBXMLMsgsRs>' in nothing
    assert recovery(company, new="A", old="A").get("messageSetStatusCode") == "9002"


def test_all_ids_of_an_application_are_cleared_at_once() -> None:
    company = a_company()
    recovery(company, ADD, new="A")
    recovery(company, "<HostQueryRq/>", new="B")

    recovery(company, old="CLR-ALL-MSG-SETS")

    assert recovery(company, new="A", old="A").get("messageSetStatusCode") == "9002"
    assert recovery(company, new="B", old="B").get("messageSetStatusCode") == "9002"


def test_a_new_id_with_an_old_one_clears_the_old_and_executes_the_new() -> None:
    company = a_company()
    recovery(company, ADD, new="A")

    assert recovery(company, "<HostQueryRq/>", new="B", old="A").get("messageSetStatusCode") == "0"
    assert recovery(company, new="A", old="A").get("messageSetStatusCode") == "9002"
    assert recovery(company, new="B", old="B").get("messageSetStatusCode") == "0"


def test_each_application_has_its_own_message_sets() -> None:
    company = a_company()
    recovery(company.begin_session("One"), ADD, new="A")

    assert recovery(company.begin_session("Two"), new="A", old="A").get("messageSetStatusCode") == "9002"
    assert recovery(company.begin_session("One"), new="A", old="A").get("messageSetStatusCode") == "0"


def test_a_message_set_that_cannot_be_parsed_leaves_nothing_behind() -> None:
    company = a_company()
    with pytest.raises(HresultError):
        recovery(company, "<NothingRq/>", new="A")

    assert recovery(company, new="A", old="A").get("messageSetStatusCode") == "9002"
