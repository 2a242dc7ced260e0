"""The notices name the code of others that is in the repository, with its licence."""

from __future__ import annotations

import re

from local.programs import ROOT

VENDOR = ROOT / "src" / "console" / "vendor"
NOTICE = (ROOT / "NOTICE.md").read_text(encoding="utf-8")


def test_every_vendored_library_and_licence_is_in_the_notices_and_no_other() -> None:
    libraries = {line.split()[-1].lstrip("*") for line in (VENDOR / "SHA256SUMS").read_text("utf-8").splitlines()}
    licences = {path.name for path in VENDOR.glob("LICENSE.*")}

    assert set(re.findall(r"(?m)^\| `([^`]+)` \|", NOTICE)) == {name for name in libraries if name.endswith(".js")}
    assert set(re.findall(r"vendor/(LICENSE\.[^)]+)\)", NOTICE)) == licences
