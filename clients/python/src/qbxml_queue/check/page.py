"""The report as one HTML file, which needs no other: light and dark, on a phone and on paper."""

from __future__ import annotations

from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING

from qbxml_queue.check.verdicts import Verdict, answer, expectation

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from qbxml_queue.check.archive import Archive
    from qbxml_queue.check.report import Report
    from qbxml_queue.check.verdicts import Judged

CLASSES = {Verdict.AS_EXPECTED: "good", Verdict.HANDLED: "differs", Verdict.WRONG: "bad", Verdict.NOT_ASKED: "none"}
TITLE = "First contact with QuickBooks"


def page_of(report: Report) -> str:
    """Return the report as HTML."""
    return _page(TITLE, _head(report), _attention(report), _answers(report), _steps("All steps", report.steps))


def archive_page_of(archive: Archive) -> str:
    """Return all that is in an archive as HTML, for a person to read before it leaves the machine."""
    return _page("What the archive has", _contents(archive))


def _page(title: str, *parts: Iterable[str]) -> str:
    style = (files("qbxml_queue.check") / "page.css").read_text(encoding="utf-8")
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{title}</title>",
            f"<style>{style}</style></head><body><main>",
            f"<h1>{title}</h1>",
            *(line for part in parts for line in part),
            "</main></body></html>",
            "",
        ]
    )


def _contents(archive: Archive) -> Iterator[str]:
    yield (
        f"<p>The archive has {len(archive.files)} files. Names, texts, ids and digits of your company are replaced: "
        "a text by <code>Text 1</code>, <code>Text 2</code> and so on. Look for anything that is yours before you "
        "attach the archive to an issue.</p>"
    )
    yield "<h2>Every value that was kept</h2><div class=card><p class=values>"
    yield " ".join(f"<code>{escape(value)}</code>" for value in archive.values)
    yield "</p></div><h2>Every file</h2><div class=card>"
    for name, content in archive.files.items():
        yield f"<details><summary><code>{escape(name)}</code></summary><pre>{escape(content)}</pre></details>"
    yield "</div>"


def _head(report: Report) -> Iterator[str]:
    yield "<dl class=facts>"
    for name, value in report.installation.items():
        yield f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>"
    yield "</dl><ul class=counts>"
    for verdict in Verdict:
        count = report.counts[verdict]
        yield f"<li class={CLASSES[verdict] if count else 'none'}><b>{count}</b>{verdict.value}</li>"
    yield "</ul>"
    yield (
        f"<p class=soft>Run <code>{escape(report.run)}</code>. This page has no names, amounts or paths of your "
        "company. <code>docs/first-contact.md</code> says what to do about each verdict.</p>"
    )


def _attention(report: Report) -> Iterator[str]:
    """Yield the steps that differ, the wrong ones first."""
    differing = [
        step for verdict in (Verdict.WRONG, Verdict.HANDLED) for step in report.steps if step.verdict is verdict
    ]
    if differing:
        yield from _steps("What differs", differing)
    else:
        yield "<h2>What differs</h2><div class=card><p>Nothing. Every answer was as expected.</p></div>"


def _answers(report: Report) -> Iterator[str]:
    yield "<h2>What only a real company file answers</h2><div class=card><dl class=answers>"
    for question, text in report.answers:
        yield f"<div><dt>{escape(question.text)}</dt><dd>{escape(text)}</dd></div>"
    yield "</dl></div>"


def _steps(title: str, steps: Iterable[Judged]) -> Iterator[str]:
    yield f"<h2>{title}</h2><div class='card wide'><table><thead><tr><th>Step</th><th>Expected</th><th>Answer</th>"
    yield "<th class=number>Seconds</th><th>Verdict</th></tr></thead><tbody>"
    for step in steps:
        seconds = f"{step.outcome.seconds:.1f}" if step.outcome.seconds is not None else ""
        yield f"<tr><td><code>{escape(step.step.name)}</code></td>"
        yield f"<td>{escape(expectation(step.step))}<br><small>{escape(step.step.about)}</small></td>"
        yield f"<td>{escape(answer(step.outcome))}{_findings(step)}</td><td class=number>{seconds}</td>"
        yield f"<td><span class='mark {CLASSES[step.verdict]}'>{step.verdict.value}</span></td></tr>"
    yield "</tbody></table></div>"


def _findings(step: Judged) -> str:
    items = "".join(f"<li>{escape(one.text)} <small>{one.source}</small></li>" for one in step.findings)
    return f"<ul>{items}</ul>" if items else ""
