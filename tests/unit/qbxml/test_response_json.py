"""Responses as JSON: the schema decides about arrays and booleans."""

from __future__ import annotations

from typing import Any

import pytest

from domain.qbxml import UnreadableResponse, response_to_json
from tests.support.qbxml_samples import STATUS_OK, response_xml

OK = {"@statusCode": 0, "@statusSeverity": "Info", "@statusMessage": "Status OK"}


def response_json(body: str, name: str = "CustomerQueryRs", attributes: str = "") -> Any:
    (message_set,) = response_to_json(response_xml(f"<{name} {STATUS_OK}{attributes}>\n{body}\n</{name}>"))
    return message_set["QBXMLMsgsRs"][name]


def test_an_element_that_can_repeat_is_an_array_even_when_it_occurs_once() -> None:
    body = "<CustomerRet>\n<ListID>8-1</ListID>\n<DataExtRet>\n<OwnerID>0</OwnerID>\n</DataExtRet>\n</CustomerRet>"

    assert response_json(body) == {**OK, "CustomerRet": [{"ListID": "8-1", "DataExtRet": [{"OwnerID": "0"}]}]}


def test_an_added_object_is_not_an_array() -> None:
    assert response_json("<CustomerRet><ListID>8-1</ListID></CustomerRet>", "CustomerAddRs")["CustomerRet"] == {
        "ListID": "8-1"
    }


@pytest.mark.parametrize(("text", "value"), [("true", True), ("false", False), ("1", True), ("0", False), ("", "")])
def test_boolean_elements_are_booleans(text: str, value: object) -> None:
    assert response_json(f"<CustomerRet><IsActive>{text}</IsActive></CustomerRet>")["CustomerRet"] == [
        {"IsActive": value}
    ]


def test_every_other_leaf_is_a_string() -> None:
    body = "<CustomerRet><Sublevel>0</Sublevel><Balance>10.00</Balance><Notes> a\nb </Notes></CustomerRet>"

    assert response_json(body)["CustomerRet"] == [{"Sublevel": "0", "Balance": "10.00", "Notes": " a\nb "}]


def test_counts_are_numbers() -> None:
    attributes = ' requestID="7" retCount="3" iteratorRemainingCount="18" iteratorID="{x}"'

    assert response_json("", attributes=attributes) == {
        **OK,
        "@requestID": "7",
        "@retCount": 3,
        "@iteratorRemainingCount": 18,
        "@iteratorID": "{x}",
    }


def test_an_attribute_that_is_not_a_number_stays_text() -> None:
    assert response_json("", attributes=' retCount="many"')["@retCount"] == "many"


def test_an_unknown_element_becomes_an_array_when_it_repeats() -> None:
    body = "<CustomerRet><New>1</New><Newer>1</Newer><Newer>2</Newer><Newer>3</Newer></CustomerRet>"

    assert response_json(body)["CustomerRet"] == [{"New": "1", "Newer": ["1", "2", "3"]}]


def test_an_unknown_element_may_contain_elements() -> None:
    assert response_json("<CustomerRet><New><A>1</A></New></CustomerRet>")["CustomerRet"] == [{"New": {"A": "1"}}]


def test_unknown_responses_pass_through() -> None:
    assert response_json("<NewRet><IsNew>true</IsNew></NewRet>", "NewQueryRs")["NewRet"] == {"IsNew": "true"}


def test_empty_elements_are_empty_text_or_an_empty_object() -> None:
    assert response_json("<CustomerRet><Name/><ParentRef>\n</ParentRef></CustomerRet>")["CustomerRet"] == [
        {"Name": "", "ParentRef": {}}
    ]


def test_text_beside_attributes_is_named_text() -> None:
    body = '<ReportRet><ColDesc colID="1" dataType="STRTYPE">a</ColDesc></ReportRet>'

    assert response_json(body, "JobReportQueryRs")["ReportRet"]["ColDesc"] == [
        {"@colID": "1", "@dataType": "STRTYPE", "#text": "a"}
    ]


REPORT = """<ReportRet>
<ReportTitle>Profit &amp; Loss</ReportTitle>
<ReportData>
<TextRow rowNumber="1" value="Income"></TextRow>
<DataRow rowNumber="2">
<RowData rowType="account" value="Sales" />
<ColData colID="1" value="Sales" dataType="STRTYPE" />
<ColData colID="2" value="10.00" dataType="AMTTYPE" />
</DataRow>
<SubtotalRow rowNumber="3"><ColData colID="2" value="10.00" dataType="AMTTYPE" /></SubtotalRow>
<TextRow rowNumber="4" value="Expense"></TextRow>
<DataRow rowNumber="10"><ColData colID="2" value="4.00" dataType="AMTTYPE" /></DataRow>
<TotalRow rowNumber="11"><ColData colID="2" value="6.00" dataType="AMTTYPE" /></TotalRow>
</ReportData>
</ReportRet>"""


def test_report_rows_keep_their_number() -> None:
    rows = response_json(REPORT, "GeneralSummaryReportQueryRs")["ReportRet"]["ReportData"]

    assert rows["TextRow"] == [{"@rowNumber": 1, "@value": "Income"}, {"@rowNumber": 4, "@value": "Expense"}]
    assert rows["DataRow"][0] == {
        "@rowNumber": 2,
        "RowData": {"@rowType": "account", "@value": "Sales"},
        "ColData": [
            {"@colID": "1", "@value": "Sales", "@dataType": "STRTYPE"},
            {"@colID": "2", "@value": "10.00", "@dataType": "AMTTYPE"},
        ],
    }


def test_row_numbers_restore_the_order_of_a_report() -> None:
    by_kind = response_json(REPORT, "GeneralSummaryReportQueryRs")["ReportRet"]["ReportData"]

    rows = sorted(((row["@rowNumber"], kind) for kind, rows in by_kind.items() for row in rows))

    assert [kind for _, kind in rows] == ["TextRow", "DataRow", "SubtotalRow", "TextRow", "DataRow", "TotalRow"]


@pytest.mark.parametrize("name", ["TextRow", "DataRow", "SubtotalRow", "TotalRow"])
def test_a_single_report_row_is_an_array(name: str) -> None:
    body = f'<ReportRet><ReportData><{name} rowNumber="1"/></ReportData></ReportRet>'

    assert response_json(body, "JobReportQueryRs")["ReportRet"]["ReportData"] == {name: [{"@rowNumber": 1}]}


def test_comments_and_cdata_change_nothing() -> None:
    body = "<CustomerRet><Name>a &lt; b</Name><IsActive>true</IsActive></CustomerRet>"
    other = "<CustomerRet><Name><![CDATA[a < b]]></Name><!-- c --><IsActive>tr<!-- d -->ue</IsActive></CustomerRet>"

    assert response_json(other) == response_json(body)


def test_a_response_with_a_doctype_is_unreadable() -> None:
    with pytest.raises(UnreadableResponse, match="DOCTYPE"):
        response_to_json('<!DOCTYPE a [<!ENTITY b "c">]>' + response_xml(f"<AQueryRs {STATUS_OK}>&b;</AQueryRs>"))


def test_text_beside_elements_is_kept() -> None:
    assert response_json("<CustomerRet><New>a<A/>b<B/>c</New></CustomerRet>")["CustomerRet"] == [
        {"New": {"A": "", "B": "", "#text": "abc"}}
    ]


def test_several_responses_of_one_kind_are_an_array() -> None:
    text = response_xml(f"<AQueryRs {STATUS_OK}/><AQueryRs {STATUS_OK}/><BQueryRs {STATUS_OK}/>")

    assert response_to_json(text) == [{"QBXMLMsgsRs": {"AQueryRs": [OK, OK], "BQueryRs": OK}}]


def test_attributes_of_the_message_set_are_kept() -> None:
    assert response_to_json(response_xml("", ' messageSetStatusCode="600"')) == [
        {"QBXMLMsgsRs": {"@messageSetStatusCode": "600"}}
    ]


def test_each_message_set_is_an_object() -> None:
    text = "<QBXML><SignonMsgsRs/><QBXMLMsgsRs>\n</QBXMLMsgsRs></QBXML>"

    assert response_to_json(text) == [{"SignonMsgsRs": {}}, {"QBXMLMsgsRs": {}}]


@pytest.mark.parametrize(
    ("reference", "character"),
    [
        ("&#146;", "\u2019"),
        ("&#x92;", "\u2019"),
        ("&#128;", "\u20ac"),
        ("&#129;", "\x81"),
        ("&#125;", "}"),
        ("&#160;", "\xa0"),
    ],
)
def test_references_to_c1_controls_are_read_as_windows_1252(reference: str, character: str) -> None:
    assert response_json(f"<CustomerRet><Name>a{reference}b</Name></CustomerRet>")["CustomerRet"] == [
        {"Name": f"a{character}b"}
    ]


def test_elements_of_qbxml_16_are_read_by_its_schema() -> None:
    shipping = (
        "<ShippingDetails><ShippingDetailsLineRet><TrackingID>1</TrackingID></ShippingDetailsLineRet></ShippingDetails>"
    )
    order = response_json(f"<SalesOrderRet>{shipping}</SalesOrderRet>", "SalesOrderQueryRs")["SalesOrderRet"]
    bill = response_json("<BillRet><IsPending>true</IsPending></BillRet>", "BillAddRs")["BillRet"]

    assert order == [{"ShippingDetails": {"ShippingDetailsLineRet": [{"TrackingID": "1"}]}}]
    assert bill == {"IsPending": True}


def test_forbidden_references_become_replacement_characters() -> None:
    assert response_json("<CustomerRet><Name>a&#x1F;b</Name></CustomerRet>")["CustomerRet"] == [
        {"Name": "a\N{REPLACEMENT CHARACTER}b"}
    ]


def test_a_response_nested_too_deeply_is_unreadable() -> None:
    with pytest.raises(UnreadableResponse, match="deep"):
        response_json("<A>" * 200 + "</A>" * 200)


def test_malformed_xml_is_unreadable() -> None:
    with pytest.raises(UnreadableResponse):
        response_to_json("<QBXML>")
