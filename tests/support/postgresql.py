"""A PostgreSQL server of the tests, from the packages of the system. Only this machine reaches it, by a socket."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

START_SECONDS = 60


def programs() -> Path | None:
    """Return the folder of the programs of the newest PostgreSQL."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    installed = shutil.which("initdb")
    return found[-1].parent if found else Path(installed).parent if installed else None


@contextmanager
def running(folder_of_programs: Path) -> Iterator[str]:
    """Yield the URL of an empty database. The server ends with the block, and nothing of it is left."""
    with tempfile.TemporaryDirectory(prefix="pg-") as name:
        folder = Path(name)
        user: dict[str, Any] = {}
        if os.geteuid() == 0:  # PostgreSQL refuses to run as root.
            nobody = pwd.getpwnam("nobody")
            user = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
            os.chown(folder, nobody.pw_uid, nobody.pw_gid)
        data, log = folder / "data", folder / "log"
        options = ["--auth=trust", "--username=mirror", "--encoding=UTF8", "--no-locale", "--no-sync"]
        command = [str(folder_of_programs / "initdb"), *options, str(data)]
        subprocess.run(command, cwd=folder, check=True, capture_output=True, **user)  # noqa: S603 - the system's
        settings = ["-c", "listen_addresses=", "-c", "fsync=off", "-c", f"unix_socket_directories={folder}"]
        with log.open("wb") as output:
            command = [str(folder_of_programs / "postgres"), "-D", str(data), *settings]
            server = subprocess.Popen(command, cwd=folder, stdout=output, stderr=output, **user)  # noqa: S603
        try:
            _wait(data / "postmaster.pid", server, log)
            yield f"postgresql://mirror@/postgres?host={folder}"
        finally:
            server.send_signal(signal.SIGINT)  # It does not wait for programs that are connected.
            server.wait()


def _wait(state: Path, server: subprocess.Popen[bytes], log: Path) -> None:
    """Wait until the server says in its file that it is ready."""
    deadline = time.monotonic() + START_SECONDS
    while not (state.exists() and "ready" in state.read_text(encoding="ascii")):
        assert server.poll() is None, log.read_text(encoding="utf-8")
        assert time.monotonic() < deadline, log.read_text(encoding="utf-8")
        time.sleep(0.05)
