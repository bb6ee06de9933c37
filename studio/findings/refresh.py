"""Stored findings of tasks, so that lists can count them without running the checks."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from studio import domain
from studio.domain.base import FileRef
from studio.domain.checks import RULES, STOPPED, Known, find_problems
from studio.domain.checks.opinions import Opinion
from studio.domain.checks.questions import OpinionQuestion, questions_about, questions_of
from studio.domain.episode import EpisodeSpec
from studio.domain.findings import Finding as Problem
from studio.domain.graders import ANALYSIS, GraderReport
from studio.domain.plan import Plan
from studio.domain.task import TaskSpec
from studio.domain.tool_catalog import tool_descriptions
from studio.drafts.load import load_episodes
from studio.drafts.sync import sync
from studio.findings.hooks import read_opinions, request_opinions, request_reports
from studio.findings.queries import count_findings
from studio.models import Blob, CheckedTask, Finding, GraderScript, Persona, ScriptReport, Task

MAX_APP_BYTES = 300_000
"""Of the data of one app that the checks look into."""
MAX_TEXT_BYTES = 60_000
"""The checks read at most 40,000 characters of a file, and skip longer ones."""
MAX_SCRIPT_BYTES = 800_000
"""The checks read at most 200,000 characters of a grader script, and skip longer ones."""
PERSONAS_AT_ONCE = 10
"""Loaded, checked and stored together, so that memory does not grow with an import."""
FIELDS = ["rule", "severity", "field", "item", "passage", "message", "fix", "other"]


@dataclass(frozen=True)
class LoadedPersona:
    """A persona with everything that the checks read."""

    row: Persona
    episode: EpisodeSpec
    texts: Mapping[str, str]
    reports: Mapping[str, GraderReport]
    tools: Mapping[str, str]
    opinions: Mapping[str, Opinion] | None
    """None: no model is asked."""

    @property
    def tasks(self) -> tuple[TaskSpec, ...]:
        return (*self.episode.tasks, *self.episode.unplaced)

    @property
    def keys(self) -> dict[str, str]:
        return checked_keys(
            self.episode,
            plan=self.row.benchmark.plan,
            reports=self.reports,
            tools=self.tools,
            opinions=self.opinions or {},
        )

    @property
    def unanswered(self) -> set[str]:
        """Ids of tasks about which a model has something left to say."""
        known = self.opinions
        if known is None:
            return set()
        return {task.task_id for task in self.tasks if any(key not in known for key in question_keys(task))}

    def arguments(self, unchanged: Collection[str] = ()) -> dict[str, Any]:
        """For ``find_problems``."""
        wanted = text_hashes(self.episode)
        return {
            "episode": self.episode,
            "texts": {sha256: text for sha256, text in self.texts.items() if sha256 in wanted},
            "known": Known(self.row.benchmark.plan, self.reports, self.tools, self.opinions or {}),
            "unchanged": unchanged,
        }


def load_personas(personas: Iterable[Persona]) -> list[LoadedPersona]:
    personas = list(personas)
    episodes = load_episodes(personas)
    specs = episodes.values()
    texts, reports, tools = load_texts(specs), load_reports(specs), episode_tool_descriptions(specs)
    opinions = {
        benchmark: read_opinions(
            benchmark, _questions(episodes[persona.pk] for persona in personas if persona.benchmark_id == benchmark)
        )
        for benchmark in {persona.benchmark_id for persona in personas}
    }
    return [
        LoadedPersona(persona, episodes[persona.pk], texts, reports, tools, opinions[persona.benchmark_id])
        for persona in personas
    ]


def _questions(episodes: Iterable[EpisodeSpec]) -> Iterator[OpinionQuestion]:
    for episode in episodes:
        yield from questions_of(episode)


def episode_tool_descriptions(episodes: Iterable[EpisodeSpec]) -> dict[str, str]:
    return tool_descriptions({tool for episode in episodes for tool in episode.persona.tools})


def load_texts(episodes: Iterable[EpisodeSpec]) -> dict[str, str]:
    """Contents of the episodes' small text files, skills, app data and grader scripts in use, by sha256. One query."""
    wanted = sorted({sha256 for episode in episodes for sha256 in text_hashes(episode)})
    texts = ((sha256, _decoded(content)) for sha256, content in Blob.objects.read(wanted).items())
    return {sha256: text for sha256, text in texts if text is not None}


def text_hashes(episode: EpisodeSpec) -> set[str]:
    persona = episode.persona
    return {
        *(file.sha256 for file in _files(episode) if file.size <= MAX_TEXT_BYTES),
        *(file.sha256 for file in persona.app_data.values() if file.size <= MAX_APP_BYTES),
        *(script.sha256 for script in _scripts_in_use([episode]) if script.size <= MAX_SCRIPT_BYTES),
    }


def _decoded(content: bytes) -> str | None:
    try:
        return content.decode()
    except UnicodeDecodeError:
        return None


def load_reports(episodes: Iterable[EpisodeSpec]) -> dict[str, GraderReport]:
    scripts = {script.sha256 for script in _scripts_in_use(episodes)}
    if not scripts:
        return {}
    rows = ScriptReport.objects.filter(sha256__in=scripts, analysis=ANALYSIS).values_list("sha256", "report")
    return {sha256: GraderReport.model_validate(report) for sha256, report in rows}


def run_graders(personas: Iterable[Persona], *, wait: bool = False) -> None:
    """Run grader scripts that have no report yet: in a worker, or immediately with ``wait``."""
    personas = list(personas)
    if not personas:
        return
    scripts = GraderScript.objects.filter(persona__in=[persona.pk for persona in personas])
    done = ScriptReport.objects.filter(analysis=ANALYSIS).values("sha256")
    request_reports(dict.fromkeys(scripts.exclude(blob__in=done).values_list("blob", flat=True)), wait=wait)


def _scripts_in_use(episodes: Iterable[EpisodeSpec]) -> Iterator[FileRef]:
    for episode in episodes:
        for path in {task.grader_script for task in (*episode.tasks, *episode.unplaced) if task.grader_script}:
            if script := episode.persona.script(path):
                yield script


def _files(episode: EpisodeSpec) -> Iterator[FileRef]:
    for task in (*episode.tasks, *episode.unplaced):
        yield from task.assets
        yield from task.references
    for skill in episode.persona.skills:
        yield from skill.files


def check_personas(personas: Sequence[Persona]) -> Iterator[Problem]:
    """Current findings of every task. Personas come with their ``benchmark``, whose plan the checks use."""
    for start in range(0, len(personas), PERSONAS_AT_ONCE):
        for persona in load_personas(personas[start : start + PERSONAS_AT_ONCE]):
            yield from find_problems(**persona.arguments())


def refresh_findings(personas: Iterable[Persona], *, ask: bool = True) -> None:
    """Check these personas and replace their stored findings. Tasks that did not change since are checked only by the
    rules that read several tasks. Grader scripts without a report, and changed texts without a second opinion, are sent
    to a worker, which refreshes the findings again; without ``ask``, no opinions are asked for."""
    keys = sorted({persona.pk for persona in personas})
    unanswered: list[int] = []
    scripted: list[Persona] = []
    for start in range(0, len(keys), PERSONAS_AT_ONCE):
        refresh = _Refresh(keys[start : start + PERSONAS_AT_ONCE])
        unanswered += refresh.unanswered
        scripted += refresh.scripted
        refresh.store()
    run_graders(scripted)
    if ask:
        request_opinions(unanswered)


class _Refresh:
    """Some personas on their way to stored findings."""

    def __init__(self, personas: Sequence[int]) -> None:
        loaded = load_personas(Persona.objects.filter(pk__in=personas).select_related("benchmark").order_by("pk"))
        self.tasks: dict[tuple[int, str], int] = {}
        """Keys of tasks by persona and id."""
        known: dict[tuple[int, str], str | None] = {}
        tasks = Task.objects.filter(persona__in=personas).order_by("pk")
        for pk, persona, task_id, key in tasks.values_list("pk", "persona", "task_id", "checked__key"):
            self.tasks[persona, task_id] = pk
            known[persona, task_id] = key
        self.unchanged: set[int] = set()
        self.unanswered: list[int] = []
        self.scripted = [each.row for each in loaded if each.episode.persona.scripts]
        self.results: list[tuple[int, dict[str, str], set[str], list[Problem]]] = []
        """Of each persona: its key, the tasks' keys, which are unchanged, and the findings."""
        for each in loaded:
            pk, keys = each.row.pk, each.keys
            same = {task_id for task_id, key in keys.items() if known[pk, task_id] == key}
            self.unchanged |= {self.tasks[pk, task_id] for task_id in same}
            self.unanswered += [self.tasks[pk, task_id] for task_id in sorted(each.unanswered - same)]
            self.results.append((pk, keys, same, find_problems(**each.arguments(same))))

    def store(self) -> None:
        wanted, checked = {}, []
        for persona, keys, same, problems in self.results:
            stopped = set()
            for finding in problems:
                if finding.rule == STOPPED:
                    stopped.add(finding.task)
                row = Finding(
                    task_id=self.tasks[persona, finding.task],
                    fingerprint=finding.fingerprint,
                    **{name: getattr(finding, name) for name in FIELDS},
                )
                wanted[_key(row)] = row
            checked += [
                CheckedTask(task_id=self.tasks[persona, task_id], key="" if task_id in stopped else key)
                for task_id, key in keys.items()
                if task_id not in same or task_id in stopped
            ]
        stored = Finding.objects.filter(task__in=self.tasks.values()).order_by()
        sync(
            list(stored.exclude(task__in=self.unchanged, rule__in=SINGLE_TASK_RULES)),
            list(wanted.values()),
            key=_key,
            fields=FIELDS,
        )
        count_findings(self.tasks.values())
        CheckedTask.objects.bulk_create(
            sorted(checked, key=lambda row: row.task_id),
            update_conflicts=True,
            unique_fields=["task"],
            update_fields=["key"],
            batch_size=1_000,
        )


def _key(row: Finding) -> tuple[int, str, str, int | None]:
    return (row.task_id, row.rule, row.fingerprint, row.item)


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
