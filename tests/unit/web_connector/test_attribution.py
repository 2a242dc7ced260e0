"""Which text is about which request: late copies of responses end nothing wrongly, and nothing is sent for ever."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from domain import qbxml
from domain.records.request import MessageSet, State
from domain.web_connector.outcomes.attribution import is_about, label_in_set
from domain.web_connector.outcomes.lost_response import MAX_IGNORED, MAX_RECOVERY_SESSIONS, MAX_SESSIONS
from tests.support.builders import a_record
from tests.support.web_connector.connector import Connector
from tests.support.web_connector.interruptions import RandomIds
from tests.support.web_connector.quickbooks import hcp, nothing_stored, page_of, response_to, stored_response

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from domain.records.request import QueuedRequest

# --- The table

READ = a_record(
    id="11111111-0000-4000-8000-000000000000", request_name="CustomerQueryRq", request_label="mine", state=State.SENT
)
WRITE = replace(READ, id="22222222-0000-4000-8000-000000000000", request_name="CustomerAddRq")
READS = [READ, replace(READ, id="33333333-0000-4000-8000-000000000000", request_name="VendorQueryRq")]
WRITES = [
    a_record(id=record_id, request_name="CustomerAddRq", request_label="mine", message_set=MessageSet("one", place, 2))
    for place, record_id in enumerate(("44444444-0000-4000-8000-000000000000", "55555555-0000-4000-8000-0"), 1)
]


def a_text(*responses: tuple[str, str | None], message_set: str = "", status: str = "") -> str:
    """Return a text with these responses, by element and label."""
    attributes = "".join(
        f' {name}="{value}"'
        for name, value in (("newMessageSetID", message_set), ("messageSetStatusCode", status))
        if value
    )
    parts = "".join(
        f'<{name}{"" if label is None else f" requestID={chr(34)}{label}{chr(34)}"} statusCode="0"/>'
        for name, label in responses
    )
    return f"<QBXML><QBXMLMsgsRs{attributes}>{parts}</QBXMLMsgsRs></QBXML>"


OWN_NAMES: dict[str, tuple[Sequence[QueuedRequest], tuple[str, str]]] = {
    "read": ([READ], ("CustomerQueryRs", "mine")),
    "write": ([WRITE], ("CustomerAddRs", "mine")),
    "set of reads": (READS, ("VendorQueryRs", label_in_set(READS[1]))),
    "set of writes": (WRITES, ("CustomerAddRs", label_in_set(WRITES[1]))),
}


@pytest.mark.parametrize(("records", "own"), OWN_NAMES.values(), ids=OWN_NAMES)
@pytest.mark.parametrize("is_cut_off", [False, True])
def test_what_a_text_names_decides_whose_it_is(
    records: Sequence[QueuedRequest], own: tuple[str, str], *, is_cut_off: bool
) -> None:
    element, label = own
    is_read, message_set = records[0].is_read, records[0].message_set_id
    texts = {
        a_text(own, message_set="another"): False,
        a_text(("VendorAddRs", "x"), message_set=message_set): not is_read,
        a_text(own): True,
        a_text((element, f" {label}\n")): True,
        a_text(own, own): True,
        a_text(own, ("VendorDelRs", "x")): False,
        a_text((element, None)): is_read,
        a_text((element, "")): is_read,
        a_text((element, "another")): False,
        a_text(("ItemQueryRs", label)): False,
        a_text(("ItemQueryRs", None)): False,
    }

    for text, expected in texts.items():
        # What a text names counts although the rest of the text is missing.
        whole = text.partition("</QBXMLMsgsRs>")[0] if is_cut_off else text
        assert is_about(records, whole, qbxml.named_responses(whole)) is expected, whole


@pytest.mark.parametrize("records", [[READ], [WRITE], READS, WRITES])
def test_a_text_that_names_nothing_is_the_response_to_a_read_only(records: Sequence[QueuedRequest]) -> None:
    for text in ("", "no xml", "<QBXML/>", a_text(), "<!DOCTYPE a><QBXML/>"):
        assert is_about(records, text, qbxml.named_responses(text)) is records[0].is_read
    assert is_about(records, a_text(status="9001"), (), has_status=True)


def test_a_part_of_a_text_that_begins_with_the_message_set_names_it() -> None:
    for message_set, expected in ((WRITES[0].message_set_id, True), ("another", False)):
        text = a_text(message_set=message_set).removeprefix("<QBXML>")
        assert is_about(WRITES, text, ()) is expected


def test_the_labels_of_a_read_differ_alone_and_in_a_set() -> None:
    for record in READS:
        assert label_in_set(record) not in {record.id, record.request_label}


# --- Histories


@dataclass
class QuickBooks:
    """Executes each request at once, and returns its name and the number of its execution."""

    labels: bool = True
    executions: Counter[str] = field(default_factory=Counter)
    stored: dict[str, str] = field(default_factory=dict)
    iterators: dict[str, int] = field(default_factory=dict)

    def answer(self, request: str) -> str:
        """Return the response to a message set."""
        found = re.search(r' newMessageSetID="([^"]*)"', request)
        message_set = found[1] if found else None
        if message_set in self.stored:
            return self.stored[message_set]
        if "Rq requestID" not in request:
            return nothing_stored(request)
        parts = "\n".join(self._part(*part) for part in REQUESTS.findall(request))
        text = (
            f"<QBXML>\n<QBXMLMsgsRs{f' newMessageSetID={chr(34)}{message_set}{chr(34)}' if found else ''}>\n{parts}\n"
        )
        text += "</QBXMLMsgsRs>\n</QBXML>\n"
        if message_set:
            self.stored[message_set] = text
        return text

    def _part(self, element: str, label: str, attributes: str, content: str) -> str:
        (name,) = re.findall(r"<(?:Full)?Name>(\w+)</", content)
        self.executions[name] += 1
        extra = f' requestID="{label}"' if self.labels else ""
        if "iterator=" in attributes:
            iterator = re.search('iteratorID="([^"]*)"', attributes)
            iterator_id = iterator[1] if iterator else f"{{{len(self.iterators)}}}"
            remaining = self.iterators[iterator_id] = self.iterators.get(iterator_id, 6) - 2
            extra += f' iteratorRemainingCount="{remaining}" iteratorID="{iterator_id}"'
        status = 'statusCode="0" statusSeverity="Info" statusMessage="Status OK"'
        return f"<{element}Rs{extra} {status}><CustomerRet><Name>{name}</Name></CustomerRet></{element}Rs>"


REQUESTS = re.compile(r'<(\w+)Rq requestID="([^"]*)"([^>]*)>(.*?)</\1Rq>', re.DOTALL)

KINDS = {
    "read": ("CustomerQueryRq", "<FullName>{}</FullName>", ""),
    "other read": ("VendorQueryRq", "<FullName>{}</FullName>", ""),
    "pages": ("CustomerQueryRq", "<MaxReturned>2</MaxReturned><FullName>{}</FullName>", ' iterator="Start"'),
    "write": ("CustomerAddRq", "<CustomerAdd><Name>{}</Name></CustomerAdd>", ""),
    "other write": ("VendorAddRq", "<VendorAdd><Name>{}</Name></VendorAdd>", ""),
}


def a_connector(batch_size: int = 1) -> Connector:
    qbwc = Connector(new_id=RandomIds())
    qbwc.connect(batch_size=batch_size, read_batch_size=batch_size)
    return qbwc


def queue_named(qbwc: Connector, kind: str, name: str, label: str = "") -> str:
    """Queue a request with a name that QuickBooks returns."""
    request_name, content, attributes = KINDS[kind]
    fields: dict[str, Any] = {"request_label": label} if label else {}
    return qbwc.queue(request_name, content.format(name), attributes, **fields)


def drain(
    qbwc: Connector,
    answer: Callable[[str], str],
    copies: Callable[[int], Sequence[int]] = lambda _step: (),
    max_sessions: int = 12,
) -> int:
    """Run sessions until nothing is queued. Return their number.

    Before the result of the `step`th request is delivered, copies of the responses with these numbers arrive, counted
    back from the last one of the session.
    """
    step = 0
    for session in range(max_sessions):
        qbwc.clock.advance(hours=1)
        if qbwc.authenticate() == "none":
            qbwc.close()
            return session
        responses: list[str] = []
        first, progress = hcp(), 0
        while 0 <= progress < 100 and (request := qbwc.send(first)):
            first, step = "", step + 1
            assert step < 300, "the same is sent for ever"
            for number in copies(step):
                if responses:
                    qbwc.receive(responses[-1 - number % len(responses)])
            text = answer(request)
            if text == OVERSIZED:
                progress = qbwc.receive_oversized(QuickBooks().answer(request).replace("</QBXML>", "{padding}</QBXML>"))
                continue
            responses.append(text)
            progress = qbwc.receive(text)
            for number in copies(-step):
                qbwc.receive(responses[-1 - number % len(responses)])
        qbwc.close()
    pytest.fail("some request never ends")


OVERSIZED = "(a response that is too large for a call)"

COPIES = st.lists(st.lists(st.integers(0, 9), max_size=3), min_size=1, max_size=6)
"""For each request in turn, which earlier responses arrive again while QuickBooks executes it."""

QUEUES = st.lists(st.tuples(st.sampled_from(list(KINDS)), st.sampled_from(["", "", "same"])), min_size=2, max_size=12)


@settings(max_examples=60)
@given(queue=QUEUES, copies=COPIES, batch_size=st.sampled_from([1, 2, 5]), labels=st.sampled_from([True, True, False]))
@example(
    queue=[("read", ""), ("other read", ""), ("write", "")], copies=[[], [], [], [1]], batch_size=1, labels=True
).via("the copy that ended a write")
def test_late_copies_of_responses_end_nothing_wrongly(
    queue: list[tuple[str, str]], copies: list[list[int]], batch_size: int, *, labels: bool
) -> None:
    """Every request ends with its own response, in the first session, and each write is executed once.

    Two reads of one type in a session whose responses have one label or none cannot be told apart.
    """
    qbwc, quickbooks = a_connector(batch_size), QuickBooks(labels)
    names = {queue_named(qbwc, kind, f"N{number}", label): f"N{number}" for number, (kind, label) in enumerate(queue)}

    sessions = drain(qbwc, quickbooks.answer, lambda step: copies[abs(step) % len(copies)])

    # Their responses name the same.
    alike = Counter((KINDS[kind][0], label if labels else None) for kind, label in queue if label or not labels)
    for record in qbwc.records:
        label = queue[int(names[record.query_id][1:])][1]
        response = qbwc.response(record.id) or ""
        if not record.is_read:
            assert quickbooks.executions[names[record.id]] == 1
        if record.is_read and alike[record.request_name, label if labels else None] > 1:
            assert record.state in {State.RESPONSE_RECEIVED, State.ERROR}
            assert not response or f"<{record.request_name.removesuffix('Rq')}Rs" in response
        else:
            assert record.state is State.RESPONSE_RECEIVED, record
            assert f"<Name>{names[record.query_id]}</Name>" in response
    if max(alike.values(), default=0) < 2:
        assert sessions == 1


# --- Answers that name only other requests


def others(request: str) -> str:
    """Return a response to a request that nobody sent."""
    return response_to(request, label="somebody else's") if "Rq requestID" in request else a_text(message_set="another")


def test_a_read_with_only_the_responses_of_others_is_sent_twice_in_each_of_three_sessions(qbwc: Connector) -> None:
    first, second = qbwc.queue(), qbwc.queue("VendorQueryRq")
    sent: Counter[str] = Counter()

    def answer(request: str) -> str:
        is_first = "CustomerQueryRq" in request
        sent[first if is_first else second] += 1
        return others(request) if is_first else response_to(request)

    assert drain(qbwc, answer) == MAX_SESSIONS

    assert sent == {first: MAX_IGNORED * MAX_SESSIONS, second: 1}
    error = qbwc.record(first).error
    assert error is not None
    assert (error.code, error.details["reason"]) == ("quickbooks_connection_error", "responses_of_others")
    assert "Gave up after 3 sessions. QuickBooks returned only responses to other requests." in error.message
    assert qbwc.record(second).state is State.RESPONSE_RECEIVED


def test_a_status_check_with_only_the_responses_of_others_is_sent_twice_in_each_of_three_sessions(
    qbwc: Connector,
) -> None:
    write, behind = qbwc.write(), qbwc.queue()
    qbwc.begin()
    qbwc.close()
    checks = 0

    def answer(request: str) -> str:
        nonlocal checks
        checks += "Rq requestID" not in request
        return response_to(request) if behind in request else others(request)

    assert drain(qbwc, answer) == MAX_RECOVERY_SESSIONS

    assert checks == MAX_IGNORED * MAX_RECOVERY_SESSIONS
    error = qbwc.record(write).error
    assert error is not None
    assert error.code == "outcome_unknown"
    assert qbwc.record(behind).state is State.RESPONSE_RECEIVED


def test_a_later_page_with_only_the_response_of_another_is_never_requested_twice(qbwc: Connector) -> None:
    qbwc.iterate()
    other = qbwc.queue()
    qbwc.receive(page_of(qbwc.begin(), 3))
    qbwc.receive(others(qbwc.send()))

    assert other in qbwc.send()

    page = next(record for record in qbwc.records if record.paging.page == 2)
    assert page.error is not None
    assert page.error.code == "iteration_interrupted"


def test_a_write_with_only_the_response_of_another_is_recovered(qbwc: Connector) -> None:
    write = qbwc.write()
    request = qbwc.begin()
    text = stored_response(request)

    assert qbwc.receive(others(request)) < 100
    assert qbwc.send() == ""
    qbwc.close()
    qbwc.begin()
    qbwc.receive(text)

    assert qbwc.response(write) == text


def test_two_late_copies_before_the_response_do_not_delay_a_read(qbwc: Connector) -> None:
    for _ in range(3):
        qbwc.queue()
    responses = []
    request = qbwc.begin()
    for _ in range(2):
        responses.append(response_to(request))
        qbwc.receive(responses[-1])
        request = qbwc.send()

    for late in responses * 2:
        qbwc.receive(late)

    assert qbwc.receive(response_to(request)) == 100
    assert qbwc.states() == ["response_received"] * 3


def test_a_copy_of_the_last_page_of_a_query_is_not_the_first_page_of_another_with_the_same_label(
    qbwc: Connector,
) -> None:
    qbwc.iterate(request_label="same")
    second = qbwc.iterate(request_label="same")
    last = page_of(qbwc.begin(), 0)
    qbwc.receive(last)
    request = qbwc.send()

    qbwc.receive(last)

    assert qbwc.record(second).state is State.SENT
    text = page_of(request, 0).replace("{eb05f701", "{fb05f701")
    assert qbwc.receive(text) == 100
    assert qbwc.response(second) == text


# --- Answers to a set of reads

PART = re.compile("<CustomerQueryRs.*?</CustomerQueryRs>", re.DOTALL)
PART_LABEL = re.compile('( requestID=")([^"]*)(")')


def part(text: str, number: int) -> str:
    """Return one of the responses in a text."""
    parts = PART.findall(text)
    return str(parts[number % len(parts)])


def changed_part(text: str, number: int, new: str) -> str:
    """Return the text with another response in the place of one."""
    return text.replace(part(text, number), new)


DAMAGES: dict[str, Callable[[str, int], str]] = {
    "empty": lambda _text, _number: "",
    "no XML": lambda _text, _number: "no xml",
    "no response": lambda _text, _number: "<QBXML><QBXMLMsgsRs/></QBXML>",
    "a status": lambda _text, _number: a_text(status="9001"),
    "never executed": lambda _text, _number: a_text(status="9002"),
    "too large": lambda _text, _number: OVERSIZED,
    "another's": lambda _text, _number: a_text(("CustomerQueryRs", "somebody else's")),
    "a write's": lambda text, _number: text.replace("<QBXMLMsgsRs>", '<QBXMLMsgsRs newMessageSetID="x">'),
    "cut off": lambda text, number: text[: len(text) * (number % 10) // 10],
    "broken": lambda text, number: (
        text[: len(text) * (number % 10) // 10] + "<" + text[len(text) * (number % 10) // 10 :]
    ),
    "without labels": lambda text, _number: re.sub(' requestID="[^"]*"', "", text),
    "without a part": lambda text, number: changed_part(text, number, ""),
    "another label": lambda text, number: changed_part(
        text, number, PART_LABEL.sub(r"\1another\3", part(text, number))
    ),
    "another element": lambda text, number: changed_part(text, number, part(text, number).replace("Query", "Del")),
    "no number": lambda text, number: changed_part(text, number, part(text, number).replace('Code="0"', 'Code="x"')),
    "no status": lambda text, number: changed_part(text, number, part(text, number).replace(' statusCode="0"', "")),
    "a part twice": lambda text, number: changed_part(text, number, part(text, number) * 2),
    "a part of another": lambda text, number: changed_part(
        text, number, part(text, number) + '<HostQueryRs requestID="x" statusCode="0"/>'
    ),
}
"""What can be wrong with a response. The number chooses the place."""


def ends(batch_size: int, reads: int, spoil: Callable[[str, int], str]) -> list[tuple[Any, ...]]:
    """Drain reads whose responses are spoilt. Return how each ended: its state, its error and the returned name."""
    qbwc, quickbooks = a_connector(batch_size), QuickBooks()
    ids = [queue_named(qbwc, "read", f"N{number}") for number in range(reads)]
    drain(qbwc, lambda request: spoil(quickbooks.answer(request), len(REQUESTS.findall(request))))
    records = [qbwc.record(request_id) for request_id in ids]
    return [
        (
            record.state.value,
            record.error and (record.error.code, record.error.details.get("reason")),
            sorted(set(re.findall("<Name>([^<]*)", qbwc.response(record.id) or ""))),
        )
        for record in records
    ]


NUMBERS = st.integers(0, 40)


def test_a_copy_of_the_cut_off_response_to_a_set_does_not_end_a_read_that_is_sent_alone() -> None:
    qbwc, quickbooks = a_connector(2), QuickBooks()
    ids = [queue_named(qbwc, "read", f"N{number}") for number in range(3)]
    qbwc.receive(quickbooks.answer(qbwc.begin()))
    late = quickbooks.answer(qbwc.send()).partition("</CustomerQueryRs>")[0]
    qbwc.receive(late)
    alone = qbwc.send()
    assert ids[2] not in alone

    qbwc.receive(late)
    qbwc.receive(quickbooks.answer(alone))

    assert "<Name>N1</Name>" in (qbwc.response(ids[1]) or "")


@settings(max_examples=30)
@given(damage=st.sampled_from(list(DAMAGES)), number=NUMBERS, reads=st.integers(3, 9))
def test_whatever_the_response_to_a_set_of_reads_each_read_gets_its_own(damage: str, number: int, reads: int) -> None:
    def spoil(text: str, size: int) -> str:
        return DAMAGES[damage](text, number) if size > 1 else text

    assert ends(5, reads, spoil) == [("response_received", None, [f"N{name}"]) for name in range(reads)]


@settings(max_examples=30)
@given(damage=st.sampled_from(list(DAMAGES)), number=NUMBERS, reads=st.integers(3, 9), bad=st.sets(st.integers(0, 8)))
def test_each_read_of_a_set_ends_as_it_would_alone(damage: str, number: int, reads: int, bad: set[int]) -> None:
    """Only the reads at fault end in errors, unless the response to the set has a good one to them."""

    def spoil(text: str, _size: int) -> str:
        is_bad = any(f"<Name>N{name}</Name>" in text for name in bad)
        return DAMAGES[damage](text, number) if is_bad else text

    ends_alone, ends_in_sets = ends(1, reads, spoil), ends(5, reads, spoil)
    for name, (alone, in_set) in enumerate(zip(ends_alone, ends_in_sets, strict=True)):
        own = ("response_received", None, [f"N{name}"])
        assert in_set == own or (in_set == alone and name in bad)
        assert alone == own or name in bad


# --- Responses of every shape

FRAGMENTS = (
    "<CustomerRet><Name>Abercrombie, Kristy</Name></CustomerRet>",
    "<CustomerRet/>",
    "text \N{LATIN SMALL LETTER E WITH ACUTE}\N{EURO SIGN}\N{MUSICAL SYMBOL G CLEF}",
    "&amp;&lt;&#233;&#x20AC;",
    "<Notes>Ann&#146;s &#x93;shop&#X94;</Notes>",
    "<Notes>&#3;</Notes>",
    "\x03",
    "<![CDATA[</CustomerQueryRs> & ]] <b requestID='x'>]]>",
    '<!-- </CustomerQueryRs><CustomerQueryRs requestID="x" statusCode="0"/> -->',
    "<?note requestID='x'?>",
    "<DataExtRet requestID=\"x\" a='>'>y</DataExtRet >",
    "<Nested:Ret>z</Nested:Ret>",
    " \r\n\t",
)
HOSTILE_FRAGMENTS = (
    *FRAGMENTS,
    "<Ret xmlns='urn:x'/>",
    "<QBXMLMsgsRs/>",
    '<CustomerQueryRs statusCode="0"/>',
    '<VendorQueryRs statusCode="0" requestID="x"/>',
)
STATUSES = (
    'statusCode="0" statusSeverity="Info" statusMessage="Status OK"',
    "statusCode='1' statusSeverity='Info' statusMessage=\"A 'requestID=' that matches nothing\"",
    'statusCode = "530"\n  statusSeverity="Warn" statusMessage="&quot;x&quot; &gt; &#146;y"',
    'statusCode="3120" statusSeverity="Error" statusMessage="Object &quot;80000001&quot; cannot be found."',
    'statusCode="0"',
)
HOSTILE_STATUSES = (*STATUSES, 'statusCode="none"', 'statusSeverity="Info"')
HEADS = (
    '<?xml version="1.0" ?>\n<QBXML>\n<QBXMLMsgsRs>\n',
    "\N{BOM}<?xml version='1.0'?><QBXML><QBXMLMsgsRs>",
    '\r\n <?xml version="1.0" encoding="utf-8"?><!-- <QBXMLMsgsRs> --><QBXML><QBXMLMsgsRs>',
    "<QBXML a='>'><QBXMLMsgsRs messageSetStatusCode=\"0\">\t",
)
HOSTILE_HEADS = (
    *HEADS,
    "<QBXML><QBXMLMsgsRs>&#160;",
    "<QBXML xmlns='urn:x'><QBXMLMsgsRs>",
    "<QBXML><SignonMsgsRs><SignonDesktopRs statusCode='0'/></SignonMsgsRs><QBXMLMsgsRs>",
    "",
)
TAILS = ("\n</QBXMLMsgsRs>\n</QBXML>\n", "</QBXMLMsgsRs ><!-- > --></QBXML>", "</QBXMLMsgsRs><Last>\x03</Last></QBXML>")
HOSTILE_TAILS = (*TAILS, "&#146;</QBXMLMsgsRs></QBXML>", "")
SEPARATORS = ("\n", "", "\r\n\t ")
HOSTILE_SEPARATORS = (*SEPARATORS, "<!-- next -->", "</QBXMLMsgsRs><QBXMLMsgsRs>", "x")
FRAMES = st.tuples(st.sampled_from(HEADS), st.sampled_from(SEPARATORS), st.sampled_from(TAILS))
HOSTILE_FRAMES = st.tuples(
    st.sampled_from(HOSTILE_HEADS), st.sampled_from(HOSTILE_SEPARATORS), st.sampled_from(HOSTILE_TAILS)
)
"""What is around the responses of a message set, and between them. A hostile text must not be divided as it is."""


@st.composite
def response_shapes(draw: st.DrawFn, fault: str) -> Callable[[str, str], str]:
    """Draw the shape of the response to one request: a function of its element and its label."""
    status = draw(st.sampled_from(HOSTILE_STATUSES if fault == "status" else STATUSES))
    fragments = HOSTILE_FRAGMENTS if fault == "fragment" else FRAGMENTS
    content = "".join(draw(st.lists(st.sampled_from(fragments), max_size=4)))
    before = draw(st.sampled_from(["", "<!-- before -->"])) if fault == "before" else ""
    times = draw(st.sampled_from([1, 2])) if fault == "twice" else 1
    mark, is_last, space = draw(st.sampled_from(['"', "'"])), draw(st.booleans()), draw(st.sampled_from(["", " "]))

    def response(element: str, label: str) -> str:
        own = f"requestID{space}={mark}{label}{mark}"
        attributes = f"{status} {own}" if is_last else f"{own} {status}"
        text = f"<{element}Rs\n{attributes} >{content}</{element}Rs>" if content else f"<{element}Rs {attributes}/>"
        return (before + text) * times

    return response


def responses_to_reads(
    read_batch_size: int, shapes: Sequence[Callable[[str, str], str]], frame: Sequence[str]
) -> list[tuple[Any, ...]]:
    """Drain reads whose responses have these shapes. Return how each ended: state, error and response."""
    head, separator, tail = frame
    qbwc = a_connector(read_batch_size)
    ids = [queue_named(qbwc, "read", f"N{number}", f"label {number}") for number in range(len(shapes))]

    def response(element: str, label: str, content: str) -> str:
        (number,) = re.findall(r"N(\d+)<", content)
        return shapes[int(number)](element, label)

    def answer(request: str) -> str:
        found = REQUESTS.findall(request)
        return head + separator.join(response(element, label, content) for element, label, _, content in found) + tail

    drain(qbwc, answer, max_sessions=40)
    return [
        (record.state, record.error and (record.error.code, record.error.message), qbwc.response(record.id))
        for record in map(qbwc.record, ids)
    ]


FAULTS = ("", "", "status", "fragment", "before", "twice", "frame")
"""What is unusual in an answer. With several faults, nearly no set of reads could be divided."""

ANSWERS = st.sampled_from(FAULTS).flatmap(
    lambda fault: st.tuples(
        st.lists(response_shapes(fault), min_size=3, max_size=7), HOSTILE_FRAMES if fault == "frame" else FRAMES
    )
)


@settings(max_examples=120)
@given(answers=ANSWERS)
def test_a_read_of_a_set_has_the_response_that_it_would_have_alone_byte_for_byte(
    answers: tuple[Sequence[Callable[[str, str], str]], Sequence[str]],
) -> None:
    assert responses_to_reads(5, *answers) == responses_to_reads(1, *answers)
