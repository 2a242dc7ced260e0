"""A clone of the repository in a bare environment: what somebody has who found it a minute ago."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from tests.documents.pages import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

PROGRAMS = ("bash", "curl", "git", "make", "node", "npm", "npx", "java", "mvn")
"""What a reader may have beside Python and the programs in /usr/bin."""

PYTHONS = ("python3.14", "python3.13", "python3.12", "python3.11", "python3", "python")

KEPT = ("PIP_", "npm_config_", "NPM_CONFIG_")
"""How the names begin of variables that say where packages are."""

KEPT_NAMES = {
    *("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy", "JAVA_HOME"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS", "MAVEN_ARGS"),
}

PORTS = {
    3000: "PORT={port}",
    8080: "RECEIVER_URL=http://127.0.0.1:{port}/",
    8099: "",
    8127: "DYNAMODB_LOCAL_PORT={port}",
}
"""The ports of the documents, and the variable with which another one is chosen if a program listens there."""


@dataclass(frozen=True, slots=True)
class Place:
    """A clone, an empty folder beside it, a folder for the texts of commands, and the environment.

    `ports` has the ports of the documents that are taken, with the free ones in place of them.
    """

    clone: Path
    own_folder: Path
    scratch: Path
    environment: Mapping[str, str]
    ports: Mapping[int, int] = field(default_factory=dict)

    def has(self, program: str) -> bool:
        """Return whether a program can be found."""
        return shutil.which(program, path=self.environment["PATH"]) is not None

    def leftovers(self) -> list[str]:
        """Return the files that are new or changed in the clone, and not ignored."""
        return [line[3:] for line in _git(self.clone, "status", "--porcelain").splitlines()]


@contextmanager
def bare_place(python: Path) -> Iterator[Place]:
    """Yield a place with this Python and no other that the Makefile would prefer; remove it at the end."""
    with tempfile.TemporaryDirectory(prefix="documents-") as name:
        top = Path(name)
        for folder in ("home", "my-program", "scratch"):
            (top / folder).mkdir()
        clone = cloned(top / "qbxml-queue")
        ports = {port: free_port() for port in PORTS if is_taken(port)}
        variables = [PORTS[port].format(port=other).partition("=") for port, other in ports.items()]
        environment = {
            **kept(os.environ),
            **{name: value for name, _, value in variables if name},
            "HOME": str(top / "home"),
            "LANG": "C.UTF-8",
            "DOCKER_HOST": f"unix://{top}/no-docker",
            "PATH": f"{_programs(top / 'bin', python)}:/usr/bin:/bin",
        }
        yield Place(clone, top / "my-program", top / "scratch", environment, ports)


def kept(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that say where packages come from, and where they are cached. No other one is kept."""
    home = Path.home()
    found = {"PIP_CACHE_DIR": str(home / ".cache" / "pip"), "npm_config_cache": str(home / ".npm")}
    if (home / ".npmrc").exists():
        found["NPM_CONFIG_USERCONFIG"] = str(home / ".npmrc")
    for configuration in (home / ".config/pip/pip.conf", home / ".pip/pip.conf"):
        if configuration.exists():
            found["PIP_CONFIG_FILE"] = str(configuration)
    given = {name: value for name, value in environment.items() if name.startswith(KEPT) or name in KEPT_NAMES}
    return {**found, **given}


def cloned(folder: Path) -> Path:
    """Clone the checkout, with what is not committed yet. The tools that it has installed are shared."""
    origin = folder.with_suffix(".git")
    _git(ROOT, "init", "--quiet", "--bare", "--initial-branch=main", str(origin))
    _git(ROOT, "push", "--quiet", str(origin), "HEAD:main")
    _git(ROOT, "clone", "--quiet", str(origin), str(folder))
    changes = _git(ROOT, "diff", "--binary", "HEAD")
    if changes:
        subprocess.run(["git", "apply"], cwd=folder, input=changes, text=True, check=True)  # noqa: S607
    for name in filter(None, _git(ROOT, "ls-files", "-z", "--others", "--exclude-standard").split("\0")):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, folder / name)
    if _git(folder, "status", "--porcelain"):
        _git(folder, "add", "--all")
        _git(
            folder, "-c", "user.name=a reader", "-c", "user.email=reader@example.com", "commit", "-qm", "Not committed"
        )
    if (ROOT / ".tools").is_dir():
        (folder / ".tools").symlink_to((ROOT / ".tools").resolve())
        for file in (*folder.glob("requirements/*.txt"), folder / "local" / "dynamodb_local" / "pom.xml"):
            os.utime(file, (0, 0))  # older than the tools, so that they are not installed again
    return folder


def _programs(folder: Path, python: Path) -> Path:
    """Make a folder with the programs of a reader. Each other Python seems not to be installed."""
    folder.mkdir()
    for name in PROGRAMS:
        if found := shutil.which(name):
            (folder / name).symlink_to(found)
    if found := shutil.which("curl"):
        (folder / "curl").unlink()
        _script(folder / "curl", f'exec "{found}" --fail-with-body "$@"')  # an error response is a failure
    for name in PYTHONS:
        _script(folder / name, "exit 127")
    for name in {"python3", python.name} & {*PYTHONS}:
        _script(folder / name, f'exec "{python}" "$@"')
    return folder


def _script(path: Path, line: str) -> None:
    path.write_text(f"#!/bin/sh\n{line}\n", encoding="utf-8")
    path.chmod(0o755)


def _git(folder: Path, *arguments: str) -> str:
    result = subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True, text=True)  # noqa: S603, S607
    return result.stdout


def is_taken(port: int) -> bool:
    """Return whether a program listens on a port of this machine."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def free_port() -> int:
    """Return a port on which nothing listens."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])
