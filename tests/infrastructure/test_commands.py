"""docs/commands.md has every target and variable of the Makefile and of the programs of the repository, and no other.

Both sides are derived: targets and variables of the Makefile from its text, the variables of programs from their syntax
trees, the options of programs from their calls of `add_argument`.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from functools import cache
from typing import TYPE_CHECKING

from local.programs import ROOT
from tests.support.cases import for_each
from tests.support.repository_files import repository_files

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

NAME = r"[A-Z][A-Z0-9_]+"

MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8").replace("\\\n", " ")

PAGE = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")

FOLDERS = ("local", "simulator", "tools", "tests", "benchmarks", "examples", "clients")

INTERNAL = {
    *(
        "INTERRUPTIONS",
        "RUNTIME_BUILT",
        "RUNTIME_ENDPOINT",
        "RUNTIME_TOOLS",
        "SAM_LOCAL_API",
        "SAM_LOCAL_COMMAND",
        "TOOLS",
        "EMULATOR",
    ),
    *("AWS_ENDPOINT_URL_DYNAMODB", "AWS_ENDPOINT_URL_DYNAMODB_STREAMS", "OPENAPI_GENERATOR", "POWERTOOLS_SERVICE_NAME"),
    *("POWERTOOLS_LOG_LEVEL", "TEST_CONNECTION_BUCKET"),
}
"""Variables that one program of the repository sets for another."""

FILE = "test_commands.py"

OF_THE_SYSTEM = {"PATH", "HOME"}


QUBE = {"QUBE_URL", "QUBE_API_KEY", "QUBE_WEBHOOK_SECRET"}
"""Read by a client that is not ours."""


@cache
def targets() -> dict[str, str]:
    """Return the text of each target that `make help` shows: its help and its recipe."""
    return dict(re.findall(r"(?m)^([a-z0-9-]+):(.*##.*\n(?:\t.*\n?)*)", MAKEFILE))


@cache
def rows() -> dict[str, str]:
    """Return the row of each target on the page. A row may have several targets."""
    lines = [line for line in PAGE.splitlines() if line.startswith("|")]
    return {target: line for line in lines for target in re.findall(r"`make ([a-z0-9-]+)`", line.split("|")[1])}


def variables_on(text: str) -> set[str]:
    """Return the variables in a part of the page: the names at the beginning of a code span."""
    return set(re.findall(rf"`({NAME})(?:=[^`]*)?`", text))


def variables_of_makefile(text: str) -> set[str]:
    """Return the variables that a part of the Makefile takes from its user."""
    own = set(re.findall(rf"(?m)^({NAME})\s*:?=", MAKEFILE)) | set(re.findall(rf"(?m)^define ({NAME})", MAKEFILE))
    used = set(re.findall(rf"(?<!\$)\$[({{]({NAME})[)}}]", text)) | set(re.findall(rf"\$\(if \$\(({NAME})\)", text))
    for name in used & own:
        [value] = re.findall(rf"(?m)^{name}\s*:?= (.*)", MAKEFILE)
        used |= variables_of_makefile(value)
    return used - own - {"CURDIR", "MAKE", "MAKECMDGOALS", "MAKEFILE_LIST"}


@cache
def programs() -> Mapping[Path, str]:
    """Return the text of each program."""
    return {path: path.read_text(encoding="utf-8") for path in repository_files(*FOLDERS) if path.suffix == ".py"}


def trees_with(*words: str) -> Iterator[tuple[Path, ast.Module]]:
    """Yield the syntax trees of the programs that have one of the words. All trees together take 20 s."""
    for path, text in programs().items():
        if any(word in text for word in words):
            yield path, ast.parse(text)


def is_environment(node: ast.expr) -> bool:
    match node:
        case ast.Name("environ" | "environment") | ast.Attribute(ast.Name("os"), "environ"):
            return True
    return False


def keys_read(tree: ast.AST) -> Iterator[ast.expr]:
    """Yield the expressions that are used as names of environment variables."""
    for node in ast.walk(tree):
        match node:
            case ast.Subscript(value=mapping, slice=key, ctx=ast.Load()) if is_environment(mapping):
                yield key
            case ast.Call(func=ast.Attribute(value=mapping, attr="get"), args=[key, *_]) if is_environment(mapping):
                yield key
            case ast.Compare(left=key, ops=[ast.In() | ast.NotIn()], comparators=[mapping]) if is_environment(mapping):
                yield key


def readers() -> dict[str, int]:
    """Return the functions that read the variable that one of their parameters names, and its position."""
    found = {}
    for _, tree in trees_with("environ"):
        for function in ast.walk(tree):
            if isinstance(function, ast.FunctionDef):
                parameters = [argument.arg for argument in function.args.args]
                for key in keys_read(function):
                    if isinstance(key, ast.Name) and key.id in parameters:
                        found[function.name] = parameters.index(key.id)
    return found


@cache
def variables_of_programs() -> dict[str, set[str]]:
    """Return the environment variables that programs read, with the files that read them."""
    found, functions = defaultdict[str, set[str]](set), readers()
    for path, tree in trees_with("environ", *functions):
        constants = {
            statement.targets[0].id: statement.value
            for statement in tree.body
            if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name)
        }
        keys = list(keys_read(tree))
        for call in ast.walk(tree):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in functions:
                keys += call.args[functions[call.func.id] :][:1]
        for key in keys:
            value = constants.get(key.id) if isinstance(key, ast.Name) else key
            if isinstance(value, ast.Constant) and re.fullmatch(NAME, str(value.value)):
                found[str(value.value)].add(str(path.relative_to(ROOT)))
    for path in repository_files("examples/*.mjs", "examples/*.mts", "clients/*/src/*.js"):
        text = path.read_text(encoding="utf-8")
        for names in re.findall(r"(?:const|let) \{([^}]*)\} = process\.env", text):
            for name in re.findall(NAME, names):
                found[name].add(str(path.relative_to(ROOT)))
    return {name: paths for name, paths in found.items() if name not in INTERNAL | OF_THE_SYSTEM}


def variables_of_env_file() -> set[str]:
    """Return the variables that `make run` writes to `.local/env`."""
    return set(re.findall(rf'"({NAME})": credentials\.', (ROOT / "local" / "first_steps.py").read_text("utf-8")))


def test_every_target_of_the_makefile_is_on_the_page_and_no_other() -> None:
    assert set(rows()) == set(targets())


def test_every_variable_that_the_makefile_or_a_program_reads_is_on_the_page_and_no_other() -> None:
    programs = variables_of_programs()
    known = {*variables_of_makefile(MAKEFILE), *programs, *variables_of_env_file()}

    missing = {name: sorted(programs.get(name, {"Makefile"})) for name in known - variables_on(PAGE)}
    assert missing == {}, "describe these variables in docs/commands.md"
    assert variables_on(PAGE) - known == QUBE, "these variables are on the page, and nothing reads them"


@for_each("target", targets())
def test_the_row_of_a_target_has_the_variables_of_its_recipe_and_of_its_help(target: str) -> None:
    help_text, _, recipe = targets()[target].partition("\n")
    shown = rows()[target]
    if target == "run":
        shown += PAGE.partition("### `make run`")[2]
    if target == "deploy":
        shown += rows()["deploy-check"]

    own_help = re.sub(r"make [a-z-]+ [^,)]*", "", help_text)  # without the commands of other targets
    named = set(re.findall(rf"\b({NAME})=", own_help))
    assert variables_of_makefile(recipe) | named <= variables_on(shown) | {"PYTHON"}


def test_the_help_of_make_run_has_every_option_that_it_reads() -> None:
    parts = {"local/run.py", "local/wait.py", "local/terminal.py"}  # what `make run` is made of
    names = {name for name, paths in variables_of_programs().items() if paths & parts} - {"WAIT_SECONDS"}

    help_text = ast.get_docstring(ast.parse(programs()[ROOT / "local" / "run.py"])) or ""

    assert {name for name in names if not re.search(rf"(?m)^  {name}=", help_text)} == set()


def options() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the options of the programs to which make passes ARGS or DO, with the file of each."""
    for module in re.findall(r"-m ((?!pytest)[a-z_.]+)[^\n]*\$\((?:or )?\$?\(?(?:ARGS|DO)", MAKEFILE):
        path = ROOT / module.replace(".", "/")
        tree = ast.parse(programs().get(path.with_suffix(".py")) or programs()[path / "__main__.py"])
        for call in ast.walk(tree):
            if isinstance(call, ast.Call) and ast.unparse(call.func).endswith("add_argument"):
                names = tuple(str(name.value) for name in call.args if isinstance(name, ast.Constant))
                if names and names[0].startswith("-"):
                    yield module, names


def test_every_option_that_make_can_pass_to_a_program_is_documented() -> None:
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("simulator/*.md")]
    text = MAKEFILE + "".join(path.read_text(encoding="utf-8") for path in pages)
    named = set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", text))
    found = list(options())

    assert {module for module, _ in found} >= {"local.command", "simulator", "tools.fuzz_service"}
    assert [(module, names) for module, names in found if not named & set(names)] == []


def test_no_program_reads_a_variable_in_a_way_that_this_test_does_not_see() -> None:
    """`os.environ` may be passed on as `environment`; anything else could hide a name."""
    aliases = re.compile(r"\bgetenv\b|\benviron as\b|^\s*\w+ = os\.environ$", re.MULTILINE)

    assert [str(path) for path, text in programs().items() if aliases.search(text) and path.name != FILE] == []
