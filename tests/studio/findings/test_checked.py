"""What a task's findings were computed from is known by one key."""

from __future__ import annotations

from typing import Any

import pytest

from studio.domain.checks.opinions import Opinion
from studio.domain.checks.questions import questions_about
from studio.domain.episode import EpisodeSpec
from studio.domain.graders import GraderReport
from studio.domain.persona import PersonaSpec
from studio.domain.plan import PAPER_PLAN
from studio.findings.refresh import checked_keys
from tests.studio.domain.checks.builders import file, scored, task

SCRIPT = file("scripts/a.py")
PILOT = PersonaSpec(user_id="Pilot", scripts=(SCRIPT,))
GRADED = scored("a", grader_script="data/Pilot/scripts/a.py")
[QUESTION, *_] = questions_about(GRADED)


def keys(first: Any = GRADED, persona: PersonaSpec = PILOT, **changes: Any) -> dict[str, str]:
    """Of a task that a script grades, of another, and of one outside of the episode."""
    episode = EpisodeSpec(episode_id="ep", persona=persona, tasks=(first, task("b")), unplaced=(task("c"),))
    return checked_keys(episode, **{"plan": PAPER_PLAN, "reports": {}, "tools": {}, "opinions": {}} | changes)


def changed(other: dict[str, str]) -> str:
    before = keys()
    return "".join(name for name in before if other[name] != before[name])


@pytest.mark.parametrize(
    ("other", "whose"),
    [
        ({}, ""),
        ({"first": GRADED.model_copy(update={"title": "Another"})}, "a"),
        ({"persona": PILOT.model_copy(update={"role_text": "She flies."})}, "abc"),
        ({"plan": PAPER_PLAN.model_copy(update={"sessions": 7})}, "abc"),
        ({"tools": {"gmail__send_email": "Sends."}}, "abc"),
        ({"reports": {SCRIPT.sha256: GraderReport(sha256=SCRIPT.sha256)}}, "a"),
        ({"reports": {"f" * 64: GraderReport(sha256="f" * 64)}}, ""),
        ({"opinions": {QUESTION.key: Opinion(degree="none")}}, "abc"),
    ],
    ids=["nothing", "task", "persona", "plan", "tools", "report", "report of another script", "opinion"],
)
def test_a_tasks_key_changes_with_all_that_its_checks_read(other: dict[str, Any], whose: str) -> None:
    assert changed(keys(**other)) == whose
