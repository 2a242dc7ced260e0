"""Install exactly the packages of a requirements file into a virtual environment of the project.

    python3 -m local.install .venv requirements/run.txt "the service's packages"

The Makefile calls it, and writes a stamp into the environment when it has succeeded. An environment without a stamp was
never completed, or its last installation was interrupted. It is built again, and so is one whose Python is gone. This
program needs the standard library only.
"""

from __future__ import annotations

import fcntl
import os
import re
import subprocess
import sys
from pathlib import Path

STAMPS = (".run", ".installed")

# --no-deps: the file lists every package.
PIP = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--require-hashes", "-r")

NO_NETWORK = re.compile(
    r"connection broken by|NewConnectionError|NameResolutionError|ConnectionError|Network is unreachable"
)
"""What pip prints if it reaches no package index."""


class InstallError(Exception):
    """The packages are not installed. The message says what to do."""


def install(folder: Path, requirements: Path, what: str, python: str = sys.executable) -> None:
    """Install the packages. Raises InstallError.

    The stamps are removed while packages change, so an interruption leaves none. pip downloads everything before it
    changes anything, so a machine without a network keeps the environment that it had.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    with folder.with_name(f"{folder.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # a second make waits for the first
        _make_usable(folder, python)
        print(f"Installing {what} into {folder} …", flush=True)
        stamps = {stamp: stamp.stat().st_mtime_ns for stamp in _stamps(folder)}
        for stamp in stamps:
            stamp.unlink()
        process = _run(folder / "bin" / "python", *PIP, requirements)
        output = process.stdout + process.stderr
        if process.returncode and NO_NETWORK.search(output):
            for stamp, changed in stamps.items():
                stamp.touch()
                os.utime(stamp, ns=(changed, changed))
            raise InstallError(
                f"{what} cannot be installed, because no package index can be reached. Connect this machine to the "
                f"network, then start again. pip says: {output.strip().splitlines()[-1]}"
            )
        if process.returncode:
            raise InstallError(f"{what} cannot be installed. pip says:\n{output}")


def _make_usable(folder: Path, python: str) -> None:
    """Create the environment if there is none, and again if it cannot be used."""
    reason = fault(folder)
    if reason is None:
        return
    if reason:
        print(f"{folder} is built again: {reason}.", flush=True)
    # By its real name: python3 is another version after an upgrade of the system.
    process = _run(os.path.realpath(python), "-m", "venv", "--clear", folder)
    if process.returncode:
        raise InstallError(f"{folder} cannot be created:\n{process.stdout}{process.stderr}")


def fault(folder: Path) -> str | None:
    """Return why an environment cannot be used, an empty text if there is none, or None if it can be used."""
    python = folder / "bin" / "python"
    if not python.is_symlink() and not python.exists():
        return ""
    if not python.exists():
        return f"its Python, {os.path.realpath(python)}, is gone"
    if not _stamps(folder):
        return "its first installation was interrupted"
    return None if _run(python, "-c", "import pip").returncode == 0 else "it has no pip"


def _stamps(folder: Path) -> list[Path]:
    return [folder / name for name in STAMPS if (folder / name).exists()]


def _run(*command: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our own arguments


def main(folder: str, requirements: str, what: str) -> int:
    """Install; return the exit status."""
    try:
        install(Path(folder), Path(requirements), what)
    except InstallError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nInterrupted. The next start continues.", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
