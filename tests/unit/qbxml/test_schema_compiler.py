"""The schema compiler, tested with a small schema."""

from __future__ import annotations

import json
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from tools.qbxml_schema.__main__ import main
from tools.qbxml_schema.generate import mutate, valid
from tools.qbxml_schema.xsd import Schema

if TYPE_CHECKING:
    from pathlib import Path

XSD = """<xsd:schema xmlns:xsd="http://www.w3.org/2001/XMLSchema">
<xsd:element name="QBXMLMsgsRq"><xsd:complexType><xsd:choice minOccurs="0" maxOccurs="unbounded">
  <xsd:element name="ToyQueryRq" type="ToyQueryRqType"/>
</xsd:choice></xsd:complexType></xsd:element>
<xsd:element name="QBXMLMsgsRs"><xsd:complexType><xsd:choice minOccurs="0" maxOccurs="unbounded">
  <xsd:element name="ToyQueryRs" type="ToyQueryRsType"/>
</xsd:choice></xsd:complexType></xsd:element>
<xsd:complexType name="ToyQueryRqType">
  <xsd:sequence>
    <xsd:choice minOccurs="0">
      <xsd:element ref="ListID" maxOccurs="unbounded"/>
      <xsd:group ref="Filter"/>
    </xsd:choice>
    <xsd:element ref="Owner" minOccurs="0" maxOccurs="8"/>
  </xsd:sequence>
  <xsd:attribute name="requestID" type="STRTYPE"/>
</xsd:complexType>
<xsd:complexType name="ToyQueryRsType">
  <xsd:sequence><xsd:element ref="ToyRet" minOccurs="0" maxOccurs="unbounded"/></xsd:sequence>
  <xsd:attribute name="requestID" type="STRTYPE"/>
</xsd:complexType>
<xsd:element name="ToyRet"><xsd:complexType><xsd:sequence>
  <xsd:element ref="ListID"/>
  <xsd:element name="IsActive" type="BOOLTYPE" minOccurs="0"/>
</xsd:sequence></xsd:complexType></xsd:element>
<xsd:group name="Filter"><xsd:sequence>
  <xsd:element name="Color" minOccurs="0" default="Red"><xsd:simpleType><xsd:restriction base="ENUMTYPE">
    <xsd:enumeration value="Red"/><xsd:enumeration value="Blue"/>
  </xsd:restriction></xsd:simpleType></xsd:element>
  <xsd:element name="Size" minOccurs="0"><xsd:simpleType><xsd:restriction base="INTTYPE">
    <xsd:minInclusive value="1"/><xsd:maxInclusive value="12"/>
  </xsd:restriction></xsd:simpleType></xsd:element>
</xsd:sequence></xsd:group>
<xsd:element name="ListID" type="IDTYPE"/>
<xsd:element name="Owner"><xsd:complexType><xsd:sequence>
  <xsd:element name="Name" minOccurs="0"><xsd:simpleType><xsd:restriction base="STRTYPE">
    <xsd:maxLength value="3"/>
  </xsd:restriction></xsd:simpleType></xsd:element>
  <xsd:element name="TxnID" minOccurs="0"><xsd:complexType><xsd:simpleContent><xsd:extension base="IDTYPE">
    <xsd:attribute name="useMacro" type="MACROTYPE"/>
  </xsd:extension></xsd:simpleContent></xsd:complexType></xsd:element>
</xsd:sequence></xsd:complexType></xsd:element>
</xsd:schema>"""

SAMPLE = """<?xml version="1.0" ?>
<QBXML>
  <QBXMLMsgsRq onError = "ENUMTYPE">
    <ToyQueryRq requestID = "UUIDTYPE">                     <!-- v2.1 -->
      <ListID>IDTYPE</ListID>                               <!-- rep (1 or more) -->
      <!-- OR -->
      <!-- Color may have one of the following values: Red [DEFAULT], Blue, Green -->
      <Color>ENUMTYPE</Color>                               <!-- opt -->
      <Size>INTTYPE</Size>                                  <!-- opt, min value = 1 -->
      <Owner>                                               <!-- opt, may rep, v10.0 -->
        <Name>STRTYPE</Name>   <!-- opt, max length = 3 for QBD, max length = 6 for QBCA, max length = 99 for QBOE -->
        <Title>STRTYPE</Title>                              <!-- opt -->
        <TxnID>IDTYPE</TxnID>                               <!-- opt -->
      </Owner>
    </ToyQueryRq>
  </QBXMLMsgsRq>
  <QBXMLMsgsRs>
    <ToyQueryRs requestID = "UUIDTYPE">                     <!-- v2.1 -->
      <ToyRet>                                              <!-- opt, may rep -->
        <ListID>IDTYPE</ListID>
        <IsActive>BOOLTYPE</IsActive>                       <!-- opt -->
      </ToyRet>
    </ToyQueryRs>
  </QBXMLMsgsRs>
</QBXML>
"""


@pytest.fixture
def output_folder(tmp_path: Path) -> Path:
    (tmp_path / "toy.xsd").write_text(XSD)
    (tmp_path / "sample.xml").write_text(SAMPLE)
    main(["--xsd", str(tmp_path), "--annotations", str(tmp_path / "sample.xml"), "--output", str(tmp_path / "out")])
    return tmp_path / "out"


def read(path: Path) -> Any:
    return json.loads(path.read_text())


def test_a_request_has_order_choices_occurrences_types_and_limits(output_folder: Path) -> None:
    request = read(output_folder / "requests" / "ToyQueryRq.json")

    assert request["since"] == "2.1"
    assert request["attributes"] == {"requestID": "STRTYPE"}
    filters, owner = request["content"]["sequence"]
    assert filters["times"] == "?"
    assert filters["choice"][0] == ["ListID", "+", "IDTYPE"]
    assert filters["choice"][1]["sequence"][1] == ["Size", "?", "INTTYPE", {"least": 1, "most": 12}]
    assert owner[:2] == ["Owner", "0..8"]
    assert owner[3] == {"since": "10.0"}


def test_additions_of_the_later_document_are_merged_with_their_version(output_folder: Path) -> None:
    request = read(output_folder / "requests" / "ToyQueryRq.json")

    color = request["content"]["sequence"][0]["choice"][1]["sequence"][0]
    assert color == ["Color", "?", 0, {"default": "Red", "added": {"Green": "14.0"}}]
    assert request["types"][0] == ["Red", "Blue", "Green"]
    name, title, txn_id = request["types"][request["content"]["sequence"][1][2]]["sequence"]
    assert name == ["Name", "?", "STRTYPE", {"length": 3, "length_abroad": 6}]
    assert title == ["Title", "?", "STRTYPE", {"since": "14.0"}]
    assert txn_id == ["TxnID", "?", "IDTYPE", {"attributes": {"useMacro": "MACROTYPE"}}]


def test_the_facts_of_a_response_mark_arrays_and_booleans(output_folder: Path) -> None:
    assert read(output_folder / "responses" / "ToyQueryRs.json") == {"ToyRet": [{"ListID": 0, "IsActive": 1}]}


def test_the_versions_of_returned_elements_are_listed(output_folder: Path) -> None:
    assert read(output_folder / "returned_since.json") == {}


def test_the_types_of_returned_elements_are_listed_by_name(output_folder: Path) -> None:
    types = {"values": {"ListID": "IDTYPE", "IsActive": "BOOLTYPE"}, "attributes": {}}
    assert read(output_folder / "returned_types.json") == types


def test_an_element_with_two_types_in_responses_is_refused(tmp_path: Path) -> None:
    list_id = '<xsd:element ref="ListID"/>'
    amount = f'{list_id}<xsd:element name="Inner"><xsd:complexType><xsd:sequence>'
    amount += '<xsd:element name="ListID" type="AMTTYPE"/></xsd:sequence></xsd:complexType></xsd:element>'
    (tmp_path / "toy.xsd").write_text(XSD.replace(f"{list_id}\n", f"{amount}\n"))
    (tmp_path / "sample.xml").write_text(SAMPLE)

    with pytest.raises(ValueError, match="ListID has two types in responses"):
        main(["--xsd", str(tmp_path), "--annotations", str(tmp_path / "sample.xml"), "--output", str(tmp_path / "out")])


def test_the_index_lists_the_requests(output_folder: Path) -> None:
    assert read(output_folder / "index.json") == ["ToyQueryRq"]


def test_generated_requests_are_valid_until_they_are_mutated(tmp_path: Path) -> None:
    (tmp_path / "toy.xsd").write_text(XSD)
    (request,) = Schema([tmp_path / "toy.xsd"]).members("QBXMLMsgsRq")
    random = Random(1)

    for _ in range(200):
        node = valid(request, random)
        assert {child.name for child in node.children} <= {"ListID", "Color", "Size", "Owner"}
        mutate(node, request, random)
        assert node.write().startswith("<ToyQueryRq")
