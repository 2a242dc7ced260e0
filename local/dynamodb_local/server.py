"""Starts and stops DynamoDB Local."""

from __future__ import annotations

import subprocess
import threading
import urllib.error
import urllib.request
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

JARS_VARIABLE = "DYNAMODB_LOCAL_JARS"
"""Tells the tests where the jars are."""

START_TENTHS = 300
STOP_SECONDS = 20
MAIN_CLASS = "software.amazon.dynamodb.services.local.main.ServerRunner"


@contextmanager
def running(jars: Path, port: int, *, kept_in: Path | None = None) -> Iterator[str]:
    """Run DynamoDB Local while the block runs; yields its endpoint.

    Its data are in memory, or in files of the folder `kept_in`. Raises RuntimeError when it does not start.
    """
    libraries = jars.resolve()
    if kept_in:
        kept_in.mkdir(parents=True, exist_ok=True)
    storage = ["-sharedDb", "-dbPath", str(kept_in.resolve())] if kept_in else ["-inMemory"]
    java = ["java", f"-Djava.library.path={libraries}", "-cp", f"{libraries}/*"]
    log_path = (kept_in or libraries) / "server.log"
    with log_path.open("w", encoding="utf-8") as log:
        server = subprocess.Popen(  # noqa: S603 - our own arguments
            [*java, *_main(), *storage, "-disableTelemetry", "-port", str(port)],
            stdout=log,
            stderr=log,
            start_new_session=True,  # Ctrl-C is for us, and we stop it
        )
    try:
        endpoint = f"http://127.0.0.1:{port}"
        _wait_until_up(server, endpoint, log_path)
        yield endpoint
    finally:
        server.terminate()
        try:
            server.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def _main() -> list[str]:
    """Return what to start: on loopback where Java can compile a source file, else as it comes."""
    modules = subprocess.run(["java", "--list-modules"], capture_output=True, text=True, check=False).stdout  # noqa: S607 - Java is where the system has it
    if "jdk.compiler" in modules:
        return [str(Path(__file__).with_name("Loopback.java"))]
    print("This Java has no compiler (it is no JDK): DynamoDB Local will listen on every address of this machine.")
    return [MAIN_CLASS]


def _wait_until_up(server: subprocess.Popen[bytes], endpoint: str, log: Path) -> None:
    pause = threading.Event()
    for _ in range(START_TENTHS):
        # Jetty leaves a port that is in use to whoever has it, and goes on without.
        if server.poll() is not None or "Could not start server" in log.read_text(encoding="utf-8"):
            break
        try:
            urllib.request.urlopen(endpoint, timeout=1).close()  # noqa: S310 - loopback
        except urllib.error.HTTPError as error:
            error.close()
            return  # it answers an unsigned request with 400: it is up
        except OSError:
            pause.wait(0.1)
        else:
            return
    raise RuntimeError(f"DynamoDB Local did not start: {log.read_text(encoding='utf-8')}")
