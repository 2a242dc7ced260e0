"""A QuickBooks in a few lines: it does what it is handed, keeps answers of message sets, and says whose file it is."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

from tests.support.web_connector.driver import answer, not_kept

A_PAGE = 2


@dataclass
class Books:
    """One company file. `owner` is a text that stands in each answer, so that a stranger's is known."""

    owner: str
    kept: dict[str, tuple[str, str]] = field(default_factory=dict)
    executions: Counter[str] = field(default_factory=Counter)
    iterators: dict[str, int] = field(default_factory=dict)

    def answer(self, request: str, objects: int = 0, *, failed: bool = False) -> str:
        """Answer as `qbxml.md` §4 and §5 have it; a query that begins to iterate finds `objects`."""
        new, old = (re.search(rf'{name}MessageSetID="([^"]*)"', request) for name in ("new", "old"))
        if new is None:
            return self._read(request, objects, failed=failed)
        content = request.partition("<CustomerAddRq")[2]
        if old and old[1] != new[1]:
            self.kept.pop(old[1], None)
        if new[1] in self.kept:
            known, text = self.kept[new[1]]
            return text if content in {known, ""} else not_kept(request, 9001)
        if not content:
            return not_kept(request)
        self.executions[new[1]] += 1
        text = self._text(request, code=3100, severity="Error") if failed else self._text(request)
        text = text.replace("<QBXMLMsgsRs>", f'<QBXMLMsgsRs newMessageSetID="{new[1]}">')
        self.kept[new[1]] = content, text
        return text

    def _read(self, request: str, objects: int, *, failed: bool) -> str:
        if failed:
            return self._text(request, code=500, severity="Error")
        known = re.search(r'iteratorID="([^"]*)"', request)
        if 'iterator="Start"' in request:
            iterator = f"{{{len(self.iterators):08}-e727-472f-8ade-6753c4f67a46}}"
            self.iterators[iterator] = objects
        elif known and known[1] in self.iterators:
            iterator = known[1]
            self.iterators[iterator] = max(0, self.iterators[iterator] - A_PAGE)
        elif known:
            return self._text(request, code=3000, severity="Error")
        else:
            return self._text(request)
        remaining = self.iterators[iterator]
        return self._text(request, extra=f' iteratorRemainingCount="{remaining}" iteratorID="{iterator}"')

    def _text(self, request: str, *, code: int = 0, severity: str = "Info", extra: str = "") -> str:
        content = "" if code else f"<CustomerRet><Name>{self.owner}</Name></CustomerRet>"
        return answer(request, code=code, severity=severity, message="As it is.", extra=extra, content=content)
