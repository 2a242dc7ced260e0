"""Starts and stops DynamoDB Local."""

from __future__ import annotations

import os
import subprocess
import urllib.error
import urllib.request
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from local import programs
from local.private_files import private_folder

if TYPE_CHECKING:
    from collections.abc import Iterator

JARS_VARIABLE = "DYNAMODB_LOCAL_JARS"
"""Tells the tests where the jars are."""

START_SECONDS = 30
MAIN_CLASS = "software.amazon.dynamodb.services.local.main.ServerRunner"


@contextmanager
def running(jars: Path, port: int, *, kept_in: Path | None = None) -> Iterator[str]:
    """Run DynamoDB Local while the block runs; yields its endpoint.

    The data is in memory, or in the folder `kept_in`. Raises RuntimeError when it does not start.
    """
    libraries = jars.resolve()
    if kept_in:
        private_folder(kept_in)  # it has webhook secrets
    storage = ["-sharedDb", "-dbPath", str(kept_in.resolve())] if kept_in else ["-inMemory"]
    java = ["java", f"-Djava.library.path={libraries}", "-cp", f"{libraries}/*"]
    command = [*java, *_main(), *storage, "-disableTelemetry", "-port", str(port)]
    endpoint = f"http://{os.environ.get('DYNAMODB_LOCAL_HOST', '127.0.0.1')}:{port}"
    with TemporaryDirectory() as folder:
        log = (kept_in or Path(folder)) / "server.log"
        with programs.running("DynamoDB Local", command, lambda: _is_up(endpoint, log), log=log, seconds=START_SECONDS):
            yield endpoint


def _main() -> list[str]:
    """Return the program for Java to start.

    With a compiler, it is our source file, which listens on loopback only; otherwise the original class.
    """
    modules = subprocess.run(["java", "--list-modules"], capture_output=True, text=True, check=False).stdout  # noqa: S607 - Java is where the system has it
    if "jdk.compiler" in modules:
        return [str(Path(__file__).with_name("Loopback.java"))]
    print("This Java has no compiler (it is not a JDK): DynamoDB Local will listen on every address of this machine.")
    return [MAIN_CLASS]


def _is_up(endpoint: str, log: Path) -> bool:
    # If the port is in use, Jetty continues without it.
    if "Could not start server" in log.read_text(encoding="utf-8"):
        raise programs.WillNotStart
    try:
        urllib.request.urlopen(endpoint, timeout=1).close()  # noqa: S310 - loopback
    except urllib.error.HTTPError as error:
        error.close()  # it refuses an unsigned request with 400, so it is up
    except OSError:
        return False
    return True
