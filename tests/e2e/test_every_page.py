"""Every page: nothing breaks, nothing is too wide, everything is reached by keys, and nobody is shut out."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.urls import reverse

from annotations.judging import next_number, next_packet, read_results, record_judgment
from evaluation.audits import open_audit
from evaluation.models import Session
from evaluation.releases import cut_release
from studio.local.pictures import Shot
from studio.local.tour import Places, every_page
from studio.models import GraderScript, User
from studio.publishing import approve, request_changes, submit
from tests.e2e.making import a_finished_pilot

AXE = (Path(__file__).parent / "vendor" / "axe" / "axe.min.js").read_text()
WIDER = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
SERIOUS = """async (only) => {
    const found = await axe.run(document, {resultTypes: ["violations"], ...(only && {runOnly: only})});
    return found.violations.filter((one) => ["serious", "critical"].includes(one.impact)).map((one) =>
        `${one.id}: ${one.help}: ` + one.nodes.slice(0, 4).map((node) =>
            `${node.html.slice(0, 160)} (${node.any.concat(node.all, node.none)[0]?.message ?? ""})`).join(" | "));
}"""


@pytest.fixture
def pages(sample, radio) -> list[Shot]:
    author, reviewer, auditor = (User.objects.get(username=name) for name in ("author", "reviewer", "auditor"))
    tasks = [radio[name] for name in ("01_clock", "02_briefing", "03_running_order", "04_music_return")]
    for task in tasks:
        submit(task.pk, by=author)
    approve(tasks[0].pk, by=reviewer)
    request_changes(tasks[2].pk, by=reviewer, text="The request says what an intent hides.")
    pilot = a_finished_pilot(sample, "radio_03_running_order")
    session = Session.objects.filter(run__pilot=pilot).order_by("position").last()
    done, begun = (open_audit(pilot, size=2, by=sample.created_by, name=name) for name in ("done", "begun"))
    while packet := next_packet(done, auditor):
        record_judgment(packet, auditor=auditor, answer="yes", number=next_number(packet, auditor))
    read_results(done, auditor)
    release = cut_release(sample, "0.1", by=sample.created_by, accept="To look at it.")
    script = GraderScript.objects.get(path="scripts/running_order.py")
    path = next(iter(session.turns.first().snapshot.manifest))
    return every_page(
        Places(
            tasks=[task.get_absolute_url() for task in tasks],
            pilot=pilot.get_absolute_url(),
            session=session.get_absolute_url(),
            file=f"{session.get_absolute_url()}turns/1/file/?path={path}",
            audit=done.get_absolute_url(),
            judging=begun.get_absolute_url(),
            release=release.get_absolute_url(),
            script=reverse("studio:script", args=["sample", "radio_producer", script.pk]),
        )
    )


def test_no_page_shuts_anybody_out_or_is_wider_than_a_telephone(pages, visit):
    windows = {who: visit(who if who != "nobody" else None) for who in {shot.who for shot in pages}}
    wrong = {}
    for shot in pages:
        window = windows[shot.who]
        page = window.page
        page.set_viewport_size({"width": 1280, "height": 800})
        page.emulate_media(color_scheme="light")
        answer = page.goto(shot.url)
        assert answer.status == (404 if shot.name == "not-found" else 200), shot
        page.evaluate(AXE)
        found = [f"light {one}" for one in page.evaluate(SERIOUS, None)]
        page.emulate_media(color_scheme="dark")
        found += [f"dark {one}" for one in page.evaluate(SERIOUS, ["color-contrast"])]
        page.set_viewport_size({"width": 390, "height": 844})
        if (wider := page.evaluate(WIDER)) > 0:
            found.append(f"{wider} px wider than 390")
        if found:
            wrong[shot.name] = found
    assert wrong == {}, "\n".join(f"{name}: {one}" for name, found in wrong.items() for one in found)
