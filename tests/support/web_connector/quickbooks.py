"""QuickBooks for tests: its responses as texts, and a model of one company file."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from domain.records.request import message_set_id

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

PAGE_SIZE = 2
ADDITION = re.compile(r"<(?:Customer|Invoice)AddRq")
"""The beginning of a write to the model of a company file."""
NUMBER = re.compile(r"<RefNumber>([^<]*)</RefNumber>")


def hcp(file_id: str | None = "{90A44FB5-33D9-4815-AC85-BC87A7E7D1EB}") -> str:
    """Return the host and company facts; the FileID is that of the builders' connection."""
    mark = (
        f"<DataExtRet><OwnerID>{{1}}</OwnerID><DataExtName>FileID</DataExtName><DataExtType>STR255TYPE</DataExtType>"
        f"<DataExtValue>{file_id}</DataExtValue></DataExtRet>"
    )
    return (
        '<?xml version="1.0" ?>\n<QBXML>\n<QBXMLMsgsRs>\n'
        '<HostQueryRs requestID="0" statusCode="0" statusSeverity="Info" statusMessage="Status OK"><HostRet>'
        "<ProductName>QuickBooks Enterprise 24</ProductName><MajorVersion>34</MajorVersion><Country>US</Country>"
        "<SupportedQBXMLVersion>9.0</SupportedQBXMLVersion><SupportedQBXMLVersion>16.0</SupportedQBXMLVersion>"
        "</HostRet></HostQueryRs>\n"
        '<CompanyQueryRs requestID="1" statusCode="0" statusSeverity="Info" statusMessage="Status OK"><CompanyRet>'
        f"<CompanyName>Acme</CompanyName>{mark if file_id else ''}</CompanyRet></CompanyQueryRs>\n"
        "</QBXMLMsgsRs>\n</QBXML>\n"
    )


def response_to(
    request: str,
    *,
    code: int = 0,
    severity: str = "Info",
    message: str = "Status OK",
    extra: str = "",
    content: str = "",
    name: str | None = None,
    label: str | None = None,
) -> str:
    """Return the response to a request that was sent."""
    match = re.search(r'<(\w+)Rq requestID="([^"]*)"', request)
    assert match, request
    name, label = name or f"{match[1]}Rs", match[2] if label is None else label
    return (
        f'<?xml version="1.0" ?>\n<QBXML>\n<QBXMLMsgsRs>\n<{name} requestID="{label}" statusCode="{code}" '
        f'statusSeverity="{severity}" statusMessage="{message}"{extra}>{content}</{name}>\n</QBXMLMsgsRs>\n</QBXML>\n'
    )


def stored_response(request: str, **fields: Any) -> str:
    """Return the response to a write, with its message set."""
    message_set = re.search(r'newMessageSetID="([^"]*)"', request)
    assert message_set, request
    return response_to(request, **fields).replace("<QBXMLMsgsRs>", f'<QBXMLMsgsRs newMessageSetID="{message_set[1]}">')


def labels_in(request: str) -> list[str]:
    """Return the labels of the requests in a message set."""
    return re.findall(r'Rq requestID="([^"]*)"', request)


def set_response(
    request: str, *, codes: Mapping[str, int] | None = None, only: Sequence[str] | None = None, content: str = ""
) -> str:
    """Return the response to a message set. Each response has its position as its ListID.

    `codes` are the statuses of refused requests by label, or 500: nothing has the name. `only` are the labels of the
    requests with a response.
    """
    message_set = re.search(r'newMessageSetID="([^"]*)"', request)
    parts = []
    for position, (name, label) in enumerate(re.findall(r'<(\w+)Rq requestID="([^"]*)"', request)):
        if only is not None and label not in only:
            continue
        code = (codes or {}).get(label, 0)
        severity = {0: "Info", 500: "Warn"}.get(code, "Error")
        status = f'statusCode="{code}" statusSeverity="{severity}" statusMessage="As it is."'
        result = "" if code else f"<CustomerRet><ListID>{position}</ListID></CustomerRet>"
        parts.append(f'<{name}Rs requestID="{label}" {status}>{result}{content}</{name}Rs>\n')
    attributes = f' newMessageSetID="{message_set[1]}" messageSetStatusCode="0"' if message_set else ""
    return f'<?xml version="1.0" ?>\n<QBXML>\n<QBXMLMsgsRs{attributes}>\n{"".join(parts)}</QBXMLMsgsRs>\n</QBXML>\n'


def nothing_stored(check: str, code: int = 9002) -> str:
    """Return the response to a status check when nothing is stored."""
    message_set = re.search(r'newMessageSetID="([^"]*)"', check)
    assert message_set, check
    status = f'newMessageSetID="{message_set[1]}" messageSetStatusCode="{code}"'
    return f'<?xml version="1.0" ?>\n<QBXML>\n<QBXMLMsgsRs {status}>\n</QBXMLMsgsRs>\n</QBXML>\n'


def page_of(request: str, remaining: int) -> str:
    """Return a page of an iterated query."""
    extra = f' iteratorRemainingCount="{remaining}" iteratorID="{{eb05f701-e727-472f-8ade-6753c4f67a46}}"'
    return response_to(request, extra=extra)


@dataclass
class Books:
    """One company file. Each response contains `owner`, so that a response from another file is recognised.

    `invoices` are how many invoices there are with a number, and `late` how many of them a Web Connector that hung may
    have added after QuickBooks was asked whether it had executed them.
    """

    owner: str
    responses_by_id: dict[str, tuple[str, str]] = field(default_factory=dict)
    executions: Counter[str] = field(default_factory=Counter)
    iterators: dict[str, int] = field(default_factory=dict)
    invoices: Counter[str] = field(default_factory=Counter)
    late: int = 0

    def response_to(self, request: str, objects: int = 0, *, failed: bool = False) -> str:
        """Execute a request at once. A new iterator has `objects` objects."""
        return self.begin(request, objects, failed=failed)()

    def begin(self, request: str, objects: int = 0, *, failed: bool = False) -> Callable[[], str]:
        """Begin to execute a request, and return the function that ends the execution with the response.

        The response to a write is stored at the end. Until then, its message set is unknown.
        """
        if "<HostQueryRq" in request and not failed:
            return hcp
        new, old = (re.search(rf'{name}MessageSetID="([^"]*)"', request) for name in ("new", "old"))
        if new is None:
            return lambda: self._read(request, objects, failed=failed)
        content = "".join(ADDITION.split(request, maxsplit=1)[1:])
        if old and old[1] != new[1]:
            self.responses_by_id.pop(old[1], None)
        if new[1] in self.responses_by_id:
            former, text = self.responses_by_id[new[1]]
            return lambda: text if content in {former, ""} else nothing_stored(request, 9001)
        if not content:
            return lambda: nothing_stored(request)
        return lambda: self._execute(new[1], content, request, failed=failed)

    def die_within(self, request: str, *, stored: bool) -> None:
        """Execute the first request of a message set of writes and die. Its response is stored or not."""
        (message_set,) = re.findall(' newMessageSetID="([^"]*)"', request)
        first, end, _ = request.partition("</CustomerAddRq>")
        if message_set not in self.responses_by_id and end:
            self.executions[labels_in(request)[0]] += 1
            if stored:
                text = self._text(first + end).replace(
                    "<QBXMLMsgsRs>", f'<QBXMLMsgsRs newMessageSetID="{message_set}">'
                )
                self.responses_by_id[message_set] = request.partition("<CustomerAddRq")[2], text

    def executions_of(self, request_id: str) -> int:
        """Return how often the write with this id was executed, alone or in a set, in which its label is its id."""
        return self.executions[message_set_id(request_id)] + self.executions[request_id]

    def _execute(self, message_set: str, content: str, request: str, *, failed: bool) -> str:
        labels = labels_in(request)
        self.executions.update(labels if len(labels) > 1 else [message_set])
        self.invoices.update([] if failed else NUMBER.findall(request))
        text = self._text(request, code=3100, severity="Error") if failed else self._text(request)
        text = text.replace("<QBXMLMsgsRs>", f'<QBXMLMsgsRs newMessageSetID="{message_set}">')
        self.responses_by_id[message_set] = content, text
        return text

    def _read(self, request: str, objects: int, *, failed: bool) -> str:
        if failed:
            return self._text(request, code=500, severity="Error")
        match = re.search(r'iteratorID="([^"]*)"', request)
        if 'iterator="Start"' in request:
            iterator = f"{{{len(self.iterators):08}-e727-472f-8ade-6753c4f67a46}}"
            self.iterators[iterator] = objects
        elif match and match[1] in self.iterators:
            iterator = match[1]
            self.iterators[iterator] = max(0, self.iterators[iterator] - PAGE_SIZE)
        elif match:
            return self._text(request, code=3000, severity="Error")
        elif (number := NUMBER.search(request)) and not self.invoices[number[1]]:
            return self._text(request, code=1)
        else:
            return self._text(request)
        remaining = self.iterators[iterator]
        return self._text(request, extra=f' iteratorRemainingCount="{remaining}" iteratorID="{iterator}"')

    def _text(self, request: str, *, code: int = 0, severity: str = "Info", extra: str = "") -> str:
        content = "" if code else f"<CustomerRet><Name>{self.owner}</Name></CustomerRet>"
        if not code and (number := NUMBER.search(request)):
            content = (
                f"<InvoiceRet><TxnID>1</TxnID><CustomerRef><FullName>Ann</FullName></CustomerRef><RefNumber>{number[1]}"
                f"</RefNumber><Memo>{self.owner}</Memo></InvoiceRet>"
            )
        whole: dict[str, Any] = {
            "code": code,
            "severity": severity,
            "message": "As it is.",
            "extra": extra,
            "content": content,
        }
        text = response_to(request, **whole)
        for label in labels_in(request)[1:]:
            part = response_to(request, **whole, label=label).splitlines()[3]
            text = text.replace("</QBXMLMsgsRs>", f"{part}\n</QBXMLMsgsRs>")
        return text
