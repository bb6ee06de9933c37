"""Sign-ins that tasks name are looked for in the data of the persona's simulated apps."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evaluation.tools import World
from studio.domain.base import FileRef
from studio.domain.checks import find_problems
from studio.domain.checks.sign_ins import Said, said_passwords, sign_ins
from studio.domain.episode import EpisodeSpec
from studio.domain.persona import PersonaSpec
from studio.domain.pibench import read_personas
from studio.domain.task import ChecklistItem, ExactCheck, TaskSpec, ToolEvidence

APPS = ("amazon", "gmail", "phone", "simple_note", "todoist")
ME = "ada@example.com"
DATA = {
    "gmail": {"accounts": [{"username": ME, "password": "r4[in"}, {"username": "noor@example.com"}]},
    "todoist": {"accounts": [{"username": ME, "password": "l1(st"}]},
}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("My Simple Note email is ada@example.com and password is 'i#vhW\"Q'.", [("simple_note", ME, 'i#vhW"Q')]),
        ("My phone number is 415 555-0100 and password is 'A!HF'.", [("phone", "4155550100", "A!HF")]),
        (
            "My Gmail is ada@example.com with the password: (dgokRb , and my Todoist uses the password: %@}L&b .",
            [("gmail", ME, "(dgokRb"), ("todoist", ME, "%@}L&b")],
        ),
        (
            "My password is exactly 7 characters long and has no trailing space: VxoU[nz . Buy it.",
            [("", "", "VxoU[nz")],
        ),
        ("My Todoist password is VK^N(lj . Use my primary email.", [("todoist", "", "VK^N(lj")]),
        ("The password for Gmail is “swordfish”.", [("gmail", "", "swordfish")]),
        ("I write to ada@gmail.com. The password is 'x1!yz'.", [("", "ada@gmail.com", "x1!yz")]),
        ("Sign me up for Todoist as ada@example.com with the password 'l1(st'.", []),
        ("Please change my Gmail password to 'n3w!pw'.", []),
        ("Create a note. My Gmail password is 'n3w!pw'.", [("gmail", "", "n3w!pw")]),
        ("Reset my password. It is expired: please tell IT.", []),
        ("My password is required before noon.", []),
        ("Do not write the Gmail password into the note.", []),
    ],
)
def test_what_a_text_says_of_passwords(text: str, said: list[tuple[str, str, str]]):
    assert said_passwords(text, APPS) == tuple(Said(*each) for each in said)


def findings(task: TaskSpec, *before: TaskSpec) -> list[tuple[str, str]]:
    contents = {f"{number:064x}": (app, json.dumps(tables)) for number, (app, tables) in enumerate(DATA.items())}
    files = tuple(FileRef(path=f"apps/{app}.json", sha256=sha, size=9) for sha, (app, _) in contents.items())
    persona = PersonaSpec(user_id="ada", tools=tuple(f"{app}__login" for app in APPS), files=files)
    episode = EpisodeSpec(episode_id="ep", persona=persona, tasks=(*before, task))
    found = find_problems(episode, task.task_id, texts={sha: text for sha, (_, text) in contents.items()})
    return [(each.field, each.message.partition("but ")[2]) for each in found if each.rule == "sign-in-missing"]


def asking(request: str, task_id: str = "t", **more: object) -> TaskSpec:
    return TaskSpec.model_validate({"task_id": task_id, "initial_request": request, **more})


def test_an_account_that_can_be_signed_in_to_is_no_finding():
    assert findings(asking("My Gmail is ada@example.com, password 'r4[in'.")) == []


@pytest.mark.parametrize(
    ("request_text", "flaw"),
    [
        ("My Gmail is ada@example.com, password 'wr0ng'.", f"the app’s data has another password for {ME}."),
        ("My Gmail is eve@example.com, password 'r4[in'.", "the app’s data has no account eve@example.com."),
        ("My Amazon is ada@example.com, password 'r4[in'.", f"the app’s data has no account {ME}."),
        (
            "The Gmail is noor@example.com, password 'r4[in'.",
            "the app’s data has no password for noor@example.com, so nobody can sign in.",
        ),
    ],
)
def test_an_account_that_would_answer_401_is_a_finding(request_text: str, flaw: str):
    assert findings(asking(request_text)) == [("initial_request", flaw)]


def test_the_account_that_the_episode_names_elsewhere_is_meant_where_a_task_names_none():
    first = asking("My Gmail is ada@example.com, password 'r4[in'.", "first")

    assert findings(asking("My Todoist password is 'l1(st'."), first) == []
    assert findings(asking("My Todoist password is 'wr0ng'."), first) == [
        ("initial_request", f"the app’s data has another password for {ME}.")
    ]


def test_the_one_app_that_judges_look_at_is_meant_where_a_task_names_none():
    evidence = (ToolEvidence(tool="mcp_appworld_amazon__show_product", call=("product_id",)),)

    assert findings(asking("I am eve@example.com, password 'l1(st'.", tool_evidence=evidence)) == [
        ("initial_request", "the app’s data has no account eve@example.com.")
    ]
    assert findings(asking("I am eve@example.com, password 'l1(st'.")) == []


def test_the_sign_in_that_an_exact_check_expects_is_looked_for():
    check = ExactCheck(kind="tool_called", tool="gmail__login", arguments={"username": "eve@example.com"})
    item = ChecklistItem(uid="a", criterion="Signs in.", grader="rule", rule=check)

    assert findings(asking("Look.", checklist=(item,))) == [
        ("checklist", "the app’s data has no account eve@example.com.")
    ]


def test_nine_of_forty_real_tasks_name_accounts_that_answer_401(pibench_data: Path):
    files = {str(path.relative_to(pibench_data)): path.read_bytes() for path in pibench_data.rglob("*.y*ml")}
    refused: dict[str, set[str]] = {}
    tasks = 0
    for episode in read_personas(files).episodes:
        tasks += len(episode.tasks) + len(episode.unplaced)
        found = {finding.task for finding in find_problems(episode) if finding.rule == "sign-in-missing"}
        for task, named in sign_ins(episode).items():
            for each in named:
                world = World()
                answer = world.call(f"{each.app}__login", {"username": each.username, "password": each.password})
                assert answer.response["status"] == 401
                refused.setdefault(task, set()).add(each.app)
        assert found == {task for task in refused if task.startswith(episode.persona.user_id)}
    assert tasks == 40
    assert refused == {
        "law_trainee_task_008": {"simple_note", "gmail"},
        "law_trainee_task_012": {"gmail", "todoist"},
        "law_trainee_task_014": {"simple_note", "todoist"},
        "law_trainee_task_018": {"gmail", "todoist"},
        "law_trainee_task_020": {"phone", "todoist"},
        "marketer_task_004": {"spotify"},
        "marketer_task_010": {"spotify", "gmail"},
        "marketer_task_014": {"amazon"},
        "marketer_task_020": {"todoist"},
    }
