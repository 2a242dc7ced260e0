"""Every receiver of the project accepts and refuses the same webhooks, and none fails at a hostile one.

The receivers are the recipes of docs/webhooks.md, the examples, and `verify` of the typed clients. They run unchanged,
each in a program of its own.
"""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from domain.webhooks.signature import signature_headers
from tests.examples.guide import ROOT
from tests.support.repository_files import repository_files
from tests.support.webhook_vectors import BODY, ID, SECRET, Vector, vectors

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

TOOLS_PYTHON = ROOT / ".tools" / "clients" / "bin" / "python"
SECONDS = 120

PYTHON_END = """
import base64, json, sys, time
for one in json.load(sys.stdin):
    try:
        print(json.dumps(bool({call})))
    except {refusal}:
        print("false")
    except Exception as error:
        print(json.dumps(f"{{type(error).__name__}}: {{error}}"[:200]))
"""
NODE_END = """
const given = JSON.parse((await import("node:fs")).readFileSync(0, "utf8"));
for (const one of given) {{
  const body = Buffer.from(one.body, "base64");
  try {{
    console.log(JSON.stringify(Boolean({call})));
  }} catch (error) {{
    console.log({refusal} ? "false" : JSON.stringify(String(error)));
  }}
}}
"""
DECODED = 'base64.b64decode(one["body"])'

PHP_END = """
set_error_handler(function ($level, $message) { throw new ErrorException($message); });
while (($line = fgets(STDIN)) !== false) {
    $fields = array_map(fn ($text) => $text === '-' ? null : base64_decode($text), explode(' ', rtrim($line, "\n")));
    [$secret, $body, $id, $timestamp, $signature] = $fields;
    $headers = ['webhook-id' => $id, 'webhook-timestamp' => $timestamp, 'webhook-signature' => $signature];
    try {
        echo json_encode(isValid($secret, array_filter($headers, 'is_string'), $body)), "\\n";
    } catch (Throwable $error) {
        echo json_encode((string) $error), "\\n";
    }
}
"""
CSHARP_END = """
public static class Program
{
    static string Text(string field) => field == "-" ? null : Encoding.UTF8.GetString(Convert.FromBase64String(field));

    public static void Main()
    {
        string line;
        while ((line = Console.ReadLine()) != null)
        {
            var fields = line.Split(' ');
            var headers = new Dictionary<string, string>();
            var names = new[] { "webhook-id", "webhook-timestamp", "webhook-signature" };
            for (var i = 0; i < 3; i++) if (fields[i + 2] != "-") headers[names[i]] = Text(fields[i + 2]);
            try
            {
                var isValid = Webhooks.IsValid(Text(fields[0]), headers, Convert.FromBase64String(fields[1]));
                Console.WriteLine(isValid ? "true" : "false");
            }
            catch (Exception error)
            {
                Console.WriteLine('"' + error.GetType().Name + '"');
            }
        }
    }
}
"""


RUBY_END = """
require "json"
$stdin.each_line do |line|
  fields = line.chomp.split(/ /, -1).map { |text| text == "-" ? nil : text.unpack1("m") }
  secret, body, *headers = fields
  names = ["webhook-id", "webhook-timestamp", "webhook-signature"]
  puts Webhooks.valid?(secret, names.zip(headers).to_h.compact, body)
rescue StandardError => error
  puts error.message.to_json
end
"""
JAVA_END = """
import java.nio.charset.StandardCharsets;
import java.util.*;

public class Program {
    static byte[] bytes(String field) { return Base64.getDecoder().decode(field); }

    static String text(String field) {
        return field.equals("-") ? null : new String(bytes(field), StandardCharsets.UTF_8);
    }

    public static void main(String[] arguments) {
        Scanner lines = new Scanner(System.in, "UTF-8");
        while (lines.hasNextLine()) {
            String[] fields = lines.nextLine().split(" ", -1);
            Map<String, String> headers = new HashMap<>();
            String[] names = {"webhook-id", "webhook-timestamp", "webhook-signature"};
            for (int i = 0; i < 3; i++) if (!fields[i + 2].equals("-")) headers.put(names[i], text(fields[i + 2]));
            try {
                System.out.println(Webhooks.isValid(text(fields[0]), headers, bytes(fields[1])));
            } catch (Throwable error) {
                System.out.println('"' + error.getClass().getName() + '"');
            }
        }
    }
}
"""
GO_END = """package main

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"net/http"
	"os"
	"strings"

	"receiver/webhooks"
)

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<26)
	for lines.Scan() {
		fields := strings.Split(lines.Text(), " ")
		texts := make([]string, 5)
		header := http.Header{}
		for i, field := range fields {
			if field != "-" {
				decoded, _ := base64.StdEncoding.DecodeString(field)
				texts[i] = string(decoded)
			}
		}
		for i, name := range []string{"webhook-id", "webhook-timestamp", "webhook-signature"} {
			if fields[i+2] != "-" {
				header.Set(name, texts[i+2])
			}
		}
		fmt.Println(webhooks.IsValid(texts[0], header, []byte(texts[1])))
	}
}
"""


def as_json(given: list[Vector]) -> str:
    """Return the vectors as one JSON array."""
    return json.dumps([vector.as_dict() for vector in given])


def as_lines(given: list[Vector]) -> str:
    """Return a line for each vector: secret, body, id, time and signature, each as base64 of its bytes, or `-`.

    It is for languages whose JSON refuses a surrogate without its pair, or that have no JSON of their own.
    """
    names = ("webhook-id", "webhook-timestamp", "webhook-signature")

    def line(vector: Vector) -> str:
        secret, *headers = [
            "-" if text is None else base64.b64encode(text.encode("utf-8", "surrogatepass")).decode()
            for text in (vector.secret, *map(vector.headers.get, names))
        ]
        return " ".join([secret, vector.body, *headers])

    return "".join(f"{line(vector)}\n" for vector in given)


@dataclass(frozen=True)
class Receiver:
    """A receiver. `program` returns the interpreter and the code, and writes what the code needs into a folder.

    A recipe checks the signature alone; one that `reads_events` also refuses a body that is not an event. The program
    reads what `given_as` makes of the vectors.
    """

    name: str
    program: Callable[[Path], list[str]]
    reads_events: bool = False
    given_as: Callable[[list[Vector]], str] = as_json


def tool(name: str) -> str:
    """Return the path of a program. The test is skipped without it."""
    return shutil.which(name) or pytest.skip(f"needs {name}")


def recipe(language: str) -> str:
    """Return the only recipe in a language. The other blocks are programs that use a client."""
    text = (ROOT / "docs" / "webhooks.md").read_text(encoding="utf-8")
    blocks = re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)
    [code] = [block for block in blocks if re.search(r"is_?valid\(", block, re.IGNORECASE)]
    return str(code)


def python_program(code: str, call: str) -> list[str]:
    """Return a program that prints the result of `call` for each vector."""
    return [sys.executable, "-c", code + PYTHON_END.format(call=call, refusal="()")]


def node_program(code: str, call: str, refusal: str = "false") -> list[str]:
    """Return a program that prints the result of `call` for each vector."""
    return [tool("node"), "--input-type=module", "-e", code + NODE_END.format(call=call, refusal=refusal)]


def documented_python(_: Path) -> list[str]:
    return python_program(recipe("python"), f'is_valid(one["secret"], one["headers"], {DECODED})')


def documented_node(_: Path) -> list[str]:
    # A page's `require` belongs to a program that is not a module.
    code = 'import { createRequire } from "node:module";\nconst require = createRequire("/");\n' + recipe("javascript")
    return node_program(code, "isValid(one.secret, one.headers, body)")


def example(name: str) -> str:
    """Return the code of an example in a language for which the project has no client."""
    return (ROOT / "examples" / "webhooks" / name).read_text(encoding="utf-8")


def php_example(_: Path) -> list[str]:
    return [tool("php"), "-r", example("webhooks.php").removeprefix("<?php") + PHP_END]


def ruby_example(_: Path) -> list[str]:
    return [tool("ruby"), "-e", example("webhooks.rb") + RUBY_END]


def java_example(folder: Path) -> list[str]:
    compiler, runtime = tool("javac"), tool("java")
    (folder / "Webhooks.java").write_text(example("Webhooks.java"), encoding="utf-8")
    (folder / "Program.java").write_text(JAVA_END, encoding="utf-8")
    command = [compiler, "-d", str(folder), str(folder / "Webhooks.java"), str(folder / "Program.java")]
    subprocess.run(command, check=True, timeout=SECONDS)  # noqa: S603 - a compiler
    return [runtime, "-cp", str(folder), "Program"]


def go_example(folder: Path) -> list[str]:
    compiler = tool("go")
    (folder / "webhooks").mkdir(exist_ok=True)
    (folder / "webhooks" / "webhooks.go").write_text(example("webhooks.go"), encoding="utf-8")
    (folder / "main.go").write_text(GO_END, encoding="utf-8")
    (folder / "go.mod").write_text("module receiver\n\ngo 1.19\n", encoding="utf-8")
    environment = {**os.environ, "GOPROXY": "off", "GOTOOLCHAIN": "local"}
    command = [compiler, "build", "-o", "program", "."]
    subprocess.run(command, cwd=folder, env=environment, check=True, timeout=SECONDS)  # noqa: S603 - a compiler
    return [str(folder / "program")]


def csharp_example(folder: Path) -> list[str]:
    compiler, runtime = tool("mcs"), tool("mono")
    source, program = folder / "recipe.cs", folder / "recipe.exe"
    source.write_text(example("Webhooks.cs") + CSHARP_END, encoding="utf-8")
    command = [compiler, "-warn:0", f"-out:{program}", str(source)]
    subprocess.run(command, check=True, timeout=SECONDS)  # noqa: S603 - a compiler
    return [runtime, str(program)]


def first_sync(_: Path) -> list[str]:
    code = f"import sys\nsys.path.insert(0, {str(ROOT / 'examples' / 'first_sync')!r})\nfrom receiver import is_valid\n"
    return python_program(code, f'is_valid(one["secret"], one["headers"], {DECODED}, time.time())')


def node_example(_: Path) -> list[str]:
    """Run the function of the example, whose module begins to work as soon as it is imported."""
    text = (ROOT / "examples" / "node" / "first_request.mjs").read_text(encoding="utf-8")
    [imported] = re.findall(r'^import .* from "node:crypto";$', text, re.MULTILINE)
    [secret] = re.findall(r"^const SECRET = .*;$", text, re.MULTILINE)
    [function] = re.findall(r"^function isValid\(.*?^}", text, re.MULTILINE | re.DOTALL)
    return node_program(f"{imported}\n{secret}\n{function}", "isValid(one.secret, one.headers, body)")


def python_client(folder: Path) -> list[str]:
    """Install a copy of the client's sources, and generate their types."""
    if not TOOLS_PYTHON.exists():
        pytest.skip("needs make test-clients")
    package = folder / "qbxml_queue"
    shutil.copytree(ROOT / "clients" / "python" / "src" / "qbxml_queue", package, dirs_exist_ok=True)
    code = f"""import sys
from pathlib import Path
sys.path[:0] = [{str(folder)!r}, {str(ROOT / "clients" / "python")!r}]
import generate
generate.main(Path({str(package / "schema")!r}))
from qbxml_queue import InvalidSignature, verify
"""
    call = f'verify(one["secret"], one["headers"], {DECODED})'
    end = PYTHON_END.format(call=f"{call} is not None", refusal="InvalidSignature")
    return [str(TOOLS_PYTHON), "-c", code + end]


def typescript_client(folder: Path) -> list[str]:
    """Generate the facts of the client into a copy of its sources."""
    source = ROOT / "clients" / "typescript"
    shutil.copytree(source / "src", folder / "src", dirs_exist_ok=True)
    (folder / "package.json").write_text('{"type": "module"}', encoding="utf-8")
    generate = [tool("node"), str(source / "generate.mjs"), str(folder / "src" / "schema")]
    subprocess.run(generate, check=True, timeout=SECONDS)  # noqa: S603 - our own program
    code = f'const {{ verify, InvalidSignature }} = await import("{(folder / "src" / "index.js").as_uri()}");\n'
    return node_program(code, "await verify(one.secret, one.headers, body)", "error instanceof InvalidSignature")


RECEIVERS = (
    Receiver("the Python recipe", documented_python),
    Receiver("the Node recipe", documented_node),
    Receiver("the C# example", csharp_example, given_as=as_lines),
    Receiver("the Java example", java_example, given_as=as_lines),
    Receiver("the Go example", go_example, given_as=as_lines),
    Receiver("the PHP example", php_example, given_as=as_lines),
    Receiver("the Ruby example", ruby_example, given_as=as_lines),
    Receiver("the Python example", first_sync),
    Receiver("the Node example", node_example),
    Receiver("the Python client", python_client, reads_events=True),
    Receiver("the TypeScript client", typescript_client, reads_events=True),
)


def verdicts(receiver: Receiver, given: list[Vector], folder: Path) -> list[bool | str]:
    """Return what a receiver says about each vector: a text is an error that it should not raise."""
    process = subprocess.run(  # noqa: S603 - the receivers are this repository's
        receiver.program(folder),
        input=receiver.given_as(given),
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert process.returncode == 0, process.stderr
    return [json.loads(line) for line in process.stdout.splitlines()]


@pytest.mark.parametrize("receiver", RECEIVERS, ids=lambda receiver: receiver.name)
def test_every_receiver_accepts_what_is_signed_and_refuses_everything_else(receiver: Receiver, tmp_path: Path) -> None:
    given = vectors(time.time())

    found = verdicts(receiver, given, tmp_path)

    expected = [vector.is_valid and (vector.is_event or not receiver.reads_events) for vector in given]
    wrong = {
        vector.name: verdict
        for vector, verdict, right in zip(given, found, expected, strict=True)
        if verdict is not right
    }
    assert wrong == {}


@pytest.mark.parametrize("receiver", RECEIVERS, ids=lambda receiver: receiver.name)
def test_every_receiver_accepts_what_the_service_signs(receiver: Receiver, tmp_path: Path) -> None:
    """Also during a rotation, when there are two secrets."""
    old = "whsec_ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8="
    headers = signature_headers([old, SECRET], ID, int(time.time()), BODY)
    [signed, *_] = vectors(time.time())
    given = [Vector(secret, secret, {**headers}, signed.body, is_valid=True) for secret in (SECRET, old)]

    assert verdicts(receiver, given, tmp_path) == [True, True]


def test_the_pages_show_the_handlers_of_the_examples() -> None:
    pages = {
        "docs/webhooks.md": ("fastapi_app.py", "flask_app.py", "django_urls.py", "express_app.mjs"),
        "clients/python/README.md": ("fastapi_app.py",),
        "clients/typescript/README.md": ("express_app.mjs",),
    }
    for page, names in pages.items():
        text = (ROOT / page).read_text(encoding="utf-8")
        for name in names:
            code = (ROOT / "examples" / "webhook_handlers" / name).read_text(encoding="utf-8")
            assert f"\n{code}```\n" in text, f"{page} does not show {name}"


def test_every_receiver_of_the_documents_and_examples_is_in_the_table() -> None:
    marks = re.compile(
        r"\b((def|function) (is_valid|verify|isValid)|boolean isValid|func IsValid|bool IsValid|def self\.valid\?)\("
    )
    found = {
        file.relative_to(ROOT).as_posix()
        for file in repository_files("docs", "examples", "clients", "README.md")
        if file.suffix in {".md", ".py", ".js", ".mjs", ".mts", ".cs", ".java", ".go", ".php", ".rb"}
        and "tests" not in file.relative_to(ROOT).parts
        and marks.search(file.read_text(encoding="utf-8"))
    }

    assert found == {
        "docs/webhooks.md",
        "docs/guides/first-sync.md",  # the function of examples/first_sync, which test_guides.py compares
        *(
            f"docs/languages/{name}.md" for name in ("csharp", "go", "java", "php", "ruby")
        ),  # those of examples/webhooks
        *(f"examples/webhooks/{name}" for name in ("Webhooks.cs", "Webhooks.java")),
        *(f"examples/webhooks/webhooks.{suffix}" for suffix in ("go", "php", "rb")),
        "examples/first_sync/receiver.py",
        "examples/node/first_request.mjs",
        "clients/python/src/qbxml_queue/webhooks.py",
        "clients/typescript/src/index.js",
    }
