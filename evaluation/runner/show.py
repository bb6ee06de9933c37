"""A pack, or one of its tasks, for people in a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from typing import Any

from evaluation.runner.packs import Pack
from evaluation.runner.results import without_source
from evaluation.runner.tables import plain
from studio.domain.episode import EpisodeSpec, Split
from studio.domain.phrases import count_of
from studio.domain.task import TaskSpec

WIDTH = 96


def pack_json(pack: Pack) -> dict[str, Any]:
    return {
        "name": pack.name,
        "version": pack.version,
        "sha256": pack.sha256,
        "splits": pack.manifest.get("splits", {}),
        "validation": pack.manifest.get("validation", {}),
        "personas": [
            {
                "persona": episode.persona.user_id,
                "name": episode.persona.name,
                "tasks": [_line_json(task) | {"split": episode.split_of(task.task_id)} for task in episode.tasks],
            }
            for episode in pack.episodes
        ],
    }


def _line_json(task: TaskSpec) -> dict[str, Any]:
    return {
        "task": task.task_id,
        "title": task.title,
        "setup": task.is_setup,
        "intents": len(task.intents),
        "criteria": len(task.scored_items),
        "depends_on": [need.task_id for need in task.depends_on],
    }


def task_json(episode: EpisodeSpec, task: TaskSpec) -> dict[str, Any]:
    return {"persona": episode.persona.user_id, "task": without_source(task)}


def show_pack(pack: Pack) -> str:
    lines = [f"{pack.name} {pack.version}".rstrip(), f"sha256 {pack.sha256}"]
    for episode in pack.episodes:
        persona = episode.persona
        name = f"{persona.user_id} · {persona.name}" if persona.name else persona.user_id
        lines += ["", f"{name} · {count_of(len(episode.tasks), 'task')}"]
        for at, task in enumerate(episode.tasks):
            branch = "└─" if at == len(episode.tasks) - 1 else "├─"
            facts = ", ".join(_facts(task, episode.split_of(task.task_id)))
            lines.append(f"{branch} {task.task_id}  {task.title}  ({facts})")
    if held := pack.manifest.get("splits", {}).get(Split.HELD_OUT, {}).get("sha256"):
        lines += ["", f"{count_of(pack.manifest['splits'][Split.HELD_OUT]['tasks'], 'task')} held out, sha256 {held}"]
    return "".join(f"{plain(line)}\n" for line in lines)


def _facts(task: TaskSpec, split: Split) -> Iterable[str]:
    if split != Split.PUBLIC:
        yield split.label
    if task.is_setup:
        yield "setup"
    yield count_of(len(task.intents), "intent")
    yield f"{len(task.scored_items)} criteria"
    if task.depends_on:
        yield f"builds on {', '.join(need.task_id for need in task.depends_on)}"


def show_task(pack: Pack, episode: EpisodeSpec, task: TaskSpec) -> str:
    said = pack.said_in_request(episode.persona.user_id, task.task_id)
    lines = [f"{episode.persona.user_id} · {task.task_id}", task.title, "", "Request"]
    lines += _paragraph(task.initial_request)
    lines += ["", "Hidden intents"]
    for at, intent in enumerate(task.intents, 1):
        marks = [intent.initial_status == "provided" and "provided", at in said and "said in the request"]
        mark = "".join(f" ({each})" for each in marks if each)
        lines += _item(f"{at}.", f"{intent.content}{mark}")
    lines += ["", "Checklist"]
    for at, item in enumerate(task.scored_items, 1):
        weight = "" if item.weight == 1 else f", weight {item.weight:g}"
        lines += _item(f"{at}.", f"{item.criterion} ({item.grader}{weight})")
    if task.grader_script:
        lines += ["", f"Grader script  {task.grader_script}"]
    for heading, values in (
        ("Builds on", [need.task_id for need in task.depends_on]),
        ("Files", [asset.path for asset in task.assets]),
        ("Tools", list(task.tools)),
        ("Skills", list(task.skills)),
        ("Reference solution", pack.solution_paths(episode.persona.user_id, task.task_id)),
    ):
        if values:
            lines += ["", heading, *(f"  {value}" for value in values)]
    return "".join(f"{plain(line)}\n" for line in lines)


def _paragraph(text: str) -> list[str]:
    return [row for line in text.splitlines() for row in _wrapped(line, "  ", "  ")] or ["  (none)"]


def _item(mark: str, text: str) -> list[str]:
    return _wrapped(" ".join(text.split()), f"  {mark} ", " " * (len(mark) + 3))


def _wrapped(line: str, first: str, others: str) -> list[str]:
    """Without what could move a terminal's cursor."""
    return textwrap.wrap(plain(line), WIDTH, initial_indent=first, subsequent_indent=others) or [""]
