"""Both signatures, against the published vector and values made with openssl, not with this code."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.webhooks.signature import signature_headers
from local.gateway import Request
from local.receiver import verified_schemes

SECRET = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
OLDER_SECRET = "whsec_ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8="
ID = "11111111-1111-4111-8111-111111111111"
SENT_AT = 1773489600
BODY = b'{"type":"queued_request.completed"}'

# printf '%s' "$ID.$SENT_AT.$BODY" | openssl dgst -sha256 -mac HMAC -macopt hexkey:000102…1f -binary | base64
STANDARD = "GYkRnGgn9xPBbWzzyr+P/URZy6GckHNlPZRMbQMsvPc="
OLDER_STANDARD = "4rlaVF3E+pg9yz2coKvoeEixyAzFtXmhojBa9nzx29I="
# printf '%s' "$SENT_AT.$BODY" | openssl dgst -sha256 -hmac "$SECRET" -hex
QUBE = "b22000185d914aadd6e2c5547141bbc5e4035325e2bb4069ad2f935b6b643aa0"
OLDER_QUBE = "044fc9d0f1398d3bf4dacb45458062de16546fc325a091973e6b180e0e04aa6b"


def test_the_signature_matches_the_published_standard_webhooks_vector() -> None:
    """The test vector of the Standard Webhooks libraries."""
    headers = signature_headers(
        ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"],
        "msg_p5jXN8AQM9LWM0D4loKWxJek",
        1614265330,
        b'{"test": 2432232314}',
    )

    assert headers["webhook-signature"] == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_every_active_secret_signs_in_both_ways() -> None:
    headers = signature_headers([SECRET, OLDER_SECRET], ID, SENT_AT, BODY)

    assert headers == {
        "webhook-id": ID,
        "webhook-timestamp": "1773489600",
        "webhook-signature": f"v1,{STANDARD} v1,{OLDER_STANDARD}",
        "X-Qube-Signature": f"t=1773489600,v1={QUBE},v1={OLDER_QUBE}",
    }


def schemes_of(headers: dict[str, str], body: bytes, secret: str = SECRET) -> set[str]:
    """Return the verdict of a receiver that does not use the code under test."""
    return set(verified_schemes(Request("POST", "/", list(headers.items()), body), secret))


@pytest.mark.parametrize("secret", [SECRET, OLDER_SECRET])
def test_a_receiver_with_either_secret_accepts_both_signatures(secret: str) -> None:
    headers = signature_headers([SECRET, OLDER_SECRET], ID, SENT_AT, BODY)

    assert schemes_of({name.title(): value for name, value in headers.items()}, BODY, secret) == {"standard", "qube"}


@given(st.binary(), st.binary())
def test_a_different_body_fails_verification(body: bytes, other: bytes) -> None:
    headers = signature_headers([SECRET], ID, SENT_AT, body)

    assert schemes_of(headers, other) == ({"standard", "qube"} if body == other else set())


@pytest.mark.parametrize(
    "change",
    [
        {"webhook-id": "22222222-2222-4222-8222-222222222222"},
        {"webhook-timestamp": "1773489601"},
        {"webhook-timestamp": ""},
        {"webhook-signature": ""},
        {"webhook-signature": STANDARD},
        {"webhook-signature": f"v2,{STANDARD}"},
        {"webhook-signature": "v1,é"},
    ],
)
def test_a_changed_header_fails_verification(change: dict[str, str]) -> None:
    headers = signature_headers([SECRET], ID, SENT_AT, BODY) | change

    assert schemes_of(headers, BODY) == {"qube"}


@pytest.mark.parametrize(
    "header", ["", "v1=aa", f"t={SENT_AT}", f"t={SENT_AT},v2={QUBE}", "t,v1", "t=1=2,v1=3", f"t={SENT_AT},v1=é"]
)
def test_a_malformed_older_signature_fails_verification(header: str) -> None:
    headers = signature_headers([SECRET], ID, SENT_AT, BODY) | {"X-Qube-Signature": header}

    assert schemes_of(headers, BODY) == {"standard"}


@pytest.mark.parametrize("secret", ["AAECAwQ=", "whsec_no base64!", "whsec_A"])
def test_an_invalid_secret_is_refused_without_showing_it(secret: str) -> None:
    with pytest.raises(ValueError, match="whsec_") as caught:
        signature_headers([secret], ID, SENT_AT, BODY)

    assert secret not in str(caught.value)
