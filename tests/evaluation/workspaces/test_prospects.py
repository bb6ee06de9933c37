"""Can this be done? Whether the sign-ins and calls of a task work in what its persona's apps hold."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from evaluation.workspaces.prospects import Obstacle, Prospect, prospects
from studio.domain.base import FileRef
from studio.domain.episode import EpisodeSpec
from studio.domain.persona import PersonaSpec
from studio.domain.pibench import read_personas
from studio.domain.task import ChecklistItem, Dependency, ExactCheck, HiddenIntent, TaskSpec
from studio.domain.web_pages import EXAMPLE
from tests.evaluation.tools.apps.real_personas import app_data

ACCOUNT = {"username": "ada@example.com", "password": "r4[in"}
REQUEST = "My Amazon email is ada@example.com and password is 'r4[in'. Show me the chair."
TOOLS = ("amazon__login", "amazon__show_product", "todoist__login", "todoist__create_task")


def obstacles(
    task: TaskSpec, tools: tuple[str, ...] = TOOLS, earlier: tuple[TaskSpec, ...] = (), **apps: Any
) -> list[str]:
    contents = {app: json.dumps(tables).encode() for app, tables in apps.items()}
    stored = {hashlib.sha256(content).hexdigest(): content for content in contents.values()}
    files = tuple(
        FileRef(path=f"apps/{app}.json", sha256=hashlib.sha256(content).hexdigest(), size=len(content))
        for app, content in contents.items()
    )
    persona = PersonaSpec(user_id="ada", tools=tools, files=files)
    episode = EpisodeSpec(episode_id="ep", persona=persona, tasks=(*earlier, task))
    [found] = prospects(episode, lambda hashes: {sha: stored[sha] for sha in hashes}, {task.task_id})
    return [obstacle.sentence for obstacle in found.obstacles]


def calling(tool: str, **arguments: Any) -> TaskSpec:
    return TaskSpec(task_id="t", initial_request=REQUEST, checklist=(_called(tool, **arguments),))


def _called(tool: str, **arguments: Any) -> ChecklistItem:
    rule = ExactCheck(kind="tool_called", tool=tool, arguments=arguments)
    return ChecklistItem(uid="a", criterion="It was called.", grader="rule", rule=rule)


def test_a_task_whose_sign_in_and_calls_are_answered_can_be_done():
    data = {"accounts": [ACCOUNT], "products": [{"product_id": 636, "name": "Chair", "price": 9.0}]}

    assert obstacles(calling("amazon__show_product", product_id=636), amazon=data) == []


@pytest.mark.parametrize("accounts", [[], [{**ACCOUNT, "password": "other"}], [{**ACCOUNT, "password": ""}]])
def test_a_sign_in_that_is_refused_is_an_obstacle(accounts: list[dict[str, str]]):
    assert obstacles(TaskSpec(task_id="t", initial_request=REQUEST), amazon={"accounts": accounts}) == [
        "Signing in to Amazon as ada@example.com answers 401: Wrong username or password."
    ]


def test_an_app_that_graders_look_at_and_nobody_can_sign_in_to_is_an_obstacle():
    task = calling("todoist__create_task", title="Call")

    assert obstacles(task, amazon={"accounts": [ACCOUNT]}) == [
        "Nobody can sign in to Todoist: its data has no account with a password."
    ]
    assert obstacles(task, (*TOOLS, "todoist__signup"), amazon={"accounts": [ACCOUNT]}) == []


def test_an_app_without_its_login_is_an_obstacle():
    [obstacle] = obstacles(
        calling("todoist__create_task"),
        ("todoist__create_task", "amazon__login"),
        amazon={"accounts": [ACCOUNT]},
        todoist={"accounts": [ACCOUNT]},
    )

    assert obstacle == "The assistant has tools of Todoist, but not todoist__login, which gives the token they need."


def test_a_record_that_graders_name_and_no_app_has_is_an_obstacle():
    task = calling("amazon__show_product", product_id=636)

    [obstacle] = obstacles(task, amazon={"accounts": [ACCOUNT]})

    assert "Its graders look for amazon__show_product of a record that Amazon does not have." in obstacle
    assert "636" in obstacle


SPOTIFY = "My Spotify email is ada@example.com and password is 'r4[in'. "
MUSIC = ("spotify__login", "spotify__show_playlist_library", "spotify__create_playlist")


@pytest.mark.parametrize(
    ("words", "lacks"),
    [
        ("Play the song “Night Tide”.", "The request names the song “Night Tide”, which Spotify does not have."),
        (
            "Pick one from my current playlists.",
            "The request speaks of playlists that are there, and Spotify has none.",
        ),
        ("Create a playlist named “Night Tide”.", ""),
        ("Add it to my playlists.", ""),
    ],
)
def test_what_the_request_names_and_the_app_lacks_is_an_obstacle(words: str, lacks: str):
    task = TaskSpec(task_id="t", initial_request=SPOTIFY + words)

    assert obstacles(task, MUSIC, spotify={"accounts": [ACCOUNT]}) == ([lacks] if lacks else [])


def test_what_the_request_names_and_the_app_has_is_none():
    task = TaskSpec(task_id="t", initial_request=SPOTIFY + "Choose the song 'Night Tide' for the evening.")
    songs = [{"song_id": 1, "title": "Night tide"}]

    assert obstacles(task, MUSIC, spotify={"accounts": [ACCOUNT], "songs": songs}) == []


@pytest.mark.parametrize(
    ("words", "products", "lacks"),
    [
        ("Search for a leather briefcase.", [], True),
        ("Can you recommend me the best briefcase there?", [], True),
        ("Search for a leather briefcase.", [{"product_id": 1, "name": "Briefcase", "price": 9.0}], False),
        ("Show me my cart.", [], False),
    ],
)
def test_a_search_in_an_empty_catalogue_is_an_obstacle(words: str, products: list[dict[str, Any]], lacks: bool):
    task = TaskSpec(task_id="t", initial_request=REQUEST.partition("Show")[0] + words)

    found = obstacles(task, amazon={"accounts": [ACCOUNT], "products": products})

    assert found == (["The request asks to search Amazon, which has no products or sellers."] if lacks else [])


def test_a_search_elsewhere_needs_no_catalogue_unless_the_app_is_named():
    both = REQUEST.partition("Show")[0] + "My Todoist email is ada@example.com and password is 'r4[in'. "
    data = {"amazon": {"accounts": [ACCOUNT]}, "todoist": {"accounts": [ACCOUNT]}}

    assert obstacles(TaskSpec(task_id="t", initial_request=both + "Search for what is due today."), **data) == []
    [lacks] = obstacles(TaskSpec(task_id="t", initial_request=both + "Search Amazon for a chair."), **data)
    assert "which has no products" in lacks


@pytest.mark.parametrize(
    ("criterion", "lacks"),
    [
        ("The song is 'Night Tide'.", "A criterion names the song “Night Tide”, which Spotify does not have."),
        ("The song is 'Day Tide'.", ""),
        ("The song's mood is 'calm'.", ""),
        ("The playlist is called 'Night Tide'.", ""),
        ("The song is not 'Night Tide'.", ""),
    ],
)
def test_a_criterion_that_names_what_the_app_lacks_and_nobody_can_add_is_an_obstacle(criterion: str, lacks: str):
    task = TaskSpec(task_id="t", initial_request=SPOTIFY, checklist=(ChecklistItem(uid="a", criterion=criterion),))
    songs = [{"song_id": 1, "title": "Day Tide"}]

    found = obstacles(task, MUSIC, spotify={"accounts": [ACCOUNT], "songs": songs})

    assert found == ([lacks] if lacks else [])


def test_research_without_pages_is_an_obstacle_that_web_pages_mend():
    task = TaskSpec(task_id="t", initial_request="Search the internet for harbour fees.")
    page = FileRef(path="web/fees.md", sha256="b" * 64, size=1)
    stored = {"b" * 64: EXAMPLE.encode()}

    def found(*files: FileRef) -> list[Obstacle]:
        persona = PersonaSpec(user_id="ada", files=files)
        episode = EpisodeSpec(episode_id="ep", persona=persona, tasks=(task,))
        return list(prospects(episode, lambda hashes: {sha: stored[sha] for sha in hashes})[0].obstacles)

    words = "The request asks for research (“Search the internet”), and agents find no web page for it."
    assert found() == [Obstacle(words, "web")]
    assert found(page) == []


BOUGHT = TaskSpec(task_id="shop", title="Shop", initial_request="Buy the Marlin 4 speaker.")
PLAY = TaskSpec(
    task_id="t",
    initial_request="Plan my evening with the speaker.",
    checklist=(ChecklistItem(uid="a", criterion="The plan names the 'Marlin 4' and “no screens”."),),
)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({}, ["shop"]),
        ({"initial_request": "Plan my evening with the Marlin 4."}, []),
        ({"intents": (HiddenIntent(uid="i", content="Use the marlin 4."),)}, []),
        ({"depends_on": (Dependency(task_id="shop"),)}, []),
        ({"assets": (FileRef(path="a.md", sha256="a" * 64, size=1),)}, []),
        ({"assets": (FileRef(path="a.bin", sha256="c" * 64, size=1),)}, []),
        ({"assets": (FileRef(path="a.md", sha256="d" * 64, size=1),)}, ["shop"]),
    ],
)
def test_a_name_that_criteria_want_and_only_an_earlier_task_tells_is_known(changes: dict[str, Any], told: list[str]):
    stored = {"a" * 64: b"A Marlin 4.", "c" * 64: b"\xff\x00", "d" * 64: b"Nothing."}
    persona = PersonaSpec(user_id="ada")
    tasks = (BOUGHT, PLAY.model_copy(update=changes))

    found = prospects(
        EpisodeSpec(episode_id="ep", persona=persona, tasks=tasks), lambda hashes: {sha: stored[sha] for sha in hashes}
    )

    assert [(each.name, task.task_id) for each in found[1].told_earlier for task in each.tasks] == [
        ("Marlin 4", name) for name in told
    ]
    assert found[0].told == "" and not found[1].obstacles
    if told:
        assert found[1].told.startswith("Criteria name “Marlin 4”, known only from earlier tasks: “Shop”.")


@pytest.mark.parametrize("label", ["Total", "MARLIN", "Ledger 3"])
def test_a_label_or_a_part_of_a_word_is_no_name_that_an_earlier_task_tells(label: str):
    earlier = BOUGHT.model_copy(update={"initial_request": "Total costs of the Marlin 4, please, as in Ledger 34."})
    item = ChecklistItem(uid="a", criterion=f"The table has a row “{label}”.")
    tasks = (earlier, PLAY.model_copy(update={"checklist": (item,)}))

    found = prospects(EpisodeSpec(episode_id="ep", persona=PersonaSpec(user_id="ada"), tasks=tasks), lambda hashes: {})

    assert found[1].told_earlier == ()


def test_what_an_earlier_task_makes_is_there_for_a_later_one():
    making = TaskSpec(
        task_id="first", initial_request=SPOTIFY, checklist=(_called("spotify__create_playlist", title="Night Tide"),)
    )
    task = TaskSpec(task_id="t", initial_request=SPOTIFY + "Open the playlist “Night Tide”.")

    assert obstacles(task, MUSIC, (making,), spotify={"accounts": [ACCOUNT]}) == []
    assert len(obstacles(task, MUSIC, spotify={"accounts": [ACCOUNT]})) == 1


def test_data_that_cannot_be_read_is_an_obstacle():
    [obstacle] = obstacles(TaskSpec(task_id="t", initial_request=REQUEST), amazon={"accounts": 3})

    assert obstacle.startswith("What the apps hold cannot be read: ")


@pytest.mark.parametrize(("name", "impossible", "research", "told"), [("law_trainee", 5, 0, 0), ("marketer", 10, 6, 1)])
def test_tasks_of_real_personas_cannot_be_done_until_their_apps_hold_what_they_name(
    name: str, impossible: int, research: int, told: int, pibench_data: Path
):
    folder = pibench_data / name
    files = {f"{name}/{path.relative_to(folder)}": path.read_bytes() for path in folder.rglob("*.y*ml")}
    given = {f"{name}/apps/{app}.json": json.dumps(data).encode() for app, data in app_data(folder).items()}

    def found(contents: dict[str, bytes]) -> list[Prospect]:
        stored = {hashlib.sha256(content).hexdigest(): content for content in contents.values()}

        def read(hashes: Sequence[str]) -> dict[str, bytes]:
            return {sha: stored[sha] for sha in hashes if sha in stored}

        [episode] = read_personas(contents).episodes
        return [each for each in prospects(episode, read) if each.obstacles or each.told]

    assert sum(bool(each.obstacles) for each in found(files)) == impossible
    left = found(files | given)
    assert [obstacle.remedy for each in left for obstacle in each.obstacles] == ["web"] * research
    assert [len(each.told_earlier) for each in left if each.told] == [3] * told
