"""Start DynamoDB Local, run a command with DYNAMODB_ENDPOINT set, stop it.

Usage: `python -m local.dynamodb_local JARS PORT COMMAND…`.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from pathlib import Path

START_TENTHS = 300
MAIN_CLASS = "software.amazon.dynamodb.services.local.main.ServerRunner"


def main(jars: str, port: str, *command: str) -> int:
    """Return the command's exit status. Raises RuntimeError when DynamoDB Local does not start."""
    libraries = Path(jars).resolve()
    java = ["java", f"-Djava.library.path={libraries}", "-cp", f"{libraries}/*", MAIN_CLASS]
    with (libraries / "server.log").open("w", encoding="utf-8") as log:
        server = subprocess.Popen(  # noqa: S603 - our own arguments
            [*java, "-inMemory", "-disableTelemetry", "-port", port], stdout=log, stderr=log
        )
    try:
        endpoint = f"http://127.0.0.1:{port}"
        _wait_until_up(server, endpoint, libraries / "server.log")
        environment = {**os.environ, "DYNAMODB_ENDPOINT": endpoint}
        return subprocess.run(command, env=environment, check=False).returncode  # noqa: S603 - what we were told to run
    finally:
        server.terminate()
        server.wait()


def _wait_until_up(server: subprocess.Popen[bytes], endpoint: str, log: Path) -> None:
    pause = threading.Event()
    for _ in range(START_TENTHS):
        try:
            urllib.request.urlopen(endpoint, timeout=1).close()  # noqa: S310 - loopback
        except urllib.error.HTTPError as error:
            error.close()
            return  # it answers an unsigned request with 400: it is up
        except OSError:
            if server.poll() is not None:
                break
            pause.wait(0.1)
        else:
            return
    raise RuntimeError(f"DynamoDB Local did not start: {log.read_text(encoding='utf-8')}")


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
