"""The programs of examples/webhook_handlers receive webhooks on a loopback server, and have at most ten lines."""

from __future__ import annotations

import http.client
import json
import runpy
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import uvicorn
from django.core.wsgi import get_wsgi_application
from test_receivers import signed, urls_of
from test_types import SOURCES, mypy
from werkzeug.serving import make_server

from tests.support.webhook_vectors import BODY, ID, OTHER, SECRET

if TYPE_CHECKING:
    from collections.abc import Iterator

EXAMPLES = Path(__file__).resolve().parents[3] / "examples" / "webhook_handlers"
LINES = 10
SECONDS = 10


@contextmanager
def serving_wsgi(app: Any) -> Iterator[int]:
    server = make_server("127.0.0.1", 0, app, threaded=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextmanager
def serving_asgi(app: Any) -> Iterator[int]:
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_config=None, lifespan="off", ws="none"))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        ends = time.monotonic() + SECONDS
        while not server.started and time.monotonic() < ends:
            time.sleep(0.01)
        yield server.servers[0].sockets[0].getsockname()[1]
    finally:
        server.should_exit = True
        thread.join()


@contextmanager
def serving(name: str) -> Iterator[int]:
    """Serve an example and yield its port."""
    program = runpy.run_path(str(EXAMPLES / name))
    if name == "django_urls.py":
        with urls_of(program["urlpatterns"]), serving_wsgi(get_wsgi_application()) as port:
            yield port
    elif name == "flask_app.py":
        with serving_wsgi(program["app"]) as port:
            yield port
    else:
        with serving_asgi(program["app"]) as port:
            yield port


def status_of(port: int, headers: dict[str, str], body: Any) -> int:
    """Send a webhook and return the status. A list of parts is sent in chunks."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=SECONDS)
    connection.request("POST", "/webhooks/quickbooks", body, {"Content-Type": "application/json", **headers})
    status = connection.getresponse().status
    connection.close()
    return status


PROGRAMS = ("fastapi_app.py", "flask_app.py", "django_urls.py")


@pytest.mark.parametrize("name", PROGRAMS)
def test_an_example_receives_signed_webhooks_and_no_other(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("WEBHOOK_SECRET", SECRET)
    with serving(name) as port:
        accepted = status_of(port, signed(BODY), BODY)
        refused = [
            status_of(port, signed(BODY, [OTHER]), BODY),
            status_of(port, signed(BODY), BODY + b" "),
            status_of(port, signed(BODY, age=301), BODY),
        ]

    assert accepted == 204
    assert refused == [401, 401, 401]
    assert capsys.readouterr().out == f"{ID} {json.loads(BODY)['type']}\n"


@pytest.mark.parametrize("name", ["fastapi_app.py", "flask_app.py"])  # Django reads no body without a length
def test_a_body_in_chunks_is_the_same_body(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEBHOOK_SECRET", SECRET)
    with serving(name) as port:
        status = status_of(port, signed(BODY), iter([BODY[:7], BODY[7:50], BODY[50:]]))

    assert status == 204


def test_a_user_writes_at_most_ten_lines() -> None:
    found = {
        path.name: sum(bool(line.strip()) for line in path.read_text(encoding="utf-8").splitlines())
        for path in EXAMPLES.iterdir()
        if path.is_file()
    }

    assert found.keys() == {*PROGRAMS, "express_app.mjs"}
    assert {name: lines for name, lines in found.items() if lines > LINES} == {}


def test_the_examples_pass_mypy_strict_and_a_wrong_function_does_not(tmp_path: Path) -> None:
    program = (EXAMPLES / "flask_app.py").read_text(encoding="utf-8").replace("webhook_id: str", "webhook_id: int")
    (tmp_path / "wrong.py").write_text(program, encoding="utf-8")

    output = mypy(EXAMPLES, *PROGRAMS, str(tmp_path / "wrong.py"))

    errors = sorted(line.partition(": error: ")[2] for line in output.splitlines() if ": error: " in line)
    [wrong, untyped] = errors
    assert wrong.startswith('Argument 1 has incompatible type "Callable[[')
    assert untyped.startswith('Skipping analyzing "django.urls": module is installed, but missing library stubs')


def test_the_handlers_have_no_error_of_types_without_the_frameworks(tmp_path: Path) -> None:
    options = ("--no-site-packages", "--follow-imports=skip", "--cache-dir", str(tmp_path))

    output = mypy(SOURCES, *options, "-p", "qbxml_queue.receivers")

    assert output == "Success: no issues found in 4 source files\n"
