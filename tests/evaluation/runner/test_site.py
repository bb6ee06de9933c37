"""A pack and its results as static pages."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from evaluation.releases.cut import ReleaseOptions, cut_release
from evaluation.releases.errata import ErratumOptions, publish_erratum
from evaluation.releases.site import site_zip
from evaluation.runner.command import main
from evaluation.submissions.submit import submit
from studio.domain.episode import Split
from studio.domain.pack import MANIFEST, SUMS
from studio.domain.persona import PersonaSpec
from studio.episodes.moves import Move, make_move
from studio.models import Role, Task, User
from tests.evaluation.builders import archive_of, benchmark_of, intents, pilot_of, rubric, task
from tests.evaluation.pilots.builders import work_through
from tests.evaluation.runner.packs import write
from tests.evaluation.runner.test_html import EVIL, TAGS, Page
from tests.evaluation.runner.test_same_as_pilots import answer_by_content
from tests.evaluation.stub_model import StubModel
from tests.factories import mark_approved, member
from tests.packs import write_pack

pytestmark = pytest.mark.usefixtures("stub_key")
MORE_TAGS = {*"main nav footer a ul li ol pre em strong".split()}


def run(pack: Path, out: Path, model: str = "scripted:helpful", *more: str) -> Path:
    assert main(["run", str(pack), "--model", model, "--out", str(out), *more]) == 0
    return out


def rewritten(pack: Path, change: Callable[[dict[str, Any]], None]) -> Path:
    """With another manifest."""
    with zipfile.ZipFile(pack) as archive:
        files = {name: archive.read(name) for name in archive.namelist() if name not in (MANIFEST, SUMS)}
        manifest = json.loads(archive.read(MANIFEST))
    change(manifest)
    pack.write_bytes(write_pack(manifest, files))
    return pack


def site(pack: Path, out: Path, *results: Path) -> dict[str, str]:
    """Pages by name."""
    assert main(["site", str(pack), *map(str, results), "--out", str(out)]) == 0
    return {path.name: path.read_text("utf-8") for path in out.glob("*.html")}


def said(page: str) -> str:
    return " ".join("".join(Page(page).texts).split())


def test_site_has_leaderboard_tasks_transcripts_and_the_pack(tmp_path: Path):
    pack = write(tmp_path / "pack.zip", {"clerk": [task("a", title="The note", checklist=(rubric("It is signed."),))]})
    first = run(pack, tmp_path / "first")
    second = run(pack, tmp_path / "second", "scripted:asks")

    pages = site(pack, tmp_path / "site", first, second)

    index = said(pages["index.html"])
    assert "Leaderboard, paper protocol, agent loop 2" in index
    assert index.count("scripted models, not evidence") == 2
    board = json.loads((tmp_path / "site" / "leaderboard.json").read_text())
    assert main(["score", str(first), "--json"]) == 0
    assert [row["agent"] for row in board] == ["scripted-helpful", "scripted-asks"]
    assert (tmp_path / "site" / "bench-1.0.zip").read_bytes() == pack.read_bytes()
    assert "It is signed." in said(pages["tasks-1.html"])
    assert "scripted-helpful · clerk · The note" in said(pages["transcripts.html"])
    assert "0e6f7a3e-0000-4000-8000-000000000000" in said(pages["tasks-1.html"])
    for name, page in pages.items():
        assert "default-src 'none'; style-src 'unsafe-inline'" in page, name
        assert page.count('aria-current="page"') == 1, name


@pytest.mark.slow
def test_results_of_some_tasks_are_not_ranked_beside_those_of_all(tmp_path: Path):
    tasks = [task(name, checklist=(rubric("It is signed."),)) for name in "ab"]
    pack = write(tmp_path / "pack.zip", {"clerk": tasks})
    whole = run(pack, tmp_path / "whole")
    part = run(pack, tmp_path / "part", "scripted:asks", "--task", "a")

    index = said(site(pack, tmp_path / "site", whole, part)["index.html"])

    first, second = index.split("Leaderboard, paper protocol, agent loop 2, ")[1:]
    assert first.startswith("2 tasks") and "scripted-helpful" in first and "scripted-asks" not in first
    assert second.startswith("1 task") and "scripted-asks" in second and "scripted-helpful" not in second


def test_leaderboard_of_the_site_is_what_score_tells(
    stub: StubModel, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    answer_by_content(stub)
    pack = write(tmp_path / "pack.zip", {"clerk": [task("a", checklist=(rubric("x"), rubric("y", 2))), task("b")]})
    models = [word for seat in ("user", "judge") for word in (f"--{seat}", "openai:stub-model")]
    at = ["--base-url", stub.base_url, "--key-env", "STUB_API_KEY", "--runs", "2"]
    results = run(pack, tmp_path / "results", "openai:stub-model", *models, *at)
    site(pack, tmp_path / "site", results)
    capsys.readouterr()

    assert main(["score", str(results), "--json"]) == 0

    told = json.loads(capsys.readouterr().out)["scores"]["strict"]
    [row] = json.loads((tmp_path / "site" / "leaderboard.json").read_text())
    assert {name: row[name] for name in ("proc", "comp", "personas")} == {
        name: told[name] for name in ("proc", "comp", "personas")
    }


def test_what_a_pack_wrote_is_text_on_every_page(tmp_path: Path):
    evil = task("a", title=EVIL, initial_request=EVIL, intents=intents(EVIL), checklist=(rubric(EVIL),))
    pack = write(tmp_path / "pack.zip", {"clerk": [evil]})

    pages = site(pack, tmp_path / "site", run(pack, tmp_path / "results"))

    for name, page in pages.items():
        parsed = Page(page)
        assert parsed.tags.keys() <= TAGS | MORE_TAGS, name
        assert not {attribute for attribute in parsed.attributes if attribute.startswith("on") or attribute == "src"}
        assert "\x1b" not in page and "\u202e" not in page
    assert said(pages["tasks-1.html"]).count("<script>alert(1)</script>") == 4
    assert said(pages["transcripts.html"]).count("<script>alert(1)</script>") >= 3


def test_name_that_a_pack_gives_itself_leads_out_of_no_folder(tmp_path: Path):
    path = write(tmp_path / "pack.zip", {"clerk": [task("a")]})

    site(rewritten(path, lambda manifest: manifest["benchmark"].update(slug="../../evil")), tmp_path / "site")

    assert [file.name for file in tmp_path.iterdir() if file.name not in ("pack.zip", "site")] == []
    assert (tmp_path / "site" / "evil-1.0.zip").exists()


@pytest.mark.parametrize("told_by", ["manifest", "episode"])
def test_tasks_that_are_not_public_are_neither_shown_nor_told_of_in_transcripts(tmp_path: Path, told_by: str):
    checklist = (rubric("x"),)
    secret = task("a", title="Secret", initial_request="A secret request.", checklist=checklist)
    tasks = [task("b", title="Open", checklist=checklist), secret]
    splits = {"a": Split.HELD_OUT} if told_by == "episode" else None
    pack = write(tmp_path / "pack.zip", {"clerk": tasks}, splits=splits)
    if told_by == "manifest":
        rewritten(pack, lambda manifest: manifest["tasks"][1].update(split="held_out"))

    pages = site(pack, tmp_path / "site", run(pack, tmp_path / "results"))

    assert not [name for name, page in pages.items() if "ecret" in page]
    assert "1 more is not public." in said(pages["tasks-1.html"])
    assert "1 persona · 1 public task" in said(pages["index.html"])
    assert "Do not train on this." in said(pages["index.html"])
    assert "· clerk · Open" in said(pages["transcripts.html"])
    assert not (tmp_path / "site" / "bench-1.0.zip").exists()


def test_session_that_followed_a_held_out_one_is_no_example(tmp_path: Path):
    tasks = [task("a"), task("b", title="Open", checklist=(rubric("x"),))]
    pack = write(tmp_path / "pack.zip", {"clerk": tasks}, splits={"a": Split.HELD_OUT})

    pages = site(pack, tmp_path / "site", run(pack, tmp_path / "results"))

    assert "transcripts.html" not in pages


def test_leaderboard_names_no_persona_whose_tasks_are_all_held_out(tmp_path: Path):
    people = {"clerk": [task("a", checklist=(rubric("x"),))], "warden": [task("b", checklist=(rubric("x"),))]}
    pack = write(tmp_path / "pack.zip", people, splits={"b": Split.HELD_OUT})

    site(pack, tmp_path / "site", run(pack, tmp_path / "results"))

    [row] = json.loads((tmp_path / "site" / "leaderboard.json").read_text())
    assert list(row["personas"]) == ["clerk"]


def test_held_out_pack_gives_no_site(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    pack = write(tmp_path / "pack.zip", {"clerk": [task("a")]}, more={"splits": {"held_out": {"tasks": 1}}})

    assert main(["site", str(pack), "--out", str(tmp_path / "site")]) == 2

    assert "holds tasks that must not be published." in capsys.readouterr().err
    assert not (tmp_path / "site").exists()


def test_site_into_a_file_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    pack = write(tmp_path / "pack.zip", {"clerk": [task("a")]})

    assert main(["site", str(pack), "--out", str(pack)]) == 2

    assert "cannot be written" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.django_db
@pytest.mark.parametrize("order", ["open first", "held out first"])
def test_site_of_a_release_tells_nothing_of_held_out_tasks_that_were_played(order: str):
    opened, held = task("a", title="Open", checklist=(rubric("x"),)), task("h", checklist=(rubric("x"),))
    benchmark = benchmark_of(*((opened, held) if order == "open first" else (held, opened)))
    benchmark_of(task("w", checklist=(rubric("x"),)), persona=PersonaSpec(user_id="warden"), into=benchmark)
    owner = member(benchmark, Role.OWNER)
    for row in Task.objects.filter(persona__benchmark=benchmark, task_id__in=("h", "w")):
        make_move(row.persona_id, Move("split", (row.task_id,), split="held_out"), by=owner)
    pilot = work_through(pilot_of(benchmark))
    release = cut_release(benchmark, ReleaseOptions(version="1.0", accept="A test."), by=None, signature="Ada")

    with zipfile.ZipFile(io.BytesIO(site_zip(release, [pilot]))) as archive:
        files = {name: archive.read(name).decode() for name in archive.namelist() if not name.endswith(".zip")}

    assert "Scores are over all splits." in said(files["index.html"])
    assert all("warden" not in row["personas"] for row in json.loads(files["leaderboard.json"]))
    assert ("transcripts.html" in files) == (order == "open first")


def test_results_of_another_pack_are_refused_with_the_task(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    pack = write(tmp_path / "pack.zip", {"clerk": [task("a")]})
    other = write(tmp_path / "other.zip", {"clerk": [task("a", initial_request="Something else.")]})
    results = run(other, tmp_path / "results")

    assert main(["site", str(pack), str(results), "--out", str(tmp_path / "site")]) == 2

    assert "has results of another pack: “a” of clerk is not as in" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.django_db
def test_release_gives_the_same_with_what_was_submitted_and_its_errata(stub: StubModel, tmp_path: Path):
    answer_by_content(stub)
    benchmark = benchmark_of(task("a", title="The note", checklist=(rubric("x"), rubric("y", 2))))
    mark_approved(Task.objects.filter(persona__benchmark=benchmark))
    person = member(benchmark, Role.RELEASE_MANAGER)
    User.objects.filter(pk=person.pk).update(display_name="Rita")
    release = cut_release(benchmark, ReleaseOptions(version="1.0", accept="For a test."), by=person)
    (tmp_path / "pack.zip").write_bytes(archive_of(release))
    models = [word for seat in ("user", "judge") for word in (f"--{seat}", "openai:stub-model")]
    at = ["--base-url", stub.base_url, "--key-env", "STUB_API_KEY"]
    results = run(tmp_path / "pack.zip", tmp_path / "results", "openai:stub-model", *models, *at)
    assert main(["bundle", str(results), "--out", str(tmp_path / "bundle.zip")]) == 0
    person.refresh_from_db()
    submit((tmp_path / "bundle.zip").read_bytes(), by=person)
    publish_erratum(release, ErratumOptions(text="The fee is <b>wrong</b>."), by=person)
    client = Client()
    client.force_login(person)

    answer = client.get(reverse("evaluation:release_site", args=[release.pk]))
    same = client.get(f"/api/releases/{release.pk}/site/")

    assert answer.content == same.content
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        assert {entry.external_attr >> 16 for entry in archive.infolist()} == {0o100644}  # for a web server to read
        pages = {name: archive.read(name).decode() for name in archive.namelist() if name.endswith(".html")}
        assert archive.read(release.file_name) == archive_of(release)
    assert "openai:stub-model · submitted by Rita, not verified" in said(pages["index.html"])
    assert "1.0, erratum 1 the release as a whole The fee is <b>wrong</b>." in said(pages["errata.html"]).replace(
        "1the", "1 the"
    ).replace("wholeThe", "whole The")
    assert "Data card of Bench 1.0" in said(pages["data-card.html"])
    assert "The first release." in said(pages["changelog.html"])
    assert f"--key {release.key.fingerprint}" in said(pages["downloads.html"])
    assert "openai:stub-model" in said(pages["transcripts.html"])
