"""An integrator, a deployer and a support person find what they look for: in two clicks from the README.

A reader sees the texts of links and the words before them. `QUESTIONS` follows the texts only, and looks for the answer
in the section to which the last link leads.

A reader follows words, not file names, and a site with a search is not where people read.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from tests.infrastructure.test_references import PAGES, name_of
from tests.support.repository_files import ROOT

README = ROOT / "README.md"
MAX_CLICKS = 2

QUESTIONS = (
    # An integrator
    ("How do I queue a first request and get its result?", "The first sync", "terminal 1"),
    ("Is a hosted service the better choice for us?", "A hosted service, or this one", "Nobody in your team"),
    ("What does QuickBooks' error 3120 mean?", "errors by name", "| 3120 |"),
    ("What do I do about outcome_unknown?", "errors by name", "Look in QuickBooks first"),
    ("How large may a request be?", "limits", "| body of a call | 1 MiB |"),
    ("How do I check the signature of a webhook?", "Webhooks", "def is_valid("),
    ("How do I get results without a public address?", "events", "if your program cannot be reached"),
    ("How do I repeat a call that timed out?", "All documents → Idempotency", "returns the first record"),
    ("How do I test without Windows?", "Testing your integration", "without AWS, Windows or QuickBooks"),
    ("Is there a client for TypeScript?", "All documents → TypeScript client", "npm"),
    ("Can a request overtake another?", "All documents → Can a request overtake another?", "## Exceptions"),
    # A deployer
    ("Which parameters does a deployment have?", "All documents → Deploying", "| `RetentionDays` |"),
    ("Which permissions do I need in AWS?", "All documents → Who may deploy", "examples/deployer.yaml"),
    ("How do I create an API key?", "All documents → Apps, keys, secrets", "| `create-key APP_ID"),
    ("What does the alarm WebhooksLate mean?", "All documents → Alarms", "| `WebhooksLate` |"),
    ("How do I upgrade, and go back?", "All documents → Upgrading and rolling back", "before the upgrade"),
    ("How do I go back to this morning?", "All documents → Restore", "point-in-time recovery"),
    ("What do 100 connections cost?", "Costs", "| 100 | 15 |"),
    ("How do I delete requests after 90 days?", "All documents → How long requests are kept", "`RetentionDays` counts"),
    ("When does an account need more concurrency?", "All documents → Growth", "`MaxSessions` of a new account"),
    ("What does AWS encrypt, and with which key?", "security", "encryption at rest"),
    ("Can I run it without AWS?", "All documents → Without AWS", "is missing for the books of customers"),
    ("What was the address of the API?", "All documents → Deploying", "list stack-outputs"),
    # A support person
    ("Must QuickBooks be open, a user logged on?", "All documents → What the machine needs", "logged on? | **Yes"),
    ("Where is the log?", "All documents → The log of the Web Connector", "QWCLog.txt"),
    ("Which key do I sign in with?", "All documents → Signing in to the console", "create-key APP_ID"),
    ("Why has this request been waiting since noon?", "All documents → Why something waits", "| `not_seen` |"),
    ("The Web Connector shows QBWC1048. What now?", "Support", "| QBWC1048 |"),
    ("How do I set up a customer's new computer?", "All documents → A customer's machine", "**A new machine.**"),
    ("The accountant restored a backup. Is that safe?", "All documents → Company files", "restored backup"),
    ("Can we send at night only?", "All documents → How fast requests are sent", "`sync_window`"),
    ("QuickBooks says 0x80040414. What is that?", "Errors by name", "A dialog box is open"),
    ("The receiver was down all night. What now?", "All documents → Bulk actions", "`POST …/redeliver`"),
    ("Who deleted this request?", "All documents → Who did what", "audit log"),
    ("A customer leaves. How do I remove the connection?", "All documents → Remove a connection", "`DELETE /api"),
    ("The API returns 401 since this morning. Why?", "Troubleshooting", "401 after a restart"),
)

_LINK = re.compile(r"\[([^\]]+)\]\(([^)\s]+)\)")


def links_of(page: Path) -> dict[str, tuple[Path, str]]:
    """Return the page and the anchor behind each text of a link. The first one of a text counts."""
    links: dict[str, tuple[Path, str]] = {}
    for text, link in _LINK.findall(page.read_text(encoding="utf-8")):
        name, _, anchor = link.partition("#")
        if "://" not in link:
            links.setdefault(" ".join(text.split()), (Path(os.path.normpath(page.parent / name)), anchor))
    return links


def section(page: Path, anchor: str) -> str:
    """Return the part of a page below the heading with this anchor, or the whole page."""
    text = page.read_text(encoding="utf-8")
    if not anchor:
        return text
    headings = list(re.finditer(r"(?m)^(#+) (.*)$", text))
    for number, heading in enumerate(headings):
        if re.sub(r"[^\w\- ]", "", heading[2].lower()).replace(" ", "-") == anchor:
            following = (other for other in headings[number + 1 :] if len(other[1]) <= len(heading[1]))
            return text[heading.start() : next((other.start() for other in following), len(text))]
    return ""


@pytest.mark.parametrize(("question", "clicks", "answer"), QUESTIONS, ids=[row[0] for row in QUESTIONS])
def test_a_question_is_answered_two_clicks_from_the_readme(question: str, clicks: str, answer: str) -> None:
    texts = clicks.split(" → ")
    page, anchor = README, ""
    for text in texts:
        page, anchor = links_of(page)[text]

    assert len(texts) <= MAX_CLICKS
    assert answer in " ".join(section(page, anchor).split()), question  # wherever its lines break


def test_every_page_for_users_is_two_clicks_from_the_readme() -> None:
    reached = {README}
    for _ in range(MAX_CLICKS):
        reached |= {target for page in reached if page.suffix == ".md" for target, _ in links_of(page).values()}

    for_users = {page for page in PAGES if page.parent in {ROOT, ROOT / "docs", ROOT / "docs" / "guides"}}
    assert [name_of(page) for page in sorted(for_users - reached)] == []
