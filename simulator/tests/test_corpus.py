"""Genuine pairs are replayed, scored by structure, and made from recorded documents without their data."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

import simulator
from simulator.basics.xml_trees import read_tree
from simulator.corpus.__main__ import main
from simulator.corpus.facts import compared, facts_of
from simulator.corpus.pair import Pair, read_pair
from simulator.corpus.replay import Result, replayed, report, shipped_pairs

PAIRS = shipped_pairs()
README = (Path(simulator.__file__ or "").parent / "README.md").read_text(encoding="utf-8")


@cache
def result_of(name: str) -> Result:
    """Replay a pair once for all tests."""
    return replayed(next(pair for pair in PAIRS if pair.name == name))


def rs(content: str, head: str = "statusCode='0' statusSeverity='Info' statusMessage='Status OK'") -> str:
    return f"<CustomerQueryRs {head}>{content}</CustomerQueryRs>"


def score(genuine: str, own: str) -> tuple[int, int, list[str]]:
    result = compared(facts_of(read_tree(genuine)), facts_of(read_tree(own)))
    return result.agreed, result.total, result.differences


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.name)
def test_a_genuine_pair_agrees_or_says_why_not(pair: Pair) -> None:
    result = result_of(pair.name)

    assert result.score.total > 0
    assert result.agrees != bool(pair.known), result.score.differences


def test_the_readme_shows_the_scores_of_the_corpus() -> None:
    results = [result_of(pair.name) for pair in PAIRS]
    for origin in ("recorded", "reconstructed"):
        own = [result for result in results if result.pair.origin == origin]
        agreed, total = sum(result.score.agreed for result in own), sum(result.score.total for result in own)
        whole = sum(result.agrees for result in own)
        row = f"| request {origin} | {len(own)} | {whole} | {total:,} | {100 * agreed / total:.1f} % |"
        assert row in README


def test_strict_mode_warns_of_one_accepted_genuine_request_in_ten_at_most() -> None:
    results = [result_of(pair.name) for pair in PAIRS]

    accepted = sum(result.accepted for result in results)
    assert accepted >= 0.9 * len(results)
    assert sum(len(result.warnings) for result in results) <= accepted / 10


def test_values_do_not_count_but_their_formats_do() -> None:
    one = rs("<CustomerRet><ListID>1-2</ListID><Name>A</Name><Balance>1.00</Balance></CustomerRet>")
    other = rs("<CustomerRet><ListID>80F-99</ListID><Name>Other</Name><Balance>-20.50</Balance></CustomerRet>")

    assert score(one, other) == (7, 7, [])
    agreed, total, differences = score(one, other.replace("-20.50", "20.5"))
    assert (agreed, total) == (6, 7)
    assert differences == ["CustomerRet/Balance has 1 decimal, not 2 or more decimals"]


@pytest.mark.parametrize(
    ("own", "difference"),
    [
        ("<CustomerRet><Name>A</Name></CustomerRet>", "missing CustomerRet/ListID"),
        ("<CustomerRet><ListID>1-2</ListID><Name>A</Name><Fax>1</Fax></CustomerRet>", "additional CustomerRet/Fax"),
        ("<CustomerRet><Name>A</Name><ListID>1-2</ListID></CustomerRet>", "missing CustomerRet/ListID"),
        ("", "missing CustomerRet"),
    ],
)
def test_missing_additional_and_misplaced_elements_do_not_agree(own: str, difference: str) -> None:
    agreed, total, differences = score(rs("<CustomerRet><ListID>1-2</ListID><Name>A</Name></CustomerRet>"), rs(own))

    assert agreed < total
    assert difference in differences


def test_statuses_and_attributes_are_facts() -> None:
    _, _, differences = score(
        rs("", "statusCode='1' statusSeverity='Info' retCount='0'"), rs("", "statusCode='500' statusSeverity='Warn'")
    )

    assert differences == [
        "CustomerQueryRs: missing status 1 Info",
        "CustomerQueryRs: missing attribute retCount",
        "CustomerQueryRs: additional status 500 Warn",
    ]


def test_a_genuine_record_is_compared_with_the_most_similar_one() -> None:
    one = "<CustomerRet><ListID>1-2</ListID><Name>A</Name></CustomerRet>"
    other = "<CustomerRet><ListID>1-2</ListID><Name>A</Name><Fax>1</Fax></CustomerRet>"

    assert score(rs(other), rs(one + other))[2] == []


def test_the_report_has_a_line_for_each_type_and_lists_what_is_not_explained() -> None:
    pair = next(pair for pair in PAIRS if pair.name == "customer-add")
    wrong = read_tree(f"<A>{rs('<CustomerRet><ListID>1-2</ListID></CustomerRet>')}</A>")
    changed = Pair(**{**{name: getattr(pair, name) for name in Pair.__slots__}, "response": wrong})

    lines = list(report([replayed(pair), replayed(changed)]))

    assert lines[1].split() == ["CustomerAdd", "1", "1", "36", "100.0", "%"]
    assert lines[2].split() == ["CustomerQuery", "1", "0", "1", "0.0", "%"]
    assert "  there is no CustomerQueryRs" in lines


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("<Pair", "is not an XML document"),
        ("<Thing />", "the document is a Thing, not a Pair"),
        ("<Pair country='US' version='1' request='recorded' source='s' />", "the Pair has no product"),
        (
            "<Pair product='p' country='US' version='1' request='recorded' source='s' colour='red' />",
            "colour is not an attribute of a Pair",
        ),
        ("<Pair product='p' country='US' version='1' request='guessed' source='s' />", "recorded or reconstructed"),
        (
            "<Pair product='p' country='US' version='1' request='recorded' source='s' />",
            "needs a Request and a Response",
        ),
    ],
)
def test_a_file_that_is_not_a_pair_is_an_error_that_says_why(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, reason: str
) -> None:
    path = tmp_path / "pair.xml"
    path.write_text(text, encoding="utf-8")

    assert main(["replay", str(path)]) == 2
    assert reason in capsys.readouterr().err


def test_a_set_up_that_fails_and_a_request_that_cannot_be_parsed_do_not_agree(tmp_path: Path) -> None:
    path = tmp_path / "pair.xml"
    attributes = "product='p' country='US' version='13.0' request='recorded' source='s'"
    response = rs("").replace("CustomerQueryRs", "ThingQueryRs")
    customer = "<Name>A</Name><ParentRef><FullName>B</FullName></ParentRef>"
    setup = f"<Setup><CustomerAddRq><CustomerAdd>{customer}</CustomerAdd></CustomerAddRq></Setup>"
    path.write_text(
        f"<Pair {attributes}>{setup}<Request><ThingQueryRq /></Request><Response>{response}</Response></Pair>",
        encoding="utf-8",
    )

    result = replayed(read_pair(path))

    assert (result.agrees, result.score.agreed) == (False, 0)
    assert result.score.differences[0].startswith("the set-up failed: CustomerAddRs")
    assert "0x80040400" in result.score.differences[1]
