"""Replays genuine pairs against the simulator and scores each of them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from simulator.basics.errors import HresultError
from simulator.basics.statuses import severity_of
from simulator.basics.xml_trees import read_tree
from simulator.company import Company
from simulator.corpus.facts import Score, compared, facts_of
from simulator.corpus.pair import Pair, read_pair
from simulator.requests.facts import Product

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from xml.etree.ElementTree import Element

    from simulator.requests.events import RequestEvent

NOW = 1_767_268_800
"""Noon (UTC) of 2026-01-01: the time of all replays, so that they are the same each time."""
_PLACE = re.compile(r"\{(\d+)\.(id|sequence)\}")
_IDS = ("ListID", "TxnID")


@dataclass(frozen=True, slots=True)
class Result:
    """A pair, its score, and what strict mode says about its requests."""

    pair: Pair
    score: Score
    accepted: int = 0
    """The number of requests that were executed."""
    warnings: tuple[str, ...] = ()
    """The warnings of strict mode, one for each executed request that has some: `InvoiceAddRq: numbers`."""

    @property
    def agrees(self) -> bool:
        """Return whether every fact agrees."""
        return self.score.agreed == self.score.total


def shipped_pairs() -> list[Pair]:
    """Return the pairs of this package, by name."""
    folder = Path(str(files(__package__) / "pairs"))
    return [read_pair(path) for path in sorted(folder.glob("*.xml"))]


def replayed(pair: Pair) -> Result:
    """Send the requests of a pair to a new company, and compare the responses."""
    product = Product(country=pair.country)
    if pair.company == "small":
        company = Company.generated(customers=2, sales_orders=1, now=lambda: NOW, product=product)
    else:
        company = Company.empty(now=lambda: NOW, product=product)
    for name, value in pair.preferences.items():
        company.set_preference(name, value)
    if pair.company == "small":
        answers(company.process_request, (files(__package__) / "small_company.xml").read_text(encoding="utf-8"), "16.0")
    records: list[Element] = []
    score = Score()
    for step in pair.setup:
        for response in answers(company.process_request, _filled(step, records), "16.0"):
            if response.get("statusCode") != "0":
                score.count(False, f"the set-up failed: {response.tag}: {response.get('statusMessage')}")
            records += list(response)[:1]
    events: list[RequestEvent] = []
    company.strict, company.on_request = True, events.append
    try:
        own = answers(company.process_request, _filled(pair.request, records), pair.version)
    except HresultError as error:
        score.count(False, str(error))
        own = []
    for number, genuine in enumerate(pair.response):
        answer = own[number] if number < len(own) and own[number].tag == genuine.tag else None
        if answer is None:
            score.count(False, f"there is no {genuine.tag}")
            continue
        part = compared(facts_of(genuine), facts_of(answer))
        score.agreed += part.agreed
        score.total += part.total
        score.differences += part.differences
    accepted = [event for event in events if severity_of(event.status) != "Error"]
    warnings = (f"{event.name}: {', '.join(event.simplified)}" for event in accepted if event.simplified)
    return Result(pair, score, len(accepted), tuple(warnings))


def report(results: Iterable[Result], *, verbose: bool = False) -> Iterator[str]:
    """Yield a table with the score of each request type, and the differences of each pair that does not agree."""
    results = list(results)
    types: dict[str, list[Result]] = {}
    for result in results:
        for request_type in result.pair.request_types:
            types.setdefault(request_type, []).append(result)
    width = max((len(name) for name in types), default=0) + 2
    yield f"{'request':{width}}{'pairs':>6}{'agree':>7}{'facts':>7}{'score':>8}"
    for name in sorted(types):
        yield _line(name, types[name], width)
    yield _line("all", results, width)
    for origin in ("recorded", "reconstructed"):
        yield _line(f"request {origin}", [result for result in results if result.pair.origin == origin], width)
    warnings = [f"{result.pair.name}: {warning}" for result in results for warning in result.warnings]
    yield f"strict mode warns of {len(warnings)} of {sum(result.accepted for result in results)} accepted requests"
    if verbose:
        yield from (f"  {warning}" for warning in warnings)
    for result in results:
        if not result.agrees and (verbose or not result.pair.known):
            yield f"{result.pair.name} ({result.pair.product}): {result.pair.known or 'not explained'}"
            yield from (f"  {difference}" for difference in result.score.differences)
    if not verbose and any(not result.agrees and result.pair.known for result in results):
        yield "-v lists what does not agree."


def _line(name: str, results: list[Result], width: int) -> str:
    total, agreed = (sum(getattr(result.score, field) for result in results) for field in ("total", "agreed"))
    whole = sum(result.agrees for result in results)
    share = f"{100 * agreed / total:.1f} %" if total else "-"
    return f"{name:{width}}{len(results):6}{whole:7}{total:7}{share:>8}"


def answers(process: Callable[[str], str], requests: str, version: str) -> list[Element]:
    """Send requests as one message set, and return the responses. Raises `HresultError`."""
    body = f'<QBXML><QBXMLMsgsRq onError="continueOnError">{requests}</QBXMLMsgsRq></QBXML>'
    text = f'<?xml version="1.0"?><?qbxml version="{version}"?>{body}'
    return list(read_tree(process(text.encode("ascii", "xmlcharrefreplace").decode()))[0])


def _filled(text: str, records: list[Element]) -> str:
    def value(match: re.Match[str]) -> str:
        number = int(match[1])
        if not 0 < number <= len(records):
            return match[0]
        record = records[number - 1]
        names = _IDS if match[2] == "id" else ("EditSequence",)
        return next((text for name in names if (text := record.findtext(name))), "")

    return _PLACE.sub(value, text)
