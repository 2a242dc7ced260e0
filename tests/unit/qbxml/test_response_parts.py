"""The responses to the requests of a message set, each as a document of its own."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.qbxml import UnreadableResponse, parse_response

HEAD = """<?xml version="1.0" ?>\n<QBXML>\n<QBXMLMsgsRs newMessageSetID='x' messageSetStatusCode="0">\n"""
TAIL = "\n</QBXMLMsgsRs>\n</QBXML>\n"
OK = 'statusCode="0" statusSeverity="Info" statusMessage="Status OK"'

CONTENTS = (
    "<CustomerRet><Name>Ann</Name><Notes></Notes><Phone/></CustomerRet>",
    "<CustomerRet><Notes>one&#13;&#10;two &lt; \r\n é ü\U0001f600 ]] &gt;</Notes></CustomerRet>",
    f"<CustomerAddRs {OK}>not a response</CustomerAddRs>",
    "<!-- </CustomerAddRs> --><Name>a>b</Name>",
    "",
)
LABELS = ("1", "é ü", "a\"b'c", "<&>", "\\1 \\g<0>")


@given(contents=st.lists(st.sampled_from(CONTENTS), min_size=1, max_size=20), label=st.sampled_from(LABELS))
def test_each_response_is_kept_as_quickbooks_wrote_it_with_the_label_of_the_user(
    contents: list[str], label: str
) -> None:
    written = [
        f'<CustomerAddRs statusText="a>b" requestID="id{number}" {OK}>{content}</CustomerAddRs>'
        for number, content in enumerate(contents)
    ]

    parts = parse_response(HEAD + "\n".join(written) + TAIL).parts()

    assert [part.request_label for part in parts] == [f"id{number}" for number in range(len(contents))]
    for number, part in enumerate(parts):
        document = part.document(label)
        assert document.startswith(HEAD)
        assert document.endswith(TAIL)
        assert [status.request_label for status in parse_response(document).statuses][:1] == [label]
        assert part.response(label).statuses == parse_response(document).statuses
        before, after = written[number].split(f'requestID="id{number}"')
        assert document[len(HEAD) :].startswith(before)
        assert document.removesuffix(TAIL).endswith(after)


def test_a_response_without_content_is_one_tag() -> None:
    parts = parse_response(
        f'{HEAD}<ARs requestID="1" {OK}/><ARs requestID="2" {OK} /><ARs requestID=\'3\' {OK}/>{TAIL}'
    ).parts()

    assert [part.text for part in parts] == [
        f'<ARs requestID="1" {OK}/>',
        f'<ARs requestID="2" {OK} />',
        f"<ARs requestID='3' {OK}/>",
    ]
    assert f"<ARs requestID='b' {OK}/>{TAIL}" in parts[2].document("b")


@pytest.mark.parametrize("character", ["&#1;", "\x01", "&#146;", "\ud800"])
@pytest.mark.parametrize("beginning", [HEAD, f"\N{BOM}{HEAD}", f"\r\n {HEAD}"])
def test_each_response_is_kept_as_quickbooks_wrote_it_before_its_repair(character: str, beginning: str) -> None:
    one = f'<ARs requestID="1" {OK} statusText="{character}"><N>é > {character}</N></ARs>'
    two = f'<ARs requestID="2" {OK}/>'
    text = f"{beginning}{one}\n{two}{TAIL}"

    parts = parse_response(text).parts()

    assert [part.text for part in parts] == [one, two]
    assert [part.document(label) for part, label in zip(parts, "12", strict=True)] == [
        f"{beginning}{response}{TAIL}" for response in (one, two)
    ]


@pytest.mark.parametrize(
    ("before", "between", "after", "expected"),
    [
        ("", "", "", True),
        (" ", "\n", "\t", True),
        ("<!-- a -->", "", "", False),
        ("", "<!-- a -->", "", False),
        ("", "", "<!-- a -->", False),
        ("", "a", "", False),
        ("", "</QBXMLMsgsRs><QBXMLMsgsRs>", "", False),
    ],
)
def test_responses_are_apart_if_only_white_space_is_around_them(
    before: str, between: str, after: str, *, expected: bool
) -> None:
    text = f'{HEAD}{before}<ARs requestID="1" {OK}/>{between}<ARs requestID="2" {OK}/>{after}{TAIL}'

    assert [part.is_apart for part in parse_response(text).parts()] == [expected] * 2


def test_a_message_set_without_responses_has_no_parts() -> None:
    assert parse_response(HEAD + TAIL).parts() == []


def test_a_response_that_is_cut_off_is_unreadable() -> None:
    with pytest.raises(UnreadableResponse):
        parse_response(f'{HEAD}<ARs requestID="1" {OK}><Name>')
