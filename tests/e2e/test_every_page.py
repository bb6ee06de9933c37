"""Every page is shown without errors, accessible, and no wider than a phone."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import URLResolver, get_resolver, resolve, reverse

from annotations.judgments import next_number, open_results
from annotations.leases import next_packet
from evaluation.audits.known import draw_gold_item
from evaluation.models import ModelEndpoint, Session
from evaluation.rehearsals.lifecycle import start_rehearsal
from evaluation.releases.cut import ReleaseOptions, cut_release
from studio.access.invitations import invite
from studio.dev.pictures import Shot
from studio.dev.tour import SAMPLE, TourPaths, every_page
from studio.imports.staging import preview
from studio.local.paths import CHECKOUT
from studio.models import GraderScript, User
from studio.review.workflow import approve, request_changes
from studio.tasks.transitions import submit
from tests.annotations.builders import open_audit, record_judgment
from tests.e2e.accessibility import AXE, violations
from tests.e2e.builders import a_finished_pilot
from tests.e2e.visitor import Visitor

ACTIONS = (  # redirect to a page
    "logout token_revoke member_invite member_invitation_revoke notification "
    "inbox_read_all tasks_change import_decide file_delete board_move "
    "script_restore comment_add suggestions_apply comment_reply comment_edit comment_resolve "
    "suggestion_conflict guide_act guide_strip import_publication assign waive restore workflow_step discard build_on "
    "template take_back"
)
PARTS = (  # of pages
    "preview file_add signal file_syntax check autosave profile_autosave file_autosave destinations "
    "app_export app_names persona_download task_download"
)
OTHER_APPS = (  # actions, parts and files
    "evaluation:benchmark_budget evaluation:pilot_budget evaluation:pilot_estimate evaluation:pilot_cancel "
    "evaluation:pilot_pause evaluation:pilot_resume evaluation:pilot_retry evaluation:pilot_json "
    "evaluation:pilot_usage evaluation:pilot_round_resume "
    "evaluation:session_download evaluation:session_notes evaluation:pilot_tags evaluation:item_figures "
    "evaluation:results_view evaluation:results_view_save evaluation:results_view_remove "
    "evaluation:results_view_freeze "
    "evaluation:release_request evaluation:release_download evaluation:release_key evaluation:release_statement "
    "evaluation:release_held_out evaluation:release_held_out_statement evaluation:release_accept "
    "evaluation:release_site evaluation:release_exception_withdraw evaluation:pilot_verified "
    "evaluation:validation_stop evaluation:validation_resume evaluation:rehearsal_solution "
    "evaluation:rehearsal_act evaluation:request_proposal "
    "evaluation:proposal evaluation:endpoint_try evaluation:endpoint_models evaluation:endpoint_remove "
    "evaluation:benchmark_endpoint_ask evaluation:benchmark_endpoint_models "
    "evaluation:benchmark_endpoint_try evaluation:benchmark_endpoint_remove "
    "annotations:close annotations:results annotations:undo annotations:autosave annotations:adjudicate_next "
    "annotations:reopen annotations:plan annotations:export_csv annotations:export_json"
    " annotations:export_parquet"
)
DUPLICATES = {  # the same page as another in the tour
    "evaluation:benchmark_pilots", "evaluation:benchmark_endpoint", "annotations:packet",
}  # fmt: skip
ACCOUNTS = (  # actions, pages like others in the tour, and those that need a second step
    "account_login account_logout mfa_login_webauthn mfa_authenticate mfa_reauthenticate mfa_reauthenticate_webauthn "
    "mfa_deactivate_totp mfa_view_recovery_codes mfa_generate_recovery_codes mfa_download_recovery_codes "
    "mfa_remove_webauthn mfa_edit_webauthn"
)
NO_PAGES = (
    {f"studio:{name}" for name in f"{ACTIONS} {PARTS}".split()} | {*OTHER_APPS.split(), *ACCOUNTS.split()} | DUPLICATES
)


def git(*arguments: str) -> list[str]:
    """The lines it prints; none where there is no git or no such branch."""
    done = subprocess.run(["git", *arguments], cwd=CHECKOUT, capture_output=True, text=True, check=False)
    return done.stdout.splitlines()


def files_unlike_main() -> set[str]:
    """Templates, styles and scripts that differ from the main branch, or are new: its clones have none."""
    main = next(iter(git("rev-parse", "--verify", "origin/main") or git("rev-parse", "--verify", "main")), "HEAD")
    changed = git("diff", "--name-only", "--merge-base", main, "--", "templates", "static")
    return {*changed, *git("ls-files", "--others", "--exclude-standard", "templates", "static")}


CHANGED = files_unlike_main() if shutil.which("git") else set()
EVERYWHERE = {path.relative_to(CHECKOUT).as_posix() for path in (CHECKOUT / "static/css").glob("*.css")}


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
    judged, started = (open_audit(pilot, size=2, by=sample.created_by, name=name) for name in ("judged", "started"))
    whole = open_audit(pilot, unit="session", by=sample.created_by, name="whole sessions")
    gold = draw_gold_item(pilot, "session", by=sample.created_by)
    next_packet(whole, auditor)
    answers = iter(("unsure", *["yes"] * 10))
    unsure = next_packet(judged, auditor)
    while packet := next_packet(judged, auditor):
        record_judgment(packet, auditor=auditor, answer=next(answers), number=next_number(packet, auditor))
    open_results(judged, auditor)
    release = cut_release(sample, ReleaseOptions(version="0.1", accept="To look at it."), by=sample.created_by)
    script = GraderScript.objects.get(path="scripts/running_order.py")
    judge = ModelEndpoint.objects.get(name="scripted-judge")
    rehearsal = start_rehearsal(tasks[2], by=author, seat="agent", judge=judge)
    sample.created_by.is_staff = True  # may connect models
    sample.created_by.save()
    with tempfile.TemporaryDirectory() as folder:
        packed = shutil.make_archive(f"{folder}/persona", "zip", SAMPLE, "radio_producer")
        staged = preview(sample, Path(packed).read_bytes(), name="persona.zip", by=sample.created_by, published=False)
    path = next(iter(session.turns.first().snapshot.manifest))
    return every_page(
        TourPaths(
            tasks=[task.get_absolute_url() for task in tasks],
            pilot=pilot.get_absolute_url(),
            session=session.get_absolute_url(),
            file=f"{session.get_absolute_url()}turns/1/file/?path={path}",
            audit=judged.get_absolute_url(),
            gold_item=reverse("evaluation:gold_item", args=[gold.pk]),
            judging=started.get_absolute_url(),
            judging_sessions=whole.get_absolute_url(),
            adjudicating=reverse("annotations:adjudicate", args=[judged.pk, unsure.position]),
            release=release.get_absolute_url(),
            rehearsal=rehearsal.get_absolute_url(),
            imported=reverse("studio:import", args=["sample", staged.pk]),
            model=reverse("evaluation:endpoint", args=[judge.pk]),
            invitation=invite(by=sample.created_by, benchmark=sample, role="author", link=link_to)[1],
            script=reverse("studio:script", args=["sample", "radio_producer", script.pk]),
        )
    )


def link_to(secret: str) -> str:
    return reverse("studio:invitation", args=[secret])


def routes(patterns: Iterable[Any], namespace: str = "", route: str = "") -> Iterator[tuple[str, str]]:
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            inner = f"{namespace}{pattern.namespace}:" if pattern.namespace else namespace
            yield from routes(pattern.url_patterns, inner, route + str(pattern.pattern))
        else:
            yield f"{namespace}{pattern.name}", route + str(pattern.pattern)


@pytest.mark.everyday
def test_every_url_is_in_the_tour_or_listed_as_no_page():
    task, script = "/b/sample/p/radio_producer/tasks/1/", "/b/sample/p/radio_producer/scripts/1/"
    paths = TourPaths(
        tasks=[task] * 4,
        script=script,
        pilot="/pilots/1/",
        session="/sessions/1/",
        file="/sessions/1/turns/1/file/",
        audit="/audits/1/",
        gold_item="/audits/known/item/1/",
        judging="/audits/1/",
        adjudicating="/audits/1/adjudicate/1/",
        release="/releases/1/",
        rehearsal="/rehearsals/1/",
        imported="/b/sample/import/1/",
        model="/settings/models/1/",
        invitation="/invitation/secret/",
    )
    toured = {resolve(shot.url.partition("?")[0]).view_name for shot in every_page(paths)}
    urls = {
        name
        for name, route in routes(get_resolver().url_patterns)
        if not route.startswith("admin/") and not (route.startswith("api/") and route != "api/")
    }

    assert urls - toured - NO_PAGES == set(), "a page is not in the tour: add it to studio/dev/pages.txt"
    assert NO_PAGES - urls == set() and NO_PAGES & toured == set()


@pytest.mark.minutes
@pytest.mark.timeout(600)  # some sixty pages, each checked twice
def test_every_page_is_accessible_and_fits_a_phone(pages, visit):
    assert_accessible(pages, visit)


@pytest.mark.everyday
@pytest.mark.skipif(not CHANGED, reason="no template, style or script differs from the main branch")
@pytest.mark.timeout(600)
def test_changed_pages_are_accessible_and_fit_a_phone(pages, visit):
    assert_accessible([shot for shot in pages if CHANGED & files_of(shot)], visit)


def files_of(shot: Shot) -> set[str]:
    """The templates, styles and scripts of a page, as paths in the checkout."""
    client = Client()
    if shot.who != "nobody":
        client.force_login(User.objects.get(username=shot.who))
    response = client.get(shot.url)
    templates = {template.origin.name.removeprefix(f"{CHECKOUT}/") for template in response.templates}
    static = {f"static/{path}" for path in re.findall(r'"/static/([^"?]+)', response.content.decode())}
    return templates | static | EVERYWHERE


def assert_accessible(shots: list[Shot], visit: Callable[..., Visitor]) -> None:
    windows = {who: visit(who if who != "nobody" else None) for who in {shot.who for shot in shots}}
    for window in windows.values():
        window.page.add_init_script(AXE)  # sent once: it has half a megabyte
    problems = {}
    for shot in shots:
        page = windows[shot.who].page
        page.set_viewport_size({"width": 1280, "height": 844})
        page.emulate_media(color_scheme="light")
        response = page.goto(shot.url)
        assert response
        assert response.status == (404 if shot.name == "not-found" else 200), shot
        if found := violations(page):
            problems[shot.name] = found
    assert problems == {}, "\n".join(f"{name}: {row}" for name, rows in problems.items() for row in rows)
