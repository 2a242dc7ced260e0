"""SOAP envelopes: reads the Web Connector's calls and writes our replies.

Reading is tolerant, and writing is strict (docs/reference/web-connector-protocol.md, Request envelopes). The parser
does not process namespaces, because a small body could then take gigabytes
(docs/decisions/0043-xml-without-namespaces.md). The reader resolves the prefixes of the few names that matter.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any
from xml.parsers.expat import ExpatError

from defusedxml.common import DefusedXmlException

from domain.qbxml.xml.parser import declares_namespace, defused_parser
from domain.web_connector.protocol.methods import METHODS, NAMESPACE, Type

if TYPE_CHECKING:
    from collections.abc import Mapping

    from domain.web_connector.protocol.methods import Result

MAX_BODY_BYTES = 6 * 1024 * 1024
"""Lambda accepts at most 6 MB in a synchronous call."""

MAX_SMALL_BODY_BYTES = 64 * 1024
"""Maximum size in bytes of a call without a response. Anyone can send calls. Larger ones are not parsed."""

_CARRY_RESPONSES = frozenset({"sendRequestXML", "receiveResponseXML"})
"""The methods with a QuickBooks response as a parameter. Their calls may have up to MAX_BODY_BYTES."""

_MAX_DEPTH = 32
MAX_ELEMENTS = 1_000
"""Maximum number of elements in an envelope. A call has ten, at a depth of four: QBXML is text in a parameter."""

MAX_ATTRIBUTES = 100
MAX_NAME_CHARACTERS = 200
"""Maximum number of attributes of an element, and maximum length of a name with its prefix. Clients declare about five
namespaces, and the longest name that they use has 30 characters."""

_BEGINNING = 16 * 1024
"""The part of a large envelope that is read first. It has the method, the ticket and the response's first tags."""

_METHOD_WITHIN = 2 * 1024
"""The part that nearly always has the method."""

_BUFFER_BYTES = 64 * 1024
"""Size of the text that expat collects before it calls us. Escaped QBXML arrives in many small pieces."""

_LAST_PART = 1024 * 1024
"""The end of a body that is parsed at once. Python divides a longer text, and expat counts the lines of each part but
the last, so the longest part comes last."""


@dataclass(frozen=True, slots=True)
class Version:
    """A SOAP version, with the namespace of the envelope and the content type of replies."""

    namespace: str
    content_type: str


SOAP_11 = Version("http://schemas.xmlsoap.org/soap/envelope/", "text/xml; charset=utf-8")
SOAP_12 = Version("http://www.w3.org/2003/05/soap-envelope", "application/soap+xml; charset=utf-8")

_ENVELOPES = {(version.namespace, "Envelope"): version for version in (SOAP_11, SOAP_12)}
_NIL = ("http://www.w3.org/2001/XMLSchema-instance", "nil")


class NotACall(Exception):
    """The body is not a call of a Web Connector method. The fault is sent in `version`."""

    def __init__(self, reason: str, version: Version = SOAP_11) -> None:
        super().__init__(reason)
        self.reason = reason
        self.version = version


@dataclass(frozen=True, slots=True)
class Call:
    """A method and its parameters by local name. A missing, empty or nil parameter is ''.

    If `is_beginning` is true, the call is too large, and only its beginning was read. `address` is the IP address of
    the caller, or None if it is not known.
    """

    method: str
    parameters: Mapping[str, str] = field(default_factory=dict)
    version: Version = SOAP_11
    is_beginning: bool = False
    address: str | None = None

    def __getitem__(self, name: str) -> str:
        """Return a parameter's text."""
        return self.parameters.get(name, "")


# --- reading


def read_call(body: bytes | str) -> Call:
    """Return the call in an envelope of SOAP 1.1 or 1.2, in document or RPC style.

    Envelope, body and method are recognised by namespace and local name, parameters by local name alone, because RPC
    style leaves them unqualified. Raises NotACall.
    """
    trimmed = _trimmed(body)
    if not trimmed:
        raise NotACall("The body is empty. Send a SOAP envelope.")
    try:
        try:
            return _parsed(trimmed)
        except ExpatError:
            repaired = _repaired(trimmed)
            if repaired == trimmed:
                raise
            return _parsed(repaired)
    except ExpatError as error:
        raise NotACall(f"The body is not well-formed XML: {error}.") from None
    except DefusedXmlException:
        raise NotACall("A SOAP envelope must not have a DOCTYPE.") from None
    except (ValueError, LookupError) as error:
        # Either expat does not know or cannot read the encoding, or the text has a lone surrogate.
        raise NotACall(f"The body's encoding cannot be read: {error}.") from None


def read_beginning(body: bytes | str) -> Call | None:
    """Return the call at the beginning of a large envelope, or None. Its last parameter is incomplete."""
    reader = _EnvelopeReader()
    try:
        _parser(reader).Parse(_trimmed(body[:_BEGINNING]), False)
        return replace(reader.call(), is_beginning=True)
    except (NotACall, ExpatError, DefusedXmlException, ValueError, LookupError):
        return None


def carries_response(body: bytes | str) -> bool:
    """Whether the envelope has a call that carries a response of QuickBooks.

    It reads no more of the envelope than it needs.
    """
    beginning = read_beginning(body[:_METHOD_WITHIN]) or read_beginning(body)
    return beginning is not None and beginning.method in _CARRY_RESPONSES


def _trimmed(body: bytes | str) -> bytes | str:
    """Return the body without the characters that some clients write before the XML declaration."""
    if isinstance(body, str):
        return body.lstrip("\N{BOM} \t\r\n").rstrip()
    return body.lstrip(b"\xef\xbb\xbf \t\r\n")


def _parsed(body: bytes | str) -> Call:
    reader = _EnvelopeReader()
    parser = _parser(reader)
    if first := len(body) - min(len(body), _LAST_PART):
        parser.Parse(body[:first], False)
    parser.Parse(body[first:], True)
    return reader.call()


def _parser(reader: _EnvelopeReader) -> Any:
    # It calls us directly, so no tree is built.
    parser = defused_parser()
    parser.buffer_size = _BUFFER_BYTES
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.end
    parser.CharacterDataHandler = reader.text
    return parser


_ENVELOPE, _PART, _METHOD, _PARAMETER = 1, 2, 3, 4


class _EnvelopeReader:
    """Keeps the text of the parameters and nothing else."""

    def __init__(self) -> None:
        self._depth = 0
        self._elements = 0
        self._version = SOAP_11
        self._in_body = False
        # For the document and for each open element up to a parameter: the namespace of each prefix in its scope.
        self._scopes: list[Mapping[str, str]] = [{}]
        self._method: str | None = None
        self._in_method = False
        self._parameters: dict[str, str] = {}
        self._parameter: str | None = None
        self._pieces: list[str] = []

    def start(self, name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        self._elements += 1
        if self._depth > _MAX_DEPTH or self._elements > MAX_ELEMENTS:
            raise NotACall("The envelope has too many elements.", self._version)
        if len(attributes) > MAX_ATTRIBUTES:
            raise NotACall(f"An element has more than {MAX_ATTRIBUTES} attributes.", self._version)
        if max(map(len, (name, *attributes))) > MAX_NAME_CHARACTERS:
            raise NotACall(f"A name has more than {MAX_NAME_CHARACTERS} characters.", self._version)
        if self._depth > _PARAMETER:
            return
        scope = {**self._scopes[-1], **_declarations(attributes)}
        self._scopes.append(scope)
        qualified = _qualified(name, scope)
        if self._depth == _ENVELOPE:
            self._open_envelope(qualified)
        elif self._depth == _PART:
            self._in_body = qualified == (self._version.namespace, "Body")
        elif self._depth == _METHOD and self._in_body and self._method is None:
            self._open_method(*qualified)
        elif self._depth == _PARAMETER and self._in_method:
            self._parameter = None if _is_nil(attributes, scope) else qualified[1]
            self._pieces = []

    def text(self, text: str) -> None:
        if self._parameter is not None and self._depth == _PARAMETER:
            self._pieces.append(text)

    def end(self, _name: str) -> None:
        if self._depth == _PARAMETER and self._parameter is not None:
            self._parameters.setdefault(self._parameter, "".join(self._pieces))
            self._parameter = None
        elif self._depth == _METHOD:
            self._in_method = False
        if self._depth <= _PARAMETER:
            self._scopes.pop()
        self._depth -= 1

    def call(self) -> Call:
        if self._method is None:
            raise NotACall("The SOAP body is empty. It must contain a method.", self._version)
        incomplete = {} if self._parameter is None else {self._parameter: "".join(self._pieces)}
        return Call(self._method, incomplete | self._parameters, self._version)

    def _open_envelope(self, qualified: tuple[str, str]) -> None:
        version = _ENVELOPES.get(qualified)
        if version is None:
            raise NotACall("The body is not a SOAP envelope.")
        self._version = version

    def _open_method(self, namespace: str, method: str) -> None:
        if namespace != NAMESPACE or method not in METHODS:
            hint = f"The namespace is {NAMESPACE}; the methods are {', '.join(METHODS)}."
            raise NotACall(
                f"Method {method[:60]!r} does not exist in namespace {namespace[:100]!r}. {hint}", self._version
            )
        self._method = method
        self._in_method = True


def _declarations(attributes: Mapping[str, str]) -> dict[str, str]:
    """Return the namespaces that an element declares, by prefix. The default namespace has the prefix ''."""
    return {name[len("xmlns:") :]: value for name, value in attributes.items() if declares_namespace(name)}


def _qualified(name: str, scope: Mapping[str, str]) -> tuple[str, str]:
    """Return the namespace and the local name of an element. The namespace of an undeclared prefix is ''."""
    prefix, _, local_name = name.rpartition(":")
    return scope.get(prefix, ""), local_name


def _is_nil(attributes: Mapping[str, str], scope: Mapping[str, str]) -> bool:
    """Return whether the element has `xsi:nil`. An attribute without a prefix has no namespace."""
    return any(
        value in {"true", "1"} and ":" in name and _qualified(name, scope) == _NIL for name, value in attributes.items()
    )


# .NET writes the control characters 0-8, 11, 12 and 14-31 as references, although XML 1.0 forbids that too.
_FORBIDDEN = r"&#(?:0*(?:[0-8]|1[124-9]|2[0-9]|3[01])|[xX]0*(?:[0-8BbCcEeFf]|1[0-9A-Fa-f]));"
_FORBIDDEN_IN_TEXT = re.compile(_FORBIDDEN)
_FORBIDDEN_IN_BYTES = re.compile(_FORBIDDEN.encode())


def _repaired(body: bytes | str) -> bytes | str:
    """Return the body with a question mark for each reference to a control character."""
    if isinstance(body, str):
        return _FORBIDDEN_IN_TEXT.sub("?", body)
    return _FORBIDDEN_IN_BYTES.sub(b"?", body)


# --- writing

_PROLOGUE = '<?xml version="1.0" encoding="utf-8"?>'
_NAMESPACES = 'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:xsd="http://www.w3.org/2001/XMLSchema"'

_ESCAPES: dict[int, str | None] = {
    # Leave out characters that XML 1.0 forbids. Otherwise a client could not read the reply at all.
    **dict.fromkeys([*range(0x20), *range(0xD800, 0xE000), 0xFFFE, 0xFFFF]),
    ord("\t"): "\t",
    ord("\n"): "\n",
    ord("\r"): "&#13;",
    ord("&"): "&amp;",
    ord("<"): "&lt;",
    ord(">"): "&gt;",
}


def escape(text: str) -> str:
    """Return `text` as XML character data, without the characters that XML 1.0 forbids."""
    return text.translate(_ESCAPES)


def write_reply(call: Call, result: Result) -> str:
    """Return the envelope of the reply to `call`. It has one line, because white space in a result is data."""
    method = METHODS[call.method]
    if method.result is Type.STRINGS and not isinstance(result, (str, int)):
        content = "".join(f"<string>{escape(item)}</string>" for item in result)
    else:
        content = escape(str(result))
    name = method.name
    return _envelope(
        call.version,
        f'<{name}Response xmlns="{NAMESPACE}"><{name}Result>{content}</{name}Result></{name}Response>',
    )


def write_fault(reason: str, version: Version = SOAP_11, *, ours: bool = False) -> str:
    """Return the envelope of a fault. The server caused it if `ours` is true; otherwise the caller did."""
    text = escape(reason)
    if version is SOAP_12:
        code = "Receiver" if ours else "Sender"
        return _envelope(
            version,
            f"<soap:Fault><soap:Code><soap:Value>soap:{code}</soap:Value></soap:Code>"
            f'<soap:Reason><soap:Text xml:lang="en">{text}</soap:Text></soap:Reason></soap:Fault>',
        )
    code = "Server" if ours else "Client"
    return _envelope(
        version,
        f"<soap:Fault><faultcode>soap:{code}</faultcode><faultstring>{text}</faultstring></soap:Fault>",
    )


def _envelope(version: Version, content: str) -> str:
    return (
        f'{_PROLOGUE}<soap:Envelope xmlns:soap="{version.namespace}" {_NAMESPACES}>'
        f"<soap:Body>{content}</soap:Body></soap:Envelope>"
    )
