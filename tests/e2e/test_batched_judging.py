"""Judging a pilot again in batches, as somebody sees it who comes back to the page."""

from __future__ import annotations

import os
from decimal import Decimal

from django.utils import timezone
from playwright.sync_api import Page, expect

from evaluation.models import JudgingBatch, JudgingRound
from evaluation.pilots import batching
from evaluation.pilots.judging_work import work_on
from evaluation.pilots.rejudging import RejudgingOptions, plan_rejudging
from evaluation.results.comparison import round_report
from evaluation.templatetags.evaluation_ui import money
from studio.models import Role
from tests.factories import member
from tests.zoo.server import playing
from tests.zoo.service import KEY
from tests.zoo.services import SERVICES
from tests.zoo.sessions import KEY_VARIABLE, connect, play
from tests.zoo.test_batches import work


def test_a_batch_shows_how_far_it_is_goes_on_after_its_worker_died_and_ends(
    transactional_db, browser, visit, monkeypatch
):
    monkeypatch.setenv(KEY_VARIABLE, KEY)
    with playing(SERVICES["plain"]()) as zoo:
        pilot = play(zoo)
    owner = member(pilot.benchmark, Role.OWNER)
    with playing(SERVICES["openai-chat"]()) as zoo:
        zoo.desk.at_once = False
        judge = connect(zoo, "judge", params={"temperature": None})
        page = visit(owner).go(pilot.get_absolute_url())
        page.get_by_role("link", name="Judge again").click()
        page.get_by_label("Judge", exact=True).select_option(judge.name)
        whole = plan_rejudging(pilot, RejudgingOptions(judge=judge.name)).estimate.cost
        cost = page.locator("#estimate b")
        expect(cost).to_have_text(money(whole))
        page.get_by_label("In batches, at half the price").check()
        expect(cost).to_have_text(money(Decimal(whole) / 2))
        look(page, "form")
        page.get_by_role("button", name="Judge again").click()

        judging_round = JudgingRound.objects.get(number=2)
        expect(page.get_by_text(f"{judging_round.judgings.count()} judgings to go.")).to_be_visible()
        for pk in judging_round.judgings.values_list("pk", flat=True):
            work_on(pk)
        expect(page.get_by_text("A batch is about to be sent.")).to_be_visible()
        [batch] = JudgingBatch.objects.all()
        batching.work_on_batch(batch.pk)
        batch.refresh_from_db()
        expect(page.get_by_text(f"A batch with {batch.total} questions was sent")).to_be_visible()
        expect(page.get_by_text("0 are answered")).to_be_visible()
        look(page, "sent")

        JudgingBatch.objects.update(claimed_by="a worker that died", lease_until=timezone.now())
        page.reload()
        expect(page.get_by_text(f"A batch with {batch.total} questions was sent")).to_be_visible()
        zoo.desk.at_once = True
        work(judging_round)
        expect(page.get_by_text("judgings to go")).to_have_count(0)
        look(page, "ended")

    row = page.locator("table.rounds tbody tr", has_text=judge.name)
    expect(row).to_contain_text(money(round_report(judging_round)["cost"]))
    assert len(zoo.desk.batches) == JudgingBatch.objects.count()


def look(page: Page, name: str) -> None:
    if folder := os.environ.get("SHOTS"):
        for width in (1280, 390):
            for scheme in ("light", "dark"):
                page.set_viewport_size({"width": width, "height": 800})
                page.emulate_media(color_scheme=scheme)
                page.screenshot(path=f"{folder}/batch-{name}-{width}-{scheme}.png", full_page=True)
        page.set_viewport_size({"width": 1280, "height": 800})
        page.emulate_media(color_scheme="light")
