"""Tools that nobody offers, arguments that none of them has, and drafts that should have been sent."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from studio.domain import tool_catalog
from studio.domain.checks import Known, find_problems
from studio.domain.episode import EpisodeSpec
from studio.domain.persona import PersonaSpec
from studio.domain.task import ExactCheck, TaskSpec, ToolEvidence
from studio.domain.tool_catalog import ToolCard, ToolParameter
from tests.studio.domain.checks.builders import file, item, scored

SEND = ToolCard(
    "gmail__send_email",
    parameters=(ToolParameter("email_addresses", "array", True), ToolParameter("body", "string", True)),
    known=True,
)
GONE = "fax__send"
OFFERED_RULES = ("tool-not-offered", "evidence-field-unknown", "grader-argument-unknown", "draft-or-sent")
TO = ExactCheck(kind="tool_called", tool=SEND.name, arguments={"to": "a"})


@pytest.fixture(autouse=True)
def offered(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """One tool is offered."""
    monkeypatch.setattr(tool_catalog, "_reader", lambda names: ([], [SEND] if SEND.name in set(names) else []))
    return


def found(*tasks: TaskSpec, texts: dict[str, str] | None = None, **persona: object) -> list[tuple[str, str, str]]:
    values = {"tools": (SEND.name, GONE), **persona}
    episode = EpisodeSpec(episode_id="ep", persona=PersonaSpec(user_id="Pilot", **values), tasks=tasks)
    known = Known(tools={SEND.name: "Sends a mail."})
    problems = find_problems(episode, texts=texts or {}, known=known)
    return [(each.task, each.rule, each.severity) for each in problems if each.rule in OFFERED_RULES]


def test_a_tool_that_nobody_offers_is_told_where_it_is_needed():
    needing = scored("b", tools=(GONE,))

    assert found(scored("a", tools=(SEND.name,)), needing) == [("b", "tool-not-offered", "warning")]


def test_a_bound_tool_that_nobody_offers_is_a_hint_at_the_first_session():
    assert found(scored("a"), scored("b")) == [("a", "tool-not-offered", "hint")]


def test_what_a_tool_server_offers_is_not_doubted():
    assert found(scored("a", tools=(GONE,)), files=(file("mcp/fax.json"),)) == []


@pytest.mark.parametrize(
    "fields",
    [
        {"tool_evidence": (ToolEvidence(tool=SEND.name, call=("recipient",)),)},
        {
            "checklist": (
                item(grader="rule", rule=ExactCheck(kind="tool_called", tool=SEND.name, arguments={"to": "a"})),
            )
        },
    ],
)
def test_an_argument_that_the_tool_does_not_take_is_told(fields):
    assert found(scored("a", tools=(SEND.name,), **fields)) == [("a", "evidence-field-unknown", "warning")]


def test_an_argument_that_the_tool_takes_is_not_told():
    evidence = (ToolEvidence(tool=SEND.name, call=("body", "email_addresses.0")),)

    assert found(scored("a", tools=(SEND.name,), tool_evidence=evidence)) == []


def test_a_script_that_misspells_an_argument_is_told():
    script = f'''
def score(history):
    sent = [c for c in history if c["tool_name"] == "{SEND.name}"]
    return {{"sent": int(any(c["call"].get("email_address") == "a@b.example" for c in sent))}}
'''
    grader = file("scripts/grade.py", "f")
    task = scored("a", tools=(SEND.name,), grader_script="data/Pilot/scripts/grade.py")

    def told(source: str) -> list[tuple[str, str, str]]:
        return found(task, scripts=(grader,), texts={grader.sha256: source})

    assert told(script) == [("a", "grader-argument-unknown", "warning")]
    assert told(script.replace("email_address", "email_addresses")) == []


@pytest.mark.parametrize(
    ("request_text", "criterion", "told"),
    [
        ("Please draft an email to Otto about the rye.", "The email to Otto is sent before noon.", True),
        ("Please draft an email to Otto about the rye and send it.", "The email to Otto is sent before noon.", False),
        ("Please draft an email to Otto about the rye.", "The email to Otto names the rye.", False),
        ("Please write an email to Otto about the rye.", "The email to Otto is sent before noon.", False),
    ],
)
def test_an_item_that_wants_a_draft_sent_is_told(request_text, criterion, told):
    task = scored("a", tools=(SEND.name,), initial_request=request_text, checklist=(item(criterion),))

    assert [rule for _, rule, _ in found(task)] == (["draft-or-sent"] if told else [])
