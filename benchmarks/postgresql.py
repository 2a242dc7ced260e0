"""Requests in PostgreSQL, as a baseline. The server uses a socket in a temporary directory.

PostgreSQL must be installed (Debian: `apt-get install postgresql`). The server does not listen on the network, and it
stops at the end of the benchmark.
"""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

DIRECTORIES = ("/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/opt/homebrew/opt/postgresql*/bin")
"""The directories in which distributions install `initdb`, which is rarely in the path."""

TABLE = """
CREATE TABLE queued_requests (
    id uuid PRIMARY KEY, connection_id uuid NOT NULL, inserted_at timestamptz NOT NULL, updated_at timestamptz NOT NULL,
    state text NOT NULL, webhook_state text NOT NULL, request text NOT NULL, response text, search_text text NOT NULL
);
CREATE INDEX ON queued_requests (connection_id, inserted_at, id);
CREATE INDEX ON queued_requests (connection_id, updated_at, id);
CREATE INDEX ON queued_requests (connection_id, state, inserted_at, id);
"""

DONE = "statements done"


class Session:
    """A psql that waits for statements."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def run(self, sql: str) -> None:
        """Run statements. Raises RuntimeError if psql ends, after which its own message is on the terminal."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{sql}\nSELECT '{DONE}';\n")
        self._process.stdin.flush()
        for line in self._process.stdout:
            if line.strip() == DONE:
                return
        raise RuntimeError("psql refused a statement")


class PostgreSQL:
    """A running server."""

    def __init__(self, programs: Path, socket: Path, user: str | None) -> None:
        self._programs = programs
        self._socket = socket
        self._user = user

    def _psql(self) -> list[str | Path]:
        options = ["-d", "postgres", "-XAqt", "-v", "ON_ERROR_STOP=1"]
        return [self._programs / "psql", "-h", self._socket, *options]

    @contextmanager
    def session(self) -> Iterator[Session]:
        """Create the table, and run statements one after the other in one psql, without its start."""
        process = subprocess.Popen(  # noqa: S603 - our own arguments
            self._psql(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, user=self._user
        )
        try:
            session = Session(process)
            session.run(TABLE)
            yield session
        finally:
            process.communicate()


@contextmanager
def postgresql() -> Iterator[PostgreSQL | None]:
    """Yield a server and stop it afterwards. Yield None if PostgreSQL is not installed."""
    programs = _programs()
    if programs is None:
        yield None
        return
    # The server refuses to run as root.
    user = next((name for name in ("postgres", "nobody") if _is_user(name)), None) if os.geteuid() == 0 else None
    directory = Path(tempfile.mkdtemp(prefix="postgresql-"))
    if user:
        shutil.chown(directory, user)
    data = directory / "data"
    options = f"-k {directory} -c listen_addresses='' -c fsync=off -c shared_buffers=256MB"
    try:
        _run(user, programs / "initdb", "-D", data, "-A", "trust", "-E", "UTF8", "--no-sync")
        _run(user, programs / "pg_ctl", "-D", data, "-l", directory / "log", "-w", "-o", options, "start")
        try:
            yield PostgreSQL(programs, directory, user)
        finally:
            _run(user, programs / "pg_ctl", "-D", data, "-w", "-m", "fast", "stop")
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def _programs() -> Path | None:
    initdb = shutil.which("initdb")
    if initdb:
        return Path(initdb).resolve().parent
    for pattern in DIRECTORIES:
        for directory in sorted(Path("/").glob(pattern.removeprefix("/")), reverse=True):
            if (directory / "initdb").exists():
                return directory
    return None


def _run(user: str | None, *command: str | Path) -> None:
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, user=user)  # noqa: S603 - our own arguments


def _is_user(name: str) -> bool:
    try:
        pwd.getpwnam(name)
    except KeyError:
        return False
    return True
