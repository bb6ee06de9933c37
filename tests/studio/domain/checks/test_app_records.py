"""Records that a request mentions are looked for in the data of the persona's simulated apps."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from studio.domain.base import FileRef
from studio.domain.checks import Known, find_problems
from studio.domain.checks.rule import CheckContext
from studio.domain.checks.rules.missing import request_unknown_record
from studio.domain.episode import EpisodeSpec
from studio.domain.persona import PersonaSpec
from studio.domain.pibench import read_personas
from studio.domain.plan import Plan
from studio.domain.task import TaskSpec
from studio.domain.tool_names import tool_domain
from tests.evaluation.tools.apps.real_personas import app_data

MUSIC = {"playlists": [{"title": "Morning Run"}], "songs": [{"title": "Rye"}]}
MAIL = {"accounts": [{"username": "d@example.com", "first_name": "Denise", "last_name": "Maldonado"}]}
TOOLS = ("mcp_appworld_spotify__show_playlist", "gmail__send_email")


def mentioned(request: str, data: dict[str, object], rule: str = "request-unknown-record") -> list[str]:
    contents = {f"{number:064x}": (app, json.dumps(tables)) for number, (app, tables) in enumerate(data.items())}
    files = tuple(FileRef(path=f"apps/{app}.json", sha256=sha, size=9) for sha, (app, _) in contents.items())
    persona = PersonaSpec(user_id="ada", tools=TOOLS, files=files)
    task = TaskSpec(task_id="t", title="T", initial_request=request)
    episode = EpisodeSpec(episode_id="ep", persona=persona, tasks=(task,))
    texts = {sha: text for sha, (_, text) in contents.items()}
    return [finding.passage for finding in find_problems(episode, texts=texts) if finding.rule == rule]


@pytest.mark.parametrize(
    ("request_text", "missing"),
    [
        ("Add the song “Rye” to my playlist “Morning Run”.", []),
        ("Add the song “Oats” to my “Evening Walk” playlist.", ["Oats", "Evening Walk"]),
        ("Create a playlist called “Evening Walk”.", []),
        ("Please draft an email to Denise Maldonado about it.", []),
        ("Please draft an email to Denise Baker about it, and text Hal Moss.", ["Denise Baker", "Hal Moss"]),
        ("Email the people of Monday Club. Go to New York.", []),
        ("Look up order 20417.", ["20417"]),
        ("Mark the thread with the “to-check” label.", []),
        ("Answer the e-mail with the subject “Boiler, again”.", ["Boiler, again"]),
    ],
)
def test_records_that_no_app_holds_are_named(request_text: str, missing: list[str]):
    assert sorted(mentioned(request_text, {"spotify": MUSIC, "gmail": MAIL})) == sorted(missing)


def test_password_of_an_invented_account_is_no_secret():
    account = {"username": "d@example.com", "password": 'n3v=I"[w'}
    request = """My Gmail password is 'n3v=I"[w' and my bank's password is 'Kj82!kk'."""

    assert mentioned(request, {"gmail": {"accounts": [account]}}, "secret-in-request") == ["password is 'Kj82!kk'."]
    assert len(mentioned(request, {"gmail": MAIL}, "secret-in-request")) == 2


def test_nothing_is_said_where_an_app_has_no_data():
    assert mentioned("Play my playlist “Evening Walk”.", {"spotify": MUSIC}) == []


@pytest.mark.parametrize("name", ["law_trainee", "marketer"])
def test_nothing_is_missed_in_the_requests_of_real_personas(name: str, pibench_data: Path):
    folder = pibench_data / name
    files = {f"{name}/{path.relative_to(folder)}": path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    [episode] = read_personas(files).episodes
    texts = {hashlib.sha256(content).hexdigest(): content.decode("utf-8", "replace") for content in files.values()}
    apps = {tool_domain(tool) for tool in episode.persona.tools if "__" in tool}
    added = []
    for app in apps:
        text = json.dumps(app_data(folder).get(app, {}))
        sha = hashlib.sha256(text.encode()).hexdigest()
        texts[sha] = text
        added.append(FileRef(path=f"apps/{app}.json", sha256=sha, size=len(text)))
    persona = episode.persona.model_copy(update={"files": (*episode.persona.files, *added)})
    context = CheckContext(episode.model_copy(update={"persona": persona}), texts, Known(Plan()))

    assert len(episode.tasks) + len(episode.unplaced) == 20
    flaws = [flaw for task in (*episode.tasks, *episode.unplaced) for flaw in request_unknown_record(task, context)]
    assert [flaw.passage for flaw in flaws] == []
