"""Stored findings of tasks, so that lists can count them without running the checks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from studio.domain import findings
from studio.domain.base import FileRef
from studio.domain.bounded_cache import BoundedCache
from studio.domain.checks import find_problems
from studio.domain.episode import EpisodeSpec
from studio.domain.graders import ANALYSIS, GraderReport
from studio.domain.tool_catalog import tool_descriptions
from studio.drafts.load import load_episodes
from studio.drafts.sync import sync
from studio.findings.grader_keys import request_reports
from studio.models import Blob, Finding, GraderScript, Persona, ScriptReport, Task

MAX_TEXT_BYTES = 60_000
"""The checks read at most 40,000 characters of a file, and skip longer ones."""
MAX_SCRIPT_BYTES = 800_000
"""The checks read at most 200,000 characters of a grader script, and skip longer ones."""
_texts: BoundedCache[str, str | None] = BoundedCache(32_000_000)
"""Recent files by sha256, None for binary ones; while an author types, each check needs the same files."""
FIELDS = ["rule", "severity", "field", "item", "words", "message", "mend", "other"]


def check_personas(personas: Iterable[Persona]) -> list[findings.Finding]:
    """Current findings of every task. Personas come with their ``benchmark``, whose plan the checks use."""
    personas = list(personas)
    episodes = load_episodes(personas)
    specs = episodes.values()
    texts, reports, tools = load_texts(specs), load_reports(specs), episode_tool_descriptions(specs)
    return [
        finding
        for persona in personas
        for finding in find_problems(
            episodes[persona.pk], texts=texts, plan=persona.benchmark.plan, reports=reports, tools=tools
        )
    ]


def episode_tool_descriptions(episodes: Iterable[EpisodeSpec]) -> dict[str, str]:
    return tool_descriptions({tool for episode in episodes for tool in episode.persona.tools})


def load_texts(episodes: Iterable[EpisodeSpec]) -> dict[str, str]:
    """Contents of the episodes' small text files, skills and grader scripts in use, by sha256. One query."""
    episodes = list(episodes)
    wanted = {file.sha256 for episode in episodes for file in _files(episode) if file.size <= MAX_TEXT_BYTES}
    wanted |= {script.sha256 for script in _scripts_in_use(episodes) if script.size <= MAX_SCRIPT_BYTES}
    texts = _texts.get_many(wanted)
    if missing := [sha256 for sha256 in wanted if sha256 not in texts]:
        read = {sha256: _decoded(content) for sha256, content in Blob.objects.read(missing).items()}
        _texts.put_many(read)
        texts |= read
    return {sha256: text for sha256, text in texts.items() if text is not None}


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


def refresh_findings(personas: Iterable[Persona]) -> None:
    """Check these personas and replace their stored findings. Grader scripts without a report are sent to a worker,
    which refreshes the findings again."""
    personas = list(Persona.objects.filter(pk__in=[p.pk for p in personas]).select_related("benchmark"))
    tasks = {
        (persona, task_id): pk
        for pk, persona, task_id in Task.objects.filter(episode__persona__in=personas).values_list(
            "pk", "episode__persona__user_id", "task_id"
        )
    }
    wanted = {}
    for finding in check_personas(personas):
        row = Finding(
            task_id=tasks[(finding.persona, finding.task)],
            fingerprint=finding.fingerprint,
            **{name: getattr(finding, name) for name in FIELDS},
        )
        wanted[_key(row)] = row
    sync(
        Finding.objects.filter(task__in=list(tasks.values())),
        list(wanted.values()),
        key=_key,
        fields=FIELDS,
    )
    run_graders(personas)


def _key(row: Finding) -> tuple[int, str, str, int | None]:
    return (row.task_id, row.rule, row.fingerprint, row.item)
