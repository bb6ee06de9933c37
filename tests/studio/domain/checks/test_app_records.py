"""Records that a request mentions are looked for in the data of the persona's simulated apps."""

from __future__ import annotations

import json

import pytest

from studio.domain.base import FileRef
from studio.domain.checks import find_problems
from studio.domain.episode import EpisodeSpec
from studio.domain.persona import PersonaSpec
from studio.domain.task import TaskSpec

MUSIC = {"playlists": [{"title": "Morning Run"}], "songs": [{"title": "Rye"}]}
MAIL = {"accounts": [{"username": "d@example.com", "first_name": "Denise", "last_name": "Maldonado"}]}
TOOLS = ("mcp_appworld_spotify__show_playlist", "gmail__send_email")


def mentioned(request: str, data: dict[str, object]) -> list[str]:
    contents = {f"{number:064x}": (app, json.dumps(tables)) for number, (app, tables) in enumerate(data.items())}
    files = tuple(FileRef(path=f"apps/{app}.json", sha256=sha, size=9) for sha, (app, _) in contents.items())
    persona = PersonaSpec(user_id="ada", tools=TOOLS, files=files)
    task = TaskSpec(task_id="t", title="T", initial_request=request)
    episode = EpisodeSpec(episode_id="ep", persona=persona, tasks=(task,))
    texts = {sha: text for sha, (_, text) in contents.items()}
    return [
        finding.words for finding in find_problems(episode, texts=texts) if finding.rule == "request-unknown-record"
    ]


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
        ("Answer the e-mail with the subject “Boiler, again”.", ["Boiler, again"]),
    ],
)
def test_records_that_no_app_holds_are_named(request_text: str, missing: list[str]):
    assert sorted(mentioned(request_text, {"spotify": MUSIC, "gmail": MAIL})) == sorted(missing)


def test_nothing_is_said_where_an_app_has_no_data():
    assert mentioned("Play my playlist “Evening Walk”.", {"spotify": MUSIC}) == []
