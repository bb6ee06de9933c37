"""Which tasks the rules that read one task alone need not read again."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from studio import domain
from studio.domain.checks import RULES
from studio.domain.checks.opinions import Opinion
from studio.domain.checks.questions import questions_about
from studio.domain.episode import EpisodeSpec
from studio.domain.graders import ANALYSIS, GraderReport
from studio.domain.plan import Plan
from studio.domain.task import TaskSpec

SINGLE_TASK_RULES = frozenset(name for name, rule in RULES.items() if not rule.across_tasks)


def checked_keys(
    episode: EpisodeSpec,
    *,
    plan: Plan,
    reports: Mapping[str, GraderReport],
    tools: Mapping[str, str],
    opinions: Mapping[str, Opinion],
) -> dict[str, str]:
    """For each task id, a hash of everything that those rules read: the task and its persona, by hash their files,
    second opinions, and the rules themselves."""
    shared = hashlib.sha256()
    for part in (
        version_of_rules(),
        episode.persona.model_dump_json(),
        plan.model_dump_json(),
        repr(sorted(tools.items())),
    ):
        shared.update(part.encode("utf-8", "surrogatepass") + b"\x1f")
    keys = {}
    for task in (*episode.tasks, *episode.unplaced):
        digest = shared.copy()
        digest.update(task.model_dump_json().encode("utf-8", "surrogatepass"))
        for part in _grader_parts(task, episode, reports):
            digest.update(b"\x1f" + part.encode())
        if opinions:
            known = sorted((key, str(opinions[key])) for key in question_keys(task) if key in opinions)
            digest.update(repr(known).encode("utf-8", "surrogatepass"))
        keys[task.task_id] = digest.hexdigest()
    return keys


def question_keys(task: TaskSpec) -> set[str]:
    return {question.key for question in questions_about(task)}


def _grader_parts(task: TaskSpec, episode: EpisodeSpec, reports: Mapping[str, GraderReport]) -> Iterator[str]:
    script = episode.persona.script(task.grader_script) if task.grader_script else None
    if script:
        yield f"{ANALYSIS}:{script.sha256 in reports}"


@cache
def version_of_rules() -> str:
    """Changes with the rules' code and lists of words, so that a new version of the studio checks everything anew."""
    folder = Path(domain.__path__[0])
    digest = hashlib.sha256()
    for path in sorted((*folder.rglob("*.py"), *folder.rglob("*.txt"))):
        digest.update(path.read_bytes())
    return digest.hexdigest()
