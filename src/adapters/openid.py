"""An OpenID provider: discovery, the exchange of a code, and the check of an ID token.

Only the function of the callback imports this module, because PyJWT and cryptography are in its artifact alone. The
rules are those of OpenID Connect Core 1.0 (3.1.3.7) and RFC 9700, with PKCE.
"""

from __future__ import annotations

import json
import ssl
import time
from contextlib import closing
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode, urlsplit

import jwt
import urllib3

from domain.errors import shortened
from domain.people.provider import IdentityClaims, ProviderFailed, TokenRefused
from domain.records.person import is_address

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
"""Signatures with a public key of the provider. With the client secret as a key, a leak of it would forge tokens.

A key of the provider that names no algorithm is one for RS256, or that of its curve.
"""

CLOCK_SKEW_SECONDS = 60
"""How far the clock of the provider may be from ours."""

DOCUMENT_SECONDS = 3600
"""How long the provider's configuration and keys are kept."""

MIN_REFRESH_SECONDS = 60
"""The keys are fetched again for an unknown key at most this often. Only the holder of a code gets that far."""

FAILURE_SECONDS = 10
"""How long a document that could not be fetched is not asked for again, because anybody can begin a login."""

MAX_BYTES = 256 * 1024
MAX_NAME_CHARACTERS = 100
"""Of the name of a person, which each of the person's entries in the audit log is shown with."""

MAX_SUBJECT_CHARACTERS = 255
"""OpenID Connect Core 1.0, section 2."""

TIMEOUT_SECONDS = 5

_TRUE = (True, 1, "true", "1")


@dataclass(frozen=True, slots=True)
class Client:
    """What the provider knows of this service. A public client has no secret."""

    issuer: str
    id: str
    secret: Callable[[], str | None] = field(default=lambda: None)


class OpenIdProvider:
    """Implements `IdentityProvider`."""

    def __init__(self, client: Client, *, monotonic: Callable[[], float] = time.monotonic) -> None:
        """Fetch nothing yet. The issuer must be an https URL, or http on a loopback address."""
        self._client = client
        self._monotonic = monotonic
        self._http = urllib3.PoolManager(
            retries=False, ssl_context=ssl.create_default_context(), timeout=urllib3.Timeout(total=TIMEOUT_SECONDS)
        )
        self._documents: dict[str, tuple[float, Any]] = {}
        self._failures: dict[str, tuple[float, ProviderFailed]] = {}

    def authorization_url(self, redirect_uri: str, *, state: str, nonce: str, challenge: str) -> str:
        """Return the URL to which a browser goes to sign in. See `IdentityProvider`."""
        endpoint = self._endpoint("authorization_endpoint")
        parameters = {
            "response_type": "code",
            "client_id": self._client.id,
            "redirect_uri": redirect_uri,
            "scope": "openid email profile",
            "state": state,
            "nonce": nonce,
            "code_challenge": challenge,
            "code_challenge_method": "S256",
        }
        return f"{endpoint}{'&' if urlsplit(endpoint).query else '?'}{urlencode(parameters, quote_via=quote)}"

    def claims(self, redirect_uri: str, *, code: str, verifier: str, nonce: str) -> IdentityClaims:
        """Redeem a code and return the verified claims of the person. See `IdentityProvider`."""
        token = self._redeemed(redirect_uri, code, verifier)
        verified = self._verified(token)
        if verified.get("nonce") != nonce:
            raise TokenRefused("The nonce is not that of this sign-in.")
        email = verified.get("email")
        return IdentityClaims(
            self._client.issuer,
            verified["sub"],
            email if isinstance(email, str) and is_address(email) else None,
            # Cognito can write a text. Entra ID has no such claim, but xms_edov.
            verified.get("email_verified", verified.get("xms_edov")) in _TRUE,
            _line(verified.get("name")),
        )

    def _redeemed(self, redirect_uri: str, code: str, verifier: str) -> str:
        """Return the ID token for a code. Raises TokenRefused if the provider refuses the code."""
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": redirect_uri,
            "client_id": self._client.id,
            "code_verifier": verifier,
        }
        headers, secret = {}, self._client.secret()
        if secret:
            methods = self._configuration().get("token_endpoint_auth_methods_supported", ["client_secret_basic"])
            if "client_secret_basic" in methods:
                user = f"{quote(self._client.id, safe='')}:{quote(secret, safe='')}"
                headers = urllib3.make_headers(basic_auth=user)
            else:
                form["client_secret"] = secret
        status, answer = self._call("POST", self._endpoint("token_endpoint"), fields=form, headers=headers)
        if status in {400, 401, 403}:
            raise TokenRefused(f"The provider refused the code: {str(answer.get('error'))[:100]}.")
        if status != 200 or not isinstance(answer.get("id_token"), str):  # noqa: PLR2004 - HTTP
            raise ProviderFailed(f"The token endpoint answered with status {status} and no ID token.")
        return str(answer["id_token"])

    def _verified(self, token: str) -> dict[str, Any]:
        """Return the claims of an ID token. Raises TokenRefused unless everything in it is right."""
        try:
            key_id = jwt.get_unverified_header(token).get("kid")
            claims: dict[str, Any] = jwt.decode(
                token,
                self._key(key_id),
                algorithms=list(ALGORITHMS),
                audience=self._client.id,
                issuer=self._client.issuer,
                leeway=CLOCK_SKEW_SECONDS,
                options={"require": ["iss", "sub", "aud", "exp", "iat"]},
            )
        except jwt.PyJWTError as error:
            raise TokenRefused(f"{type(error).__name__}: {error}") from None
        subject = claims["sub"]
        if not isinstance(subject, str) or not subject.isascii() or not 1 <= len(subject) <= MAX_SUBJECT_CHARACTERS:
            raise TokenRefused("The subject is not a text of 1 to 255 characters in ASCII.")
        # Another client's token can have us as a second audience.
        has_others = isinstance(claims["aud"], list) and len(claims["aud"]) > 1
        if (has_others or "azp" in claims) and claims.get("azp") != self._client.id:
            raise TokenRefused("The token was issued to another client.")
        return claims

    def _key(self, key_id: str | None) -> jwt.PyJWK:
        """Return the provider's key with this id. Without an id, there must be one key."""
        for max_age in (DOCUMENT_SECONDS, MIN_REFRESH_SECONDS):
            document = self._document(self._endpoint("jwks_uri"), max_age)
            keys = [key for key in self._keys(document) if key_id is None or key.key_id == key_id]
            if len(keys) == 1:
                return keys[0]
        raise TokenRefused("The token is signed with a key that the provider does not have.")

    @staticmethod
    def _keys(document: Mapping[str, Any]) -> list[jwt.PyJWK]:
        try:
            found = jwt.PyJWKSet.from_dict(dict(document)).keys
        except jwt.PyJWTError as error:
            raise ProviderFailed(f"The provider's keys cannot be read: {error}") from None
        return [key for key in found if key.public_key_use in {None, "sig"}]

    def _endpoint(self, name: str) -> str:
        url = self._configuration().get(name)
        if not isinstance(url, str) or not _is_allowed(url):
            raise ProviderFailed(f"The provider's configuration has no {name} with https.")
        return url

    def _configuration(self) -> Mapping[str, Any]:
        issuer = self._client.issuer
        document = self._document(f"{issuer.rstrip('/')}/.well-known/openid-configuration", DOCUMENT_SECONDS)
        if document.get("issuer") != issuer:
            raise ProviderFailed(f"The provider says that its issuer is {document.get('issuer')!r}, not {issuer!r}.")
        return document

    def _document(self, url: str, max_age: float) -> Mapping[str, Any]:
        """Return a document of the provider, which may be `max_age` seconds old."""
        fetched_at, document = self._documents.get(url, (None, {}))
        if fetched_at is not None and self._monotonic() - fetched_at < max_age:
            return document
        failed_at, failure = self._failures.get(url, (None, None))
        if failure and failed_at is not None and self._monotonic() - failed_at < FAILURE_SECONDS:
            raise failure
        try:
            document = self._fetched(url)
        except ProviderFailed as failed:
            self._failures[url] = (self._monotonic(), failed)
            raise
        self._documents[url] = (self._monotonic(), document)
        return document

    def _fetched(self, url: str) -> Mapping[str, Any]:
        status, document = self._call("GET", url)
        if status != 200:  # noqa: PLR2004 - HTTP
            raise ProviderFailed(f"{url} answered with status {status}.")
        return document

    def _call(self, method: str, url: str, **options: Any) -> tuple[int, dict[str, Any]]:
        """Return the status and the JSON object of a response."""
        if not _is_allowed(url):
            raise ProviderFailed(f"{url} is not an https URL.")
        if "fields" in options:
            options["encode_multipart"] = False
        deadline = time.monotonic() + TIMEOUT_SECONDS
        data = b""
        try:
            response = self._http.request(method, url, preload_content=False, redirect=False, **options)
            with closing(response):
                # A time-out of a socket restarts with every byte.
                while len(data) <= MAX_BYTES and (part := response.read1(MAX_BYTES)):
                    data += part
                    if time.monotonic() > deadline:
                        raise TimeoutError
        except (urllib3.exceptions.HTTPError, OSError) as error:
            raise ProviderFailed(f"{urlsplit(url).hostname} cannot be reached: {type(error).__name__}.") from None
        if len(data) > MAX_BYTES:
            raise ProviderFailed(f"{urlsplit(url).hostname} answered with more than {MAX_BYTES} bytes.")
        try:
            answer = json.loads(data)
        except ValueError:
            answer = None
        return response.status, answer if isinstance(answer, dict) else {}


def _line(value: object) -> str | None:
    """Return a claim as a line of at most MAX_NAME_CHARACTERS, or None for anything but a text."""
    line = "".join(character for character in value if character.isprintable()) if isinstance(value, str) else ""
    return shortened(line.strip(), MAX_NAME_CHARACTERS) or None


def _is_allowed(url: str) -> bool:
    """Whether a URL has https, or http on a loopback address, where nobody can listen."""
    parts = urlsplit(url)
    if parts.scheme == "https":
        return bool(parts.hostname)
    if parts.scheme != "http":
        return False
    try:
        return parts.hostname == "localhost" or ip_address(parts.hostname or "").is_loopback
    except ValueError:
        return False
