"""The console's page of the contact: it is changed, and customers see it at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playwright.sync_api import expect

from tests.browser.support import HOSTILE, onboarding_link

if TYPE_CHECKING:
    from tests.browser.support import Console

NOTHING = {"name": None, "logo_url": None, "phone": None, "email": None}


def test_a_contact_is_previewed_saved_and_seen_by_customers(console: Console) -> None:
    service, page = console.service, console.page
    service.call("PATCH", "/api/v1/contact", NOTHING)
    console.sign_in()
    page.get_by_role("navigation", name="Main").get_by_role("link", name="Your contact").click()
    console.sees_heading("Your contact")
    preview = page.get_by_role("region", name="Preview for customers")
    expect(preview).to_contain_text("An application asks for access")
    expect(preview).to_contain_text("customers who need help cannot reach you")
    assert console.button("Save").is_disabled()

    page.get_by_label("Name").fill(f"Bluewater {HOSTILE}")
    page.get_by_label("Phone").fill("call me")
    page.get_by_label("Logo URL").fill("http://bluewater.example/logo.png")
    console.button("Save").click()

    console.sees("must be a telephone number such as")
    console.sees("must begin with https://, not http://")
    assert service.call("GET", "/api/v1/contact").json["data"] == NOTHING

    page.get_by_label("Phone").fill(" +1 555 010 0199 ")
    page.get_by_label("Logo URL").fill("https://bluewater.example/logo.png")
    expect(preview).to_contain_text(f"Bluewater {HOSTILE} asks for access")
    expect(preview).to_contain_text("loads the logo from bluewater.example")
    console.button("Save").click()
    console.sees("The contact is saved.")

    stored = service.call("GET", "/api/v1/contact").json["data"]
    assert (stored["name"], stored["phone"]) == (f"Bluewater {HOSTILE}", "+1 555 010 0199")
    entry = service.call("GET", "/api/v1/audit_log?action=contact_changed&limit=1").json["data"][0]
    assert entry["settings"] == ["logo_url", "name", "phone"]
    page.evaluate("sessionStorage.clear()")
    console.open(onboarding_link(console, service.connection().path))
    expect(page.get_by_label("Request for access")).to_contain_text(f"Bluewater {HOSTILE} asks for access")
    expect(page.get_by_role("link", name="Phone +1 555 010 0199")).to_be_visible()
    assert console.problems == []


def test_a_read_only_key_sees_the_contact_and_no_action(console: Console) -> None:
    service = console.service
    service.call("PATCH", "/api/v1/contact", {**NOTHING, "name": "Bluewater Books"})
    key = service.operate("create_key", app_id=service.app_id, scope="read_only")["api_key"]

    console.sign_in("/app/contact", key=key)

    expect(console.page.get_by_label("Name")).to_have_value("Bluewater Books")
    assert not console.page.get_by_label("Name").is_editable()
    assert console.button("Save").count() == 0
    console.sees("This key is read-only.")
