"""An OpenID provider on loopback that lies in every way that a test names: the way to it and back, and its tokens."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import hmac
import json
import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from adapters.openid import CLOCK_SKEW_SECONDS, MAX_BYTES, Client, OpenIdProvider
from domain.people.logins import BegunLogin
from domain.people.provider import ProviderFailed, TokenRefused

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

CLIENT_ID = "qbxml-queue"
SECRET = "a secret/with:signs"
REDIRECT_URI = "https://queue.example.com/session/callback"
NONCE = "n" * 64
VERIFIER = "v" * 64


KEY, OTHER_KEY = (rsa.generate_private_key(65537, 2048) for _ in range(2))


@dataclass
class Provider:
    """A provider whose answers a test changes. `calls` are the requests that it got."""

    port: int = 0
    key: Any = KEY
    algorithm: str | None = None
    key_id: str = "k1"
    configuration: dict[str, Any] = field(default_factory=dict)
    token: str | None = None
    token_status: int = 200
    drips: bool = False
    answers: dict[str, bytes] = field(default_factory=dict)
    calls: list[tuple[str, str, dict[str, list[str]], str | None]] = field(default_factory=list)

    @property
    def issuer(self) -> str:
        """The issuer."""
        return f"http://127.0.0.1:{self.port}"

    def document(self, path: str) -> tuple[int, bytes]:
        """Return the answer to a request."""
        if path in self.answers:
            return 200, self.answers[path]
        if path == "/.well-known/openid-configuration":
            paths = {"authorization_endpoint": "/a?x=1", "token_endpoint": "/t", "jwks_uri": "/k"}
            endpoints = {name: self.issuer + where for name, where in paths.items()}
            return 200, json.dumps({"issuer": self.issuer, **endpoints, **self.configuration}).encode()
        if path == "/k":
            return 200, json.dumps({"keys": [self.public_key()]}).encode()
        body = {"id_token": self.token, "access_token": "x"} if self.token_status == 200 else {"error": "invalid_grant"}
        return self.token_status, json.dumps(body).encode()

    def public_key(self) -> dict[str, Any]:
        """Return the public key as a JWK."""
        is_rsa = isinstance(self.key, rsa.RSAPrivateKey)
        kind: Any = jwt.algorithms.RSAAlgorithm if is_rsa else jwt.algorithms.ECAlgorithm
        jwk = kind.to_jwk(self.key.public_key(), as_dict=True)
        return {**jwk, "kid": self.key_id, "use": "sig"} | ({"alg": self.algorithm} if self.algorithm else {})

    def claims(self, **changes: Any) -> dict[str, Any]:
        """Return right claims with changes. None removes a claim."""
        now = int(time.time())
        right = {
            "iss": self.issuer,
            "sub": "maria",
            "aud": CLIENT_ID,
            "iat": now,
            "exp": now + 300,
            "nonce": NONCE,
            "email": "maria@example.com",
            "email_verified": True,
            "name": "Maria",
        }
        return {name: value for name, value in {**right, **changes}.items() if value is not None}

    def signed(self, key: Any = None, algorithm: str = "RS256", key_id: str | None = "k1", **changes: Any) -> str:
        """Return a token."""
        headers = {"kid": key_id} if key_id else {}
        return jwt.encode(self.claims(**changes), key or self.key, algorithm, headers)

    def client(self, secret: str | None = SECRET, **options: Any) -> OpenIdProvider:
        """Return our side."""
        return OpenIdProvider(Client(self.issuer, CLIENT_ID, lambda: secret), **options)


@pytest.fixture
def provider() -> Iterator[Provider]:
    """Yield a running provider."""
    provider = Provider()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            form = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
            authorization = self.headers.get("Authorization")
            provider.calls.append((self.command, self.path, parse_qs(form), authorization))
            status, body = provider.document(urlsplit(self.path).path)
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if not provider.drips:
                self.wfile.write(body)
                return
            with contextlib.suppress(OSError):
                for number in range(len(body)):
                    self.wfile.write(body[number : number + 1])
                    time.sleep(0.1)

        do_POST = do_GET  # noqa: N815 - the name that http.server calls

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    provider.port = server.server_port
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    yield provider
    server.shutdown()
    thread.join()
    server.server_close()


def redeem(provider: Provider, client: OpenIdProvider | None = None) -> Any:
    """Redeem a code."""
    return (client or provider.client()).claims(REDIRECT_URI, code="c", verifier=VERIFIER, nonce=NONCE)


def test_a_browser_is_sent_with_state_nonce_and_the_challenge_of_its_verifier(provider: Provider) -> None:
    login = BegunLogin.begun("/app/connections", lambda size: bytes(range(size)))

    url = provider.client().authorization_url(
        REDIRECT_URI, state=login.state, nonce=login.nonce, challenge=login.challenge
    )

    query = {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}
    digest = base64.urlsafe_b64encode(hashlib.sha256(login.verifier.encode()).digest()).decode().rstrip("=")
    assert query == {
        "x": "1",
        "response_type": "code",
        "client_id": CLIENT_ID,
        "redirect_uri": REDIRECT_URI,
        "scope": "openid email profile",
        "state": login.state,
        "nonce": login.nonce,
        "code_challenge": digest,
        "code_challenge_method": "S256",
    }


@pytest.mark.parametrize("algorithm", ["RS256", "PS384", "ES256"])
def test_a_right_token_gives_the_claims(provider: Provider, algorithm: str) -> None:
    if algorithm == "ES256":
        provider.key = ec.generate_private_key(ec.SECP256R1())
    provider.algorithm = algorithm
    provider.token = provider.signed(algorithm=algorithm)

    claims = redeem(provider)

    assert (claims.issuer, claims.subject, claims.email, claims.email_verified, claims.name) == (
        provider.issuer,
        "maria",
        "maria@example.com",
        True,
        "Maria",
    )
    [form, authorization] = next(call[2:] for call in provider.calls if call[0] == "POST")
    assert form["code_verifier"] == [VERIFIER]
    assert authorization == "Basic " + base64.b64encode(b"qbxml-queue:a%20secret%2Fwith%3Asigns").decode()


def test_a_provider_can_want_the_secret_in_the_form_and_a_public_client_has_none(provider: Provider) -> None:
    provider.token = provider.signed()
    provider.configuration = {"token_endpoint_auth_methods_supported": ["client_secret_post"]}
    redeem(provider)
    redeem(provider, provider.client(None))

    forms = [call[2].get("client_secret") for call in provider.calls if call[0] == "POST"]
    assert forms == [[SECRET], None]
    assert [call[3] for call in provider.calls if call[0] == "POST"] == [None, None]


WRONG_CLAIMS: dict[str, Callable[[Provider], dict[str, Any]]] = {
    "another issuer": lambda _: {"iss": "https://id.example.com"},
    "an issuer with a slash more": lambda provider: {"iss": provider.issuer + "/"},
    "another audience": lambda _: {"aud": "somebody-else"},
    "an audience that contains ours": lambda _: {"aud": CLIENT_ID + "2"},
    "a second audience without azp": lambda _: {"aud": [CLIENT_ID, "somebody-else"]},
    "issued to another client": lambda _: {"azp": "somebody-else"},
    "expired": lambda _: {"exp": int(time.time()) - CLOCK_SKEW_SECONDS - 5},
    "issued in the future": lambda _: {"iat": int(time.time()) + CLOCK_SKEW_SECONDS + 30},
    "not valid yet": lambda _: {"nbf": int(time.time()) + CLOCK_SKEW_SECONDS + 30},
    "another nonce": lambda _: {"nonce": "m" * 64},
    "no nonce": lambda _: {"nonce": None},
    "no subject": lambda _: {"sub": None},
    "no expiry": lambda _: {"exp": None},
    "no issue time": lambda _: {"iat": None},
}


@pytest.mark.parametrize("wrong", WRONG_CLAIMS)
def test_a_token_with_a_wrong_claim_is_refused(provider: Provider, wrong: str) -> None:
    provider.token = provider.signed(**WRONG_CLAIMS[wrong](provider))

    with pytest.raises(TokenRefused):
        redeem(provider)


def test_a_clock_may_differ_by_less_than_a_minute(provider: Provider) -> None:
    now = int(time.time())
    for iat, exp in ((now + 40, now + 300), (now - 340, now - 40)):
        provider.token = provider.signed(iat=iat, exp=exp)
        assert redeem(provider)


def unsigned(provider: Provider) -> str:
    """Return a token without a signature."""
    return jwt.encode(provider.claims(), None, "none", {"kid": "k1"})  # type: ignore[arg-type]


def with_public_key_as_secret(provider: Provider) -> str:
    """Return a token that is signed with the public key, which everybody has, as an HMAC secret."""
    pem = provider.key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    parts = [json.dumps({"alg": "HS256", "typ": "JWT", "kid": "k1"}), json.dumps(provider.claims())]
    text = ".".join(base64.urlsafe_b64encode(part.encode()).decode().rstrip("=") for part in parts)
    mac = base64.urlsafe_b64encode(hmac.digest(pem, text.encode(), "sha256")).decode().rstrip("=")
    return f"{text}.{mac}"


def with_client_secret(provider: Provider) -> str:
    """Return a token that is signed with the client secret."""
    return jwt.encode(provider.claims(), SECRET.ljust(40), "HS256", {"kid": "k1"})


def with_another_key(provider: Provider) -> str:
    """Return a token that is signed with a key of somebody else, under the id of the provider's."""
    return provider.signed(OTHER_KEY)


def with_own_key_in_header(provider: Provider) -> str:
    """Return a token that brings its own key."""
    jwk = jwt.algorithms.RSAAlgorithm.to_jwk(OTHER_KEY.public_key(), as_dict=True)
    return jwt.encode(provider.claims(), OTHER_KEY, "RS256", {"kid": "k1", "jwk": jwk})


@pytest.mark.parametrize(
    "forge",
    [
        unsigned,
        with_public_key_as_secret,
        with_client_secret,
        with_another_key,
        with_own_key_in_header,
        lambda provider: provider.signed(key_id="k2"),
        lambda provider: provider.signed()[:-4] + "AAAA",
        lambda _: "nonsense",
        lambda _: "",
    ],
)
def test_a_token_with_a_wrong_signature_is_refused(provider: Provider, forge: Callable[[Provider], str]) -> None:
    provider.token = forge(provider)

    with pytest.raises(TokenRefused):
        redeem(provider)


@pytest.mark.parametrize("status", [400, 401, 403])
def test_a_code_that_the_provider_refuses_is_refused(provider: Provider, status: int) -> None:
    """A replayed code, and the code of another client or verifier."""
    provider.token_status = status

    with pytest.raises(TokenRefused, match="invalid_grant"):
        redeem(provider)


def test_a_new_key_is_found_but_unknown_keys_do_not_make_us_call_the_provider(provider: Provider) -> None:
    now = [0.0]
    client = provider.client(monotonic=lambda: now[0])
    provider.token = provider.signed()
    redeem(provider, client)
    provider.key, provider.key_id = OTHER_KEY, "k2"
    provider.token = provider.signed(key_id="k2")

    for _ in range(5):
        with pytest.raises(TokenRefused):
            redeem(provider, client)
    now[0] += 61
    assert redeem(provider, client)
    assert sum(path == "/k" for _, path, _, _ in provider.calls) == 2


@pytest.mark.parametrize(
    ("path", "answer"),
    [
        ("/.well-known/openid-configuration", b"<html>"),
        ("/.well-known/openid-configuration", b"{}"),
        ("/.well-known/openid-configuration", b" " * (MAX_BYTES + 1)),
        ("/.well-known/openid-configuration", b'{"issuer": "https://id.example.com"}'),
        ("/k", b'{"keys": []}'),
        ("/k", b"{}"),
        ("/t", b"{}"),
        ("/t", b'{"id_token": 3}'),
    ],
)
def test_a_wrong_answer_of_the_provider_signs_nobody_in(provider: Provider, path: str, answer: bytes) -> None:
    provider.token = provider.signed()
    provider.answers[path] = answer

    with pytest.raises((ProviderFailed, TokenRefused)):
        redeem(provider)


@pytest.mark.parametrize("name", ["authorization_endpoint", "token_endpoint", "jwks_uri"])
@pytest.mark.parametrize(
    "url", ["http://id.example.com/x", "file:///etc/passwd", "", None, 3, "http://127.0.0.1.evil.com/"]
)
def test_an_endpoint_without_https_is_not_called(provider: Provider, name: str, url: object) -> None:
    provider.configuration = {name: url}
    provider.token = provider.signed()

    def both_ways() -> None:
        provider.client().authorization_url(REDIRECT_URI, state="s", nonce="n", challenge="c")
        redeem(provider)

    with pytest.raises(ProviderFailed):
        both_ways()


def test_a_name_is_one_line_of_bounded_length_and_anything_else_is_none(provider: Provider) -> None:
    for value, expected in (
        ("  Ma\nri\x00a\u202e ", "Maria"),
        ("x" * 5000, "x" * 99 + "…"),
        ("\x00", None),
        (["Maria"], None),
        (3, None),
    ):
        provider.token = provider.signed(name=value)
        assert redeem(provider).name == expected


@pytest.mark.parametrize("email", ["\u212aate@example.com", "x", "a@b", "", 3, ["a@example.com"], "a@example.com\n"])
def test_what_is_not_an_address_in_ascii_is_no_address(provider: Provider, email: object) -> None:
    provider.token = provider.signed(email=email)

    assert redeem(provider).email is None


def test_a_provider_that_fails_is_not_asked_again_for_ten_seconds(provider: Provider) -> None:
    now = [0.0]
    client = provider.client(monotonic=lambda: now[0])
    path = "/.well-known/openid-configuration"
    provider.answers[path] = b" " * (MAX_BYTES + 1)
    for _ in range(20):
        with pytest.raises(ProviderFailed):
            client.authorization_url(REDIRECT_URI, state="s", nonce="n", challenge="c")
    assert len(provider.calls) == 1

    del provider.answers[path]
    now[0] += 10
    assert client.authorization_url(REDIRECT_URI, state="s", nonce="n", challenge="c")


def test_a_provider_that_answers_byte_by_byte_is_given_up_after_five_seconds(
    provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("adapters.openid.TIMEOUT_SECONDS", 0.3)
    provider.drips = True
    begun = time.monotonic()

    with pytest.raises(ProviderFailed, match="TimeoutError"):
        provider.client().authorization_url(REDIRECT_URI, state="s", nonce="n", challenge="c")

    assert time.monotonic() - begun < 5


@pytest.mark.parametrize("subject", ["x" * 256, "", "\ud800", "mar\u0131a"])
def test_a_subject_has_1_to_255_characters_in_ascii(provider: Provider, subject: str) -> None:
    provider.token = provider.signed(sub=subject)

    with pytest.raises(TokenRefused):
        redeem(provider)


def test_a_provider_that_cannot_be_reached_is_named(provider: Provider) -> None:
    client = OpenIdProvider(Client("http://127.0.0.1:1", CLIENT_ID))

    with pytest.raises(ProviderFailed, match=r"127\.0\.0\.1"):
        redeem(provider, client)


@pytest.mark.parametrize(
    ("changes", "verified"),
    [
        ({"email_verified": False}, False),
        ({"email_verified": None}, False),
        ({"email_verified": "false"}, False),
        ({"email_verified": "true"}, True),
        ({"email_verified": None, "xms_edov": True}, True),
        ({"email_verified": None, "xms_edov": "1"}, True),
        ({"email_verified": [True]}, False),
        ({"email_verified": False, "xms_edov": True}, False),
    ],
)
def test_an_address_is_verified_only_if_the_provider_says_so(
    provider: Provider, changes: dict[str, Any], *, verified: bool
) -> None:
    provider.token = provider.signed(**changes)

    assert redeem(provider).email_verified is verified
