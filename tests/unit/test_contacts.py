"""The contact of an app: what the onboarding page shows of it, checked before it is stored."""

from __future__ import annotations

import pytest

from domain.apps.contacts import MAX_NAME_CHARACTERS, changed_contact
from domain.errors import InvalidRequest
from domain.records.app import Contact
from tests.support.cases import for_each

CONTACT = Contact("Bluewater Books", "https://bluewater.example/logo.png", "+1 555 010 0199", "help@bluewater.example")


def test_given_fields_change_and_an_empty_text_removes_one() -> None:
    assert changed_contact(CONTACT, {"name": "Books & Söhne", "phone": ""}) == Contact(
        "Books & Söhne", CONTACT.logo_url, None, CONTACT.email
    )


@for_each(
    ("field", "text"),
    [
        ("name", "x" * (MAX_NAME_CHARACTERS + 1)),
        ("name", "two\nlines"),
        ("name", "left\u202eright"),
        ("name", " "),
        ("logo_url", "http://bluewater.example/logo.png"),
        ("logo_url", "javascript:alert(1)"),
        ("logo_url", "data:image/png;base64,AAAA"),
        ("logo_url", "https://user:secret@bluewater.example/logo.png"),
        ("logo_url", f"https://bluewater.example/{'x' * 3_000}"),
        ("phone", "call me"),
        ("phone", "+1;ext=javascript"),
        ("phone", "1" * 50),
        ("email", "nobody"),
        ("email", "a@b"),
        ("email", "a@b.example,c@d.example"),
        ("email", f"{'a' * 300}@b.example"),
        ("email", "a@b.example?bcc=c"),
    ],
)
def test_a_value_that_cannot_be_shown_safely_is_refused_with_its_field(field: str, text: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        changed_contact(CONTACT, {field: text})

    assert [problem.field for problem in caught.value.problems] == [field]
