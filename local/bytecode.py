"""Add bytecode to what `sam build` made, so that functions do not compile their code with each cold start.

Usage: `python -m local.bytecode [FOLDER]`, FOLDER being SAM's build folder (`.aws-sam/build`). Lambda's
code folder is read-only: without bytecode in it, Python compiles every module that it imports, each time.
Why it is done so: docs/decisions/0025-bytecode-in-the-artifact.md.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

CACHE = "__pycache__"

TASK_ROOT = "/var/task"
"""Lambda: where a function's code is. It stands in tracebacks."""


class NoInterpreter(Exception):
    """The runtime's Python is not on this machine."""


def main(folder: str = ".aws-sam/build") -> int:
    """Add the bytecode and say so; return 0 also without the runtime's Python: the artifact works as it is."""
    try:
        count = add(Path(folder))
    except FileNotFoundError as error:
        print(f"{error.filename} is not there: run sam build first.", file=sys.stderr)
        return 1
    except NoInterpreter as error:
        print(f"No bytecode was added: {error}. The functions work, but take longer to start.")
    else:
        print(f"Added bytecode to {count} functions in {folder}.")
    return 0


def add(build: Path) -> int:
    """Add bytecode to every function of a build folder and return how many there are.

    SAM's `build.toml` beside it says which functions share a code, and for which Python it was built. A code is
    compiled once, so that its functions stay the same to the byte: SAM uploads them once. Raises
    NoInterpreter, and FileNotFoundError when nothing was built.
    """
    definitions = tomllib.loads((build.parent / "build.toml").read_text(encoding="utf-8"))
    count = 0
    for definition in definitions["function_build_definitions"].values():
        first, *others = (build / name for name in definition["functions"])
        compile_code(first, definition["runtime"])
        for other in others:
            for cache in first.rglob(CACHE):
                shutil.copytree(cache, other / cache.relative_to(first), dirs_exist_ok=True)
        count += 1 + len(others)
    return count


def compile_code(folder: Path, runtime: str) -> None:
    """Add bytecode for a runtime (`python3.13`) to one function's code. Raises NoInterpreter.

    It is hash-based and Python does not check it: it takes it for as long as the version is its own.
    """
    options = ["-q", "--invalidation-mode", "unchecked-hash", "-s", str(folder), "-p", TASK_ROOT]
    # Not everything in a package compiles everywhere: what does not is left to the import that wants it.
    command = [_interpreter(runtime), "-m", "compileall", *options, str(folder)]
    subprocess.run(command, check=False, stdout=subprocess.DEVNULL)  # noqa: S603 - an interpreter found by name


def _interpreter(runtime: str) -> str:
    if runtime == f"python{sys.version_info.major}.{sys.version_info.minor}":
        return sys.executable
    found = shutil.which(runtime)
    # A version manager's stand-in is there for versions too that are not installed.
    works = found and subprocess.run([found, "-c", ""], check=False, capture_output=True).returncode == 0  # noqa: S603 - as above
    if found is None or not works:
        raise NoInterpreter(f"{runtime} is not on this machine, and bytecode is good for one version only")
    return found


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
