"""The files of the repository, without those that were built, generated or installed into its folders."""

from __future__ import annotations

import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def repository_files(*places: str) -> list[Path]:
    """Return the files below these folders, or the named ones, in order: those that git tracks, and new ones.

    Files that `.gitignore` names are left out. Another process may write or remove them at any time.
    """
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *places]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)  # noqa: S603 - our own command
    paths = {ROOT / name for name in listed.stdout.split("\0") if name}
    return sorted(path for path in paths if path.is_file())
