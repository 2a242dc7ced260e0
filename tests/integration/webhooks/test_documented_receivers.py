"""The receivers in docs/webhooks.md work as described. The tests run them unchanged."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from domain.webhooks.signature import signature_headers

PAGE = Path(__file__).parents[3] / "docs" / "webhooks.md"
SECRET = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
OTHER_SECRET = "whsec_ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8="
BODY = '{"type":"queued_request.completed"}'

PYTHON = "\nimport json, sys\nfor s, h, b in json.load(sys.stdin): print(is_valid(s, h, b.encode()))\n"
NODE = (
    '\nconst cases = JSON.parse(require("node:fs").readFileSync(0, "utf8"));'
    "\nfor (const [s, h, b] of cases) console.log(isValid(s, h, Buffer.from(b)));\n"
)


@pytest.mark.parametrize(
    ("language", "command", "ending"), [("python", sys.executable, PYTHON), ("javascript", "node", NODE)]
)
def test_a_documented_receiver_rejects_webhooks_of_others(language: str, command: str, ending: str) -> None:
    program = shutil.which(command)
    if program is None:
        pytest.skip(f"needs {command}")
    [code] = re.findall(rf"```{language}\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    now = int(time.time())
    headers = signature_headers([OTHER_SECRET, SECRET], "11111111-1111-4111-8111-111111111111", now, BODY.encode())
    old = signature_headers([SECRET], "11111111-1111-4111-8111-111111111111", now - 400, BODY.encode())
    cases = [
        (SECRET, headers, BODY),
        (OTHER_SECRET, headers, BODY),
        (SECRET, headers, BODY + " "),
        (SECRET, headers | {"webhook-id": "another"}, BODY),
        (SECRET, headers | {"webhook-signature": "v1,x"}, BODY),
        (SECRET, old, BODY),
    ]

    process = subprocess.run(  # noqa: S603 - the program is this repository's page
        [program, "-c" if language == "python" else "-e", code + ending],
        input=json.dumps(cases),
        capture_output=True,
        text=True,
        check=True,
    )

    assert process.stdout.lower().split() == ["true", "true", "false", "false", "false", "false"]
