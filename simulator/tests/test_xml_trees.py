"""XML is read without DTDs and without processing namespaces."""

from __future__ import annotations

import pytest
from defusedxml.common import DefusedXmlException

from simulator.basics.xml_trees import XML_ERRORS, Scope, read_tree
from simulator.web_connector.soap import ENVELOPE_NAMESPACE, NAMESPACE, read_int, read_strings


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_a_dtd_is_refused_in_every_encoding(encoding: str) -> None:
    with pytest.raises(DefusedXmlException):
        read_tree('<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'.encode(encoding))


@pytest.mark.parametrize("text", ["", "<a>", "<a>&b;</a>", "<a b='' b=''/>", '<?xml version="1.0" encoding="x"?><a/>'])
def test_malformed_xml_raises_a_documented_error(text: str) -> None:
    with pytest.raises(XML_ERRORS):
        read_tree(text.encode())


def test_the_tree_grows_only_with_the_text() -> None:
    uri = "u" * 100_000
    attributes = "".join(f" p:a{number}=''" for number in range(5_000))

    root = read_tree(f"<a xmlns:p='{uri}'{attributes}><p:b/></a>")

    assert sum(map(len, [*root.attrib, *(child.tag for child in root)])) < len(attributes)


@pytest.mark.parametrize(
    ("outer", "inner", "prefix"),
    [("", f'xmlns="{NAMESPACE}"', ""), (f'xmlns:q="{NAMESPACE}"', "", "q:"), ('xmlns="x"', f'xmlns="{NAMESPACE}"', "")],
)
def test_a_reply_is_read_with_any_prefix(outer: str, inner: str, prefix: str) -> None:
    def reply(method: str, content: str) -> bytes:
        element = f"<{prefix}{method}Response {inner}><{prefix}{method}Result>{content}</{prefix}{method}Result>"
        body = f"<e:Body>{element}</{prefix}{method}Response></e:Body>"
        return f'<e:Envelope xmlns:e="{ENVELOPE_NAMESPACE}" {outer}>{body}</e:Envelope>'.encode()

    strings = f"<{prefix}string>a</{prefix}string><other xmlns='x'>b</other>"

    assert read_int("receiveResponseXML", 200, reply("receiveResponseXML", "42")) == 42
    assert read_strings("authenticate", 200, reply("authenticate", strings)) == ["a"]


def test_an_attribute_without_a_prefix_has_no_namespace() -> None:
    element = Scope(read_tree("<a xmlns='u' xmlns:p='u' b='1' p:c='2'/>"))

    assert element.attribute("u", "b") is None
    assert element.attribute("u", "c") == "2"
    assert element.is_named("u", "a")
