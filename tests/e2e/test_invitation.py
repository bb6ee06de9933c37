"""From an invitation to the benchmark, and back in with a passkey."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from studio.models import User


@pytest.fixture
def passkeys():
    """Gives a window a security key that says yes."""

    def plug_in(visitor) -> None:
        client = visitor.context.new_cdp_session(visitor.page)
        client.send("WebAuthn.enable")
        options = {
            "protocol": "ctap2",
            "transport": "internal",
            "hasResidentKey": True,
            "hasUserVerification": True,
            "isUserVerified": True,
            "automaticPresenceSimulation": True,
        }
        client.send("WebAuthn.addVirtualAuthenticator", {"options": options})

    return plug_in


def test_invited_person_signs_up_opens_the_benchmark_and_comes_back_with_a_passkey(sample, visit, passkeys):
    owner = visit("owner").go("/b/sample/members/")
    owner.locator("#invite").get_by_label("Role").select_option("reviewer")
    owner.locator("#invite").get_by_role("button", name="Invite", exact=True).click()
    link = re.search(r"/invitation/\S+", owner.get_by_role("status").locator("pre").inner_text())
    assert link
    owner.context.grant_permissions(["clipboard-read", "clipboard-write"])
    owner.get_by_role("status").get_by_role("button", name="Copy").click()
    expect(owner.get_by_role("button", name="Copied")).to_be_visible()
    assert owner.evaluate("navigator.clipboard.readText()").endswith(link.group())

    guest = visit(None)
    passkeys(guest)
    page = guest.go(link.group())
    expect(page.get_by_text("invites you to")).to_contain_text("Sample benchmark")
    page.get_by_label("Name", exact=False).first.fill("Nia New")
    page.get_by_label("Username").fill("nia")
    page.get_by_label("Email").fill("nia@example.org")
    page.get_by_label("Password").fill("rye and water")
    page.get_by_role("button", name="Create account").click()
    expect(page).to_have_url(re.compile("/b/sample/$"))
    assert set(User.objects.get(username="nia").memberships.values_list("role", flat=True)) == {"reviewer"}

    page.goto("/settings/second-step/webauthn/add/")
    page.get_by_label("Password").fill("rye and water")
    page.get_by_role("button", name="Confirm").click()
    page.get_by_label("Name").fill("My laptop")
    page.get_by_label("Passwordless").check()
    page.get_by_role("button", name="Add").click()
    expect(page.get_by_role("heading", name="Recovery codes")).to_be_visible()

    guest.context.clear_cookies()
    page.goto("/login/?next=/signed-in/")
    page.get_by_role("button", name="Use a passkey").click()
    expect(page.get_by_role("heading", name="You are signed in")).to_be_visible()
