"""The webhook handlers of FastAPI, Flask and Django, with the frameworks themselves and their own test clients."""

from __future__ import annotations

import base64
import json
import random
import time
import types
from typing import TYPE_CHECKING, Any

import django
import fastapi
import flask
import pytest
from django.conf import settings
from django.test import Client as DjangoClient
from django.test import override_settings
from django.urls import path
from fastapi.testclient import TestClient
from qbxml_queue.receivers import MAX_BODY_BYTES
from qbxml_queue.receivers.django import webhook as django_webhook
from qbxml_queue.receivers.fastapi import webhook as fastapi_webhook
from qbxml_queue.receivers.flask import webhook as flask_webhook

from tests.support.webhook_vectors import BODY, EVENT, ID, OTHER, SECRET, key_of, signature, vectors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

Sender = Any
"""A function that sends headers and a body, with POST unless a method is given, and returns the response."""

URL = "/webhooks/quickbooks"
JSON = "application/json"


def sent_to_fastapi(app: fastapi.FastAPI) -> Sender:
    client = TestClient(app, raise_server_exceptions=False)
    return lambda headers, body, method="POST": client.request(
        method, URL, headers={"Content-Type": JSON, **headers}, content=body
    )


def sent_to_flask(app: flask.Flask) -> Sender:
    client = app.test_client()
    return lambda headers, body, method="POST": client.open(
        URL, method=method, headers={"Content-Type": JSON, **headers}, data=body
    )


def urls_of(patterns: list[Any]) -> override_settings:
    """Return a context in which a project has these URLs, with Django's own middleware, also that of CSRF."""
    urls: Any = types.ModuleType("urls_of_a_test")
    urls.urlpatterns = patterns
    if not settings.configured:
        settings.configure(
            ALLOWED_HOSTS=["*"],
            MIDDLEWARE=["django.middleware.common.CommonMiddleware", "django.middleware.csrf.CsrfViewMiddleware"],
            SECRET_KEY="of a test",
        )
        django.setup()
    return override_settings(ROOT_URLCONF=urls)


def sent_to_django(patterns: list[Any]) -> Sender:
    context = urls_of(patterns)
    client = DjangoClient(enforce_csrf_checks=True, raise_request_exception=False)

    def send(headers: dict[str, str], body: bytes, method: str = "POST") -> Any:
        with context:
            return client.generic(method, URL, body, content_type=JSON, headers=headers)

    return send


def fastapi_app(function: Callable[..., Any], secret: str = SECRET, **options: Any) -> Sender:
    app = fastapi.FastAPI()
    app.post(URL)(fastapi_webhook(secret, **options)(function))
    return sent_to_fastapi(app)


def flask_app(function: Callable[..., Any], secret: str = SECRET, **options: Any) -> Sender:
    app = flask.Flask("shop")
    app.logger.disabled = True
    app.post(URL)(flask_webhook(secret, **options)(function))
    return sent_to_flask(app)


def django_app(function: Callable[..., Any], secret: str = SECRET, **options: Any) -> Sender:
    return sent_to_django([path(URL.removeprefix("/"), django_webhook(secret, **options)(function))])


APPS = {"FastAPI": fastapi_app, "Flask": flask_app, "Django": django_app}


@pytest.fixture(params=APPS)
def app(request: pytest.FixtureRequest) -> Callable[..., Sender]:
    """Return a function that makes an app with a handler, and returns how to send it a call."""
    made: Callable[..., Sender] = APPS[request.param]
    return made


class Received(list[tuple[Any, str]]):
    """What the user's function was given."""

    def __call__(self, event: Any, webhook_id: str) -> None:
        self.append((event, webhook_id))


def signed(body: bytes, secrets: Iterable[str] = (SECRET,), age: int = 0, webhook_id: str = ID) -> dict[str, str]:
    """Return the headers of a call that was signed with each of the secrets, a while ago."""
    moment = str(int(time.time()) - age)
    signatures = [signature(key_of(secret), webhook_id, moment, body) for secret in secrets]
    return {"Webhook-Id": webhook_id, "WEBHOOK-TIMESTAMP": moment, "webhook-signature": " ".join(signatures)}


def is_sendable(text: str | None) -> bool:
    """Return whether an HTTP client sends this header. Servers read a line without the spaces at its ends."""
    return text is not None and text.isascii() and text.isprintable() and text == text.strip() and len(text) < 10_000


def test_the_function_gets_the_event_and_its_id(app: Callable[..., Sender]) -> None:
    received = Received()

    response = app(received)(signed(BODY), BODY)

    assert (response.status_code, received) == (204, [(EVENT, ID)])


def test_a_call_is_confirmed_exactly_if_it_is_a_signed_event(app: Callable[..., Sender]) -> None:
    given = [one for one in vectors(time.time()) if all(map(is_sendable, one.headers.values()))]
    wrong = []
    for vector in given:
        received = Received()
        try:
            send = app(received, vector.secret)
        except ValueError:
            assert not vector.is_valid
            continue
        status = send(dict(vector.headers), base64.b64decode(vector.body)).status_code
        expected = 204 if vector.is_valid and vector.is_event else 401
        if (status, len(received)) != (expected, status == 204):
            wrong.append((vector.name, status, len(received)))

    assert len(given) > 150
    assert wrong == []


def test_during_a_rotation_the_old_and_the_new_secret_work(app: Callable[..., Sender]) -> None:
    for secret in (SECRET, OTHER):
        received = Received()
        assert app(received, secret)(signed(BODY, (OTHER, SECRET)), BODY).status_code == 204
        assert app(received, secret)(signed(BODY, (OTHER, SECRET), age=301), BODY).status_code == 401
        assert len(received) == 1


def test_a_refusal_does_not_say_why_and_the_log_does(
    app: Callable[..., Sender], caplog: pytest.LogCaptureFixture
) -> None:
    send = app(Received())
    refused = [
        send(headers, BODY) for headers in ({}, signed(BODY, age=301), signed(BODY, age=-400), signed(BODY, [OTHER]))
    ]

    texts = {getattr(response, "content", None) or response.data for response in refused}
    reasons = {record.getMessage() for record in caplog.records if record.name == "qbxml_queue"}
    assert [response.status_code for response in refused] == [401] * 4
    assert len(texts) == 1
    assert b"signature of the webhook is not valid" in texts.pop()
    assert {reason.removeprefix("A webhook was refused: ")[:27] for reason in reasons} == {
        "The webhook has no time, or",
        "The webhook is not signed w",
    }


@pytest.mark.parametrize("is_async", [False, True])
def test_nothing_is_confirmed_before_the_function_has_returned(app: Callable[..., Sender], is_async: bool) -> None:
    steps: list[str] = []

    def fails(event: Any, webhook_id: str) -> None:
        steps.append(f"{webhook_id} {event['type']}")
        raise OSError("The database is away.")

    async def fails_later(event: Any, webhook_id: str) -> None:
        fails(event, webhook_id)

    response = app(fails_later if is_async else fails)(signed(BODY), BODY)

    assert response.status_code == 500
    assert steps == [f"{ID} queued_request.discarded"]


def test_an_asynchronous_function_is_awaited(app: Callable[..., Sender]) -> None:
    received = Received()

    async def store(event: Any, webhook_id: str) -> None:
        received(event, webhook_id)

    def through_a_decorator(event: Any, webhook_id: str) -> Any:
        return store(event, webhook_id)

    for function in (store, through_a_decorator):
        assert app(function)(signed(BODY), BODY).status_code == 204
    assert len(received) == 2


def test_a_body_has_a_bound_to_the_byte(app: Callable[..., Sender]) -> None:
    for size, status in ((len(BODY) - 1, 413), (len(BODY), 204), (len(BODY) + 1, 204)):
        received = Received()
        assert app(received, max_bytes=size)(signed(BODY), BODY).status_code == status
        assert len(received) == (status == 204)


def test_the_largest_event_is_accepted_and_a_larger_body_is_not(app: Callable[..., Sender]) -> None:
    received = Received()
    body = BODY + b" " * (MAX_BODY_BYTES - len(BODY))
    send = app(received)

    assert send(signed(body), body).status_code == 204
    assert send(signed(body + b" "), body + b" ").status_code == 413
    assert len(received) == 1


def test_generated_events_arrive_as_they_were_sent(app: Callable[..., Sender]) -> None:
    source = random.Random(20261129)
    received = Received()
    send = app(received)
    for number in range(30):
        text = "".join(chr(source.choice((0x00, 0xA0, 0x4E00, 0x1F600)) + source.randrange(64)) for _ in range(50))
        event = {**EVENT, "subject": text}
        body = json.dumps(event, ensure_ascii=bool(number % 2), indent=number % 3 or None).encode()

        assert send(signed(body, webhook_id=f"id-{number}"), body).status_code == 204
        assert received[-1] == (event, f"id-{number}")


def test_a_header_that_occurs_twice_gives_the_function_no_id_that_was_not_signed() -> None:
    """A server joins both with a comma, or a framework has both. Nobody may repeat an event under another id."""
    for ids in ([ID, "forged"], ["forged", ID]):
        received = Received()
        app = fastapi.FastAPI()
        app.post(URL)(fastapi_webhook(SECRET)(received))
        headers = [*signed(BODY).items()][1:] + [("webhook-id", one) for one in ids]
        response = TestClient(app).post(URL, headers=headers, content=BODY)
        assert (response.status_code, [one for _, one in received]) in [(204, [ID]), (401, [])]


def test_only_post_is_a_webhook(app: Callable[..., Sender]) -> None:
    received = Received()
    send = app(received)

    assert [send(signed(BODY), BODY, method).status_code for method in ("GET", "PUT", "DELETE")] == [405] * 3
    assert received == []


def test_fastapi_documents_the_route_under_the_name_of_the_function_without_parameters() -> None:
    def store(event: Any, webhook_id: str) -> None:
        """Store an event."""

    app = fastapi.FastAPI()
    app.post(URL)(fastapi_webhook(SECRET)(store))

    operation = app.openapi()["paths"][URL]["post"]
    assert (operation["summary"], operation["description"]) == ("Store", "Store an event.")
    assert operation.keys() & {"parameters", "requestBody"} == set()


def test_a_program_without_a_secret_does_not_start(app: Callable[..., Sender]) -> None:
    for secret in ("", "whsec_", "whsec_AA=="):
        with pytest.raises(ValueError, match="at least 24 bytes"):
            app(Received(), secret)
