"""Connecting a model by keyboard: from a key to a tested model."""

from __future__ import annotations

from playwright.sync_api import expect

from evaluation.endpoints.testing import play_test
from evaluation.llm.stored_keys import SECRET_VARIABLE
from evaluation.models import EndpointTest, ModelEndpoint
from studio.models import User
from tests.e2e.accessibility import violations
from tests.e2e.typist import Typist
from tests.evaluation.endpoints.service import Service, serving


def test_model_is_connected_and_tested_by_keyboard(transactional_db, browser, visit, monkeypatch):
    monkeypatch.setenv(SECRET_VARIABLE, "0123456789abcdef0123456789abcdef")
    administrator = User.objects.create_user("ada", is_staff=True)
    with serving(Service()) as service:
        service.listed = [{"id": name} for name in ("small", "large")]
        page = visit(administrator).go("/settings/models/new/")
        typist = Typist(page)

        page.get_by_role("link", name="Another OpenAI-compatible address").focus()
        typist.press("Enter")
        page.get_by_label("Address").focus()
        typist.write(service.base_url)
        typist.press("Tab")
        typist.write("sk-mine")
        typist.tab_to("List its models")
        typist.press("Enter")
        expect(page.get_by_role("combobox", name="Model")).to_be_focused()
        typist.write("large")
        typist.tab_to("Connect and test")
        typist.press("Enter")
        expect(page.get_by_text("Waiting for a worker")).to_be_visible()
        play_test(EndpointTest.objects.get().pk)

        expect(page.get_by_text("Tested just now")).to_be_visible()
        page.reload()
        expect(page.get_by_text("Reads a prompt of 26,000 tokens")).to_be_visible()

    assert service.keys[0] == "Bearer sk-mine"
    assert ModelEndpoint.objects.get(model="large").name == "large"
    assert violations(page) == []
    page.goto("/settings/models/new/?service=openai")
    assert violations(page) == []
    assert typist.seconds < 60
