"""SOAP: tolerant reading, strict writing."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.web_connector.protocol import soap
from domain.web_connector.protocol.methods import METHODS, NAMESPACE
from domain.web_connector.protocol.soap import (
    Call,
    NotACall,
    carries_response,
    escape,
    read_beginning,
    read_call,
    write_fault,
    write_reply,
)
from tests.support.cases import for_each

XSI = "http://www.w3.org/2001/XMLSchema-instance"


def envelope(content: str, version: soap.Version = soap.SOAP_11, prefix: str = "soap") -> str:
    """Return an envelope around the content of its body."""
    return (
        f'<?xml version="1.0" encoding="utf-8"?><{prefix}:Envelope xmlns:{prefix}="{version.namespace}" '
        f'xmlns:xsi="{XSI}"><{prefix}:Body>{content}</{prefix}:Body></{prefix}:Envelope>'
    )


def receive(response: str) -> str:
    """Return a receiveResponseXML call with this escaped response."""
    return envelope(
        f'<receiveResponseXML xmlns="{NAMESPACE}"><ticket>t</ticket><response>{response}</response>'
        "<hresult /><message /></receiveResponseXML>"
    )


CLOSE = f'<closeConnection xmlns="{NAMESPACE}"><ticket>t</ticket></closeConnection>'


def test_a_call_is_read_from_the_envelope_that_the_web_connector_writes() -> None:
    body = envelope(
        f'<authenticate xmlns="{NAMESPACE}"><strUserName>ann</strUserName>'
        "<strPassword>p&amp;ss&lt;word&gt;</strPassword></authenticate>"
    )

    call = read_call(body.encode())

    assert call.method == "authenticate"
    assert dict(call.parameters) == {"strUserName": "ann", "strPassword": "p&ss<word>"}
    assert call.version is soap.SOAP_11


@pytest.mark.parametrize("prefix", ["soap", "SOAP-ENV", "s", "env"])
def test_prefixes_do_not_matter(prefix: str) -> None:
    assert read_call(envelope(CLOSE, prefix=prefix))["ticket"] == "t"


def test_a_default_namespace_replaces_a_prefix() -> None:
    body = f'<Envelope xmlns="{soap.SOAP_11.namespace}"><Header><x/></Header><Body>{CLOSE}</Body></Envelope>'

    assert read_call(body).method == "closeConnection"


def test_a_soap_12_call_gets_a_soap_12_reply() -> None:
    call = read_call(envelope(CLOSE, soap.SOAP_12))

    assert call.version is soap.SOAP_12
    assert soap.SOAP_12.namespace in write_reply(call, "OK")


def test_rpc_style_with_unqualified_children_is_read() -> None:
    body = envelope(
        f'<q1:connectionError xmlns:q1="{NAMESPACE}"><ticket xsi:type="xsd:string">t</ticket>'
        '<hresult xsi:type="xsd:string">0x1</hresult></q1:connectionError>'
    )

    call = read_call(body)

    assert (call.method, call["ticket"], call["hresult"]) == ("connectionError", "t", "0x1")


@pytest.mark.parametrize(
    "message", ["", "<message/>", "<message />", "<message></message>", '<message xsi:nil="true"/>']
)
def test_missing_empty_and_nil_parameters_read_as_empty(message: str) -> None:
    body = envelope(f'<connectionError xmlns="{NAMESPACE}"><ticket>t</ticket>{message}</connectionError>')

    assert read_call(body)["message"] == ""


def test_unknown_parameters_and_elements_inside_parameters_are_ignored() -> None:
    body = envelope(
        f'<serverVersion xmlns="{NAMESPACE}"><strVersion>1<b>2</b>3</strVersion></serverVersion><other><x/></other>'
    )

    call = read_call(body)

    assert call.method == "serverVersion"
    assert call["strVersion"] == "13"


def scoped(outer: str, inner: str, name: str) -> str:
    """Return an envelope with declarations on the envelope and on the method."""
    return (
        f'<s:Envelope xmlns:s="{soap.SOAP_11.namespace}" {outer}><s:Body><{name} {inner}><ticket>t</ticket></{name}>'
        "</s:Body></s:Envelope>"
    )


OURS = f'"{NAMESPACE}"'


@pytest.mark.parametrize(
    ("outer", "inner", "name"),
    [
        (f"xmlns={OURS}", "", "closeConnection"),
        (f"xmlns:q={OURS}", "", "q:closeConnection"),
        ('xmlns="urn:x"', f"xmlns={OURS}", "closeConnection"),
        ('xmlns:q="urn:x"', f"xmlns:q={OURS}", "q:closeConnection"),
        (f'xmlns={OURS} xmlns:s2="urn:x"', 's2:a="1" xml:lang="en"', "closeConnection"),
        ("", f"xmlns:s={OURS}", "s:closeConnection"),
    ],
)
def test_a_prefix_has_the_namespace_of_its_nearest_declaration(outer: str, inner: str, name: str) -> None:
    assert read_call(scoped(outer, inner, name))["ticket"] == "t"


@pytest.mark.parametrize(
    ("outer", "inner", "name"),
    [
        (f"xmlns={OURS}", 'xmlns=""', "closeConnection"),
        (f"xmlns={OURS}", 'xmlns="urn:x"', "closeConnection"),
        (f"xmlns:q={OURS}", 'xmlns:q="urn:x"', "q:closeConnection"),
        (f"xmlns:q={OURS}", "", "closeConnection"),
        (f"xmlns={OURS}", "", "q:closeConnection"),
        (f"xmlns:q={OURS}", "", "q:r:closeConnection"),
    ],
)
def test_a_method_outside_the_namespace_is_refused(outer: str, inner: str, name: str) -> None:
    with pytest.raises(NotACall, match="does not exist in namespace"):
        read_call(scoped(outer, inner, name))


def test_a_declaration_ends_with_its_element() -> None:
    body = envelope(CLOSE).replace("<soap:Body>", f'<soap:Header xmlns:q="{NAMESPACE}"/><soap:Body>')

    with pytest.raises(NotACall, match="does not exist in namespace ''"):
        read_call(body.replace("<closeConnection xmlns", "<q:closeConnection xmlns").replace("</close", "</q:close"))


@pytest.mark.parametrize("prefix", ["xsi", "i"])
def test_nil_is_recognised_by_its_namespace(prefix: str) -> None:
    def call(attribute: str) -> str:
        return envelope(CLOSE.replace("<ticket>", f'<ticket xmlns:{prefix}="{XSI}" {attribute}>'))

    assert read_call(call(f'{prefix}:nil="true"'))["ticket"] == ""
    assert read_call(call('nil="true"'))["ticket"] == "t"
    assert read_call(call('soap:nil="true"'))["ticket"] == "t"


@pytest.mark.parametrize(
    ("element", "reason"),
    [
        (f"<a {' '.join(f'a{n}=&quot;&quot;' for n in range(101))}/>".replace("&quot;", "'"), "100 attributes"),
        (f"<{'a' * 201}/>", "200 characters"),
        (f"<a {'b' * 201}=''/>", "200 characters"),
        (f"<a xmlns:{'b' * 201}='u'/>", "200 characters"),
    ],
)
def test_names_and_attributes_have_limits(element: str, reason: str) -> None:
    with pytest.raises(NotACall, match=reason):
        read_call(receive(element))


@pytest.mark.parametrize("before", [b"\xef\xbb\xbf", b"\r\n \t", b"\xef\xbb\xbf\n"])
def test_a_byte_order_mark_and_white_space_before_the_declaration_do_not_matter(before: bytes) -> None:
    body = before + envelope(CLOSE).encode()

    assert read_call(body).method == "closeConnection"
    assert read_call(body.decode()).method == "closeConnection"


def test_utf_16_is_read_by_its_byte_order_mark() -> None:
    body = envelope(CLOSE).replace("utf-8", "utf-16").encode("utf-16")

    assert read_call(body).method == "closeConnection"


@pytest.mark.parametrize("reference", ["&#x1F;", "&#31;", "&#x0b;", "&#00012;"])
def test_a_reference_to_a_control_character_becomes_a_question_mark(reference: str) -> None:
    body = receive(f"a{reference}b&#9;&#x41;")

    assert read_call(body)["response"] == "a?b\tA"
    assert read_call(body.encode())["response"] == "a?b\tA"


BAD_BODIES = {
    "empty": b"",
    "blank": b" \n",
    "text": b"hello",
    "json": b'{"a": 1}',
    "no envelope": b"<a/>",
    "envelope of no namespace": b"<Envelope><Body/></Envelope>",
    "no body": envelope("").replace("<soap:Body></soap:Body>", "").encode(),
    "no method": envelope("").encode(),
    "method in the header only": envelope("").replace("soap:Body", "soap:Header").encode(),
    "unknown method": envelope(f'<drop xmlns="{NAMESPACE}"/>').encode(),
    "other namespace": envelope('<closeConnection xmlns="urn:x"/>').encode(),
    "no namespace": envelope("<closeConnection/>").encode(),
    "truncated": envelope(CLOSE).encode()[:-30],
    "trailing garbage": envelope(CLOSE).encode() + b"<a/>",
    "invalid bytes": b"\x00\xff\xfe\x01",
    "bad utf-8": envelope(CLOSE).encode().replace(b">t<", b">\xff<"),
    "unknown encoding": b'<?xml version="1.0" encoding="nonsense"?><a/>',
    "multi-byte encoding": b'<?xml version="1.0" encoding="shift_jis"?><a/>',
    "lone surrogate": "<a>\ud800</a>",
    "doctype": b'<!DOCTYPE a SYSTEM "file:///etc/passwd">' + envelope(CLOSE).encode()[38:],
    "entity bomb": b'<!DOCTYPE a [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]><a>&b;</a>',
    "undeclared entity": envelope(CLOSE).replace(">t<", ">&t;<").encode(),
}


@for_each("body", BAD_BODIES.values())
def test_a_body_that_is_not_a_call_is_rejected(body: bytes | str) -> None:
    with pytest.raises(NotACall) as caught:
        read_call(body)

    assert caught.value.reason.endswith(".")


@given(st.binary(max_size=200))
def test_arbitrary_bytes_raise_only_the_documented_error(body: bytes) -> None:
    with pytest.raises(NotACall):
        read_call(body)


@given(st.text(max_size=100))
def test_arbitrary_text_in_an_envelope_raises_only_the_documented_error(text: str) -> None:
    try:
        call = read_call(receive(text))
    except NotACall:
        return

    assert call.method == "receiveResponseXML"


def test_deep_or_many_elements_do_not_exhaust_the_service() -> None:
    for text in ("<a>" * 50_000 + "</a>" * 50_000, "<a/>" * 100_000, "<a>" * 33 + "</a>" * 33, "<a/>" * 1_001):
        with pytest.raises(NotACall, match="too many elements"):
            read_call(receive(text))


def test_a_call_of_6_mb_is_read_whole() -> None:
    row = "&lt;CustomerRet&gt;\n&lt;Name&gt;Ann&lt;/Name&gt;\n&lt;/CustomerRet&gt;\n"
    times = 6_000_000 // len(row)

    call = read_call(receive(row * times).encode())

    assert call["response"] == "<CustomerRet>\n<Name>Ann</Name>\n</CustomerRet>\n" * times


@given(st.text("é€\U0001f600 &<>x\n", min_size=1), st.booleans(), st.data())
def test_a_call_that_is_read_in_two_parts_is_the_same(response: str, as_bytes: bool, data: st.DataObject) -> None:
    text = receive(escape(response))
    body = text.encode() if as_bytes else text
    whole = read_call(body)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(soap, "_LAST_PART", data.draw(st.integers(1, len(body))))
        assert read_call(body) == whole


# --- writing


def test_a_reply_is_one_line_exactly_as_in_the_protocol() -> None:
    assert write_reply(Call("closeConnection"), "OK") == (
        '<?xml version="1.0" encoding="utf-8"?><soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/" '
        'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:xsd="http://www.w3.org/2001/XMLSchema">'
        '<soap:Body><closeConnectionResponse xmlns="http://developer.intuit.com/">'
        "<closeConnectionResult>OK</closeConnectionResult></closeConnectionResponse></soap:Body></soap:Envelope>"
    )


@pytest.mark.parametrize("progress", [-1, 0, 42, 100])
def test_progress_is_a_plain_integer(progress: int) -> None:
    envelope = write_reply(Call("receiveResponseXML"), progress)

    assert f"<receiveResponseXMLResult>{progress}</receiveResponseXMLResult>" in envelope


def test_authenticate_returns_an_array_of_strings() -> None:
    envelope = write_reply(Call("authenticate"), ("ticket", ""))

    assert "<authenticateResult><string>ticket</string><string></string></authenticateResult>" in envelope


def test_qbxml_is_escaped_once_more_and_never_wrapped_in_cdata() -> None:
    envelope = write_reply(Call("sendRequestXML"), '<?xml version="1.0"?>\n<QBXML a="b">&#233;</QBXML>')

    assert '&lt;?xml version="1.0"?&gt;\n&lt;QBXML a="b"&gt;&amp;#233;&lt;/QBXML&gt;' in envelope
    assert "CDATA" not in envelope


@given(st.text())
def test_every_text_that_xml_can_contain_survives_a_round_trip(text: str) -> None:
    envelope = write_reply(Call("getLastError"), text)

    result = ET.fromstring(envelope.encode()).find(f".//{{{NAMESPACE}}}getLastErrorResult")  # noqa: S314 - our own text

    allowed = [c for c in text if c in "\t\n\r" or (ord(c) >= 0x20 and not 0xD800 <= ord(c) < 0xE000)]
    assert result is not None
    assert (result.text or "") == "".join(c for c in allowed if ord(c) not in {0xFFFE, 0xFFFF})


@pytest.mark.parametrize("method", METHODS)
def test_every_reply_names_its_method_twice(method: str) -> None:
    results: dict[str, int | tuple[str, ...] | str] = {"int": 1, "ArrayOfString": ("a",), "string": "a"}
    result = results[METHODS[method].result]

    root = ET.fromstring(write_reply(Call(method), result))  # noqa: S314 - our own text

    (body,) = root
    (response,) = body
    assert response.tag == f"{{{NAMESPACE}}}{method}Response"
    assert response[0].tag == f"{{{NAMESPACE}}}{method}Result"


def test_a_fault_names_its_cause_and_reason() -> None:
    assert "<faultcode>soap:Client</faultcode><faultstring>a &lt; b</faultstring>" in write_fault("a < b")
    assert "<faultcode>soap:Server</faultcode>" in write_fault("later", ours=True)


def test_a_fault_of_soap_12_has_its_own_form() -> None:
    assert "<soap:Value>soap:Sender</soap:Value>" in write_fault("no", soap.SOAP_12)
    assert "<soap:Value>soap:Receiver</soap:Value>" in write_fault("later", soap.SOAP_12, ours=True)


# --- calls that are too large

BEGINNING = (
    '<soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Body>'
    f'<receiveResponseXML xmlns="{NAMESPACE}"><ticket>t1</ticket><response>&lt;QBXML&gt;'
)


@for_each("filling", ["x", "é", "&lt;", "\n"])
@for_each("offset", range(4))
def test_the_beginning_of_a_call_is_read_wherever_it_ends(filling: str, offset: int) -> None:
    text = BEGINNING + "." * offset + filling * 20_000

    for body in (text, text.encode()):
        call = read_beginning(body)

        assert call is not None
        assert (call.method, call["ticket"]) == ("receiveResponseXML", "t1")
        assert call["response"].startswith("<QBXML>")


@for_each("filling", range(0, 20_000, 500))
def test_whether_a_call_carries_a_response_is_known_wherever_its_method_begins(filling: int) -> None:
    before = " " * filling
    carries = before.join(("<!---->", BEGINNING)) + "." * 100_000
    other = carries.replace("receiveResponseXML", "authenticate")

    is_within = carries.index("<ticket>") <= soap._BEGINNING  # noqa: SLF001
    assert carries_response(carries) == carries_response(carries.encode()) == is_within
    assert not carries_response(other)


@pytest.mark.parametrize(
    "body", [b"x" * 50_000, "", b"<a>" * 9_000, '<!DOCTYPE a><a b="', "<soap:Envelope", "\ud800" * 20_000]
)
def test_a_beginning_that_is_not_a_call_is_none(body: str | bytes) -> None:
    assert read_beginning(body) is None
