"""`local.run` in a separate process, as `make run` starts it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from local.first_steps import Api

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[2]
START_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Run:
    """A run of the stack: its process, its credentials file, and the lines that it has printed."""

    process: subprocess.Popen[str]
    credentials: dict[str, Any]
    lines: list[str]

    @property
    def output(self) -> str:
        return "".join(self.lines)

    def api(self) -> Api:
        """Return the API with the key of the first app."""
        return Api(self.credentials["base_url"], self.credentials["api_key"])

    def queue(self, body: dict[str, Any]) -> str:
        """Queue a request and return its id."""
        at = f"/api/v1/connections/{self.credentials['connection_id']}/queued_requests"
        return str(self.api().call("POST", at, body)["data"]["id"])

    def record(self, request_id: str) -> Any:
        """Return a record as it is now."""
        return self.api().call("GET", f"/api/v1/queued_requests/{request_id}")["data"]

    def kill(self) -> None:
        """Stop it as a power cut would."""
        self.process.kill()
        self.process.wait()


@contextmanager
def running(folder: Path, **variables: str) -> Iterator[Run]:
    """Run the stack on a free port with its state in `folder`, until the block ends; `variables` are its options."""
    environment = {**os.environ, "PORT": "0", "STATE_DIR": str(folder), **variables}
    process = subprocess.Popen(
        [sys.executable, "-m", "local.run"], cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    output = process.stdout
    lines: list[str] = []
    started = threading.Event()

    def read() -> None:
        # Read to the end. Otherwise the pipe fills and the stack stops.
        for line in output:
            lines.append(line)
            if "-d '{" in line:
                started.set()
        started.set()

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    try:
        assert started.wait(START_SECONDS)
        assert process.poll() is None, "".join(lines)
        state = folder / ".local" / "credentials.json"
        yield Run(process, json.loads(state.read_text(encoding="utf-8")), lines)
    finally:
        killed = process.poll() is not None
        process.send_signal(signal.SIGINT)
        status = process.wait(START_SECONDS)
        reader.join()
        output.close()
        assert killed or status == 0, "".join(lines)
