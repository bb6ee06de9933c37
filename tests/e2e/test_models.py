"""Connecting a model by keyboard: from a key to a tested model."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

from playwright.sync_api import Locator, Page, expect

from evaluation.endpoints.testing import play_test
from evaluation.llm.stored_keys import SECRET_VARIABLE
from evaluation.models import EndpointTest, ModelEndpoint, Pilot
from studio.models import Membership, Role, User
from tests.e2e.accessibility import violations
from tests.e2e.typist import Typist
from tests.evaluation.endpoints.exchange import exchanged
from tests.evaluation.endpoints.service import Service, serving
from tests.zoo.server import playing
from tests.zoo.service import KEY
from tests.zoo.services import SERVICES


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


def test_from_a_key_to_a_running_pilot_takes_less_than_two_minutes(sample, visit, monkeypatch):
    """By mouse: what is needed next is on the page. Waiting is printed and not limited: machines differ."""
    monkeypatch.setenv(SECRET_VARIABLE, "0123456789abcdef0123456789abcdef")
    administrator = User.objects.create_user("ada", is_staff=True)
    Membership.objects.create(benchmark=sample, user=administrator, role=Role.OWNER)
    service = SERVICES["deepseek"]()
    monkeypatch.setattr(service, "fault", exchanged)
    service.faults = ["exchange"] * 40
    with playing(service) as zoo:
        page = visit(administrator).go("/")
        person = Hand(page)

        person.click(page.get_by_role("link", name="Settings"), "where")
        person.click(page.get_by_role("link", name="Models").first, "models")
        person.click(page.get_by_role("link", name="Connect a model").first, "services")
        person.click(page.get_by_role("link", name="Another OpenAI-compatible address"), "service")
        person.write(page.get_by_label("Address"), zoo.url())
        person.write(page.get_by_role("textbox", name="API key optional"), KEY)
        person.click(page.get_by_role("button", name="List its models"), "listed")
        person.choose(page.get_by_role("combobox", name="Model"), zoo.service.model)
        person.click(page.get_by_role("button", name="Connect and test"), "asked")
        person.wait(lambda: play_test(EndpointTest.objects.get().pk))
        service.faults.clear()
        expect(page.get_by_text("Tested just now")).to_be_visible()

        person.click(page.get_by_role("link", name="Start a pilot"), "pilot")
        person.click(page.get_by_text("Nessa Tremlett: choose among 7 tasks"), "tasks")
        person.click(page.get_by_label("Running order for 11 March"), "chosen")
        person.click(page.get_by_role("button", name="Start the pilot"), "started")
        expect(page.get_by_text("0 of 2 sessions finished")).to_be_visible()
    assert Pilot.objects.get().agent.model == zoo.service.model
    assert person.seconds < 120
    print(f"{person.steps} steps: {person.seconds:.0f} s, and {person.waited:.0f} s of waiting here")


class Hand:
    """A person with a mouse, who reads each page before the next step. SHOTS names a folder for pictures of the way."""

    SECONDS_PER_STEP = 5.0

    def __init__(self, page: Page) -> None:
        self.page = page
        self.steps = 0
        self.waited = 0.0

    def click(self, where: Locator, seen: str) -> None:
        self.steps += 1
        started = time.monotonic()
        where.click()
        self.page.wait_for_load_state()
        self.waited += time.monotonic() - started
        self.look(seen)

    def write(self, where: Locator, text: str) -> None:
        """An address or a key is pasted."""
        self.steps += 1
        where.fill(text)

    def choose(self, where: Locator, option: str) -> None:
        self.steps += 1
        where.select_option(option)

    def wait(self, do: Callable[[], object]) -> None:
        """For a worker."""
        started = time.monotonic()
        do()
        self.waited += time.monotonic() - started

    def look(self, name: str) -> None:
        if folder := os.environ.get("SHOTS"):
            for width in (1280, 390):
                self.page.set_viewport_size({"width": width, "height": 800})
                self.page.screenshot(path=f"{folder}/{self.steps:02}-{name}-{width}.png", full_page=True)
            self.page.set_viewport_size({"width": 1280, "height": 800})

    @property
    def seconds(self) -> float:
        return self.steps * self.SECONDS_PER_STEP
