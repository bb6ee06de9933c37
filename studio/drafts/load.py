"""Specs loaded from rows, in a constant number of queries."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any, cast

from studio.domain import persona as persona_spec
from studio.domain import task as task_spec
from studio.domain.base import Content, FileRef
from studio.domain.episode import EpisodeSpec, GroupSpec
from studio.domain.persona import PersonaSpec
from studio.domain.task import GraderKind, InitialStatus, Scope, TaskSpec, TriggerKind
from studio.models import (
    Asset,
    ChecklistItem,
    Dependency,
    DependencyGroup,
    Episode,
    ExpectedArtifact,
    GraderScript,
    HiddenIntent,
    Persona,
    PersonaFile,
    Skill,
    SkillFile,
    Task,
    ToolBinding,
)

_Grouped = dict[Any, list[Any]]


def load_episode(persona: Persona, *, with_tasks: bool = True) -> EpisodeSpec:
    return load_episodes([persona], with_tasks=with_tasks)[persona.pk]


def load_task(task: Task) -> TaskSpec:
    return load_tasks(Task.objects.filter(pk=task.pk).select_related("group"))[task.pk]


def load_episodes(personas: Iterable[Persona], *, with_tasks: bool = True) -> dict[int, EpisodeSpec]:
    personas = list(personas)
    specs = _load_personas(personas)
    tasks_of = Task.objects.filter(episode__persona__in=personas) if with_tasks else Task.objects.none()
    rows = list(tasks_of.select_related("group").order_by("episode", "position", "task_id"))
    tasks = load_tasks(rows) if rows else {}
    by_episode = _group((row.episode_id, row) for row in rows)
    episodes = {row.persona_id: row for row in Episode.objects.filter(persona__in=personas)}
    carryovers = _group(
        (row[0], GroupSpec(name=row[1], carries_over=row[2]))
        for row in DependencyGroup.objects.filter(episode__persona__in=personas)
        .exclude(carries_over="")
        .order_by("position")
        .values_list("episode_id", "name", "carries_over")
    )
    loaded = {}
    for persona in personas:
        episode = episodes.get(persona.pk)
        own = by_episode[episode.pk] if episode else []
        loaded[persona.pk] = EpisodeSpec(
            episode_id=episode.episode_id if episode else "",
            docker_image_id=episode.docker_image_id if episode else "",
            source=episode.source if episode else {},
            persona=specs[persona.pk],
            groups=tuple(carryovers[episode.pk]) if episode else (),
            tasks=tuple(tasks[row.pk] for row in own if row.position is not None),
            unplaced=tuple(tasks[row.pk] for row in sorted(own, key=lambda row: row.task_id) if row.position is None),
        )
    return loaded


def load_tasks(rows: Iterable[Task]) -> dict[int, TaskSpec]:
    """By task key. ``rows`` come with their ``group``."""
    rows = list(rows)
    keys = [row.pk for row in rows]
    intents = _group((r.task_id, r) for r in HiddenIntent.objects.filter(task__in=keys).order_by("position"))
    items = _group((r.task_id, r) for r in ChecklistItem.objects.filter(task__in=keys).order_by("position"))
    follows = _group(
        ChecklistItem.follows_from.through.objects.filter(checklistitem__task__in=keys)
        .order_by("hiddenintent__position")
        .values_list("checklistitem_id", "hiddenintent__uid")
    )
    dependencies = _group(
        (row[0], task_spec.Dependency(task_id=row[1], carries_over=row[2]))
        for row in Dependency.objects.filter(task__in=keys)
        .order_by("position")
        .values_list("task_id", "requires__task_id", "carries_over")
    )
    assets = _group(
        (row[0], FileRef(path=row[1], sha256=row[2], size=row[3], description=row[4]))
        for row in Asset.objects.filter(task__in=keys).values_list(
            "task_id", "path", "blob_id", "blob__size", "description"
        )
    )
    artifacts = _group(
        (row[0], _artifact(*row[1:]))
        for row in ExpectedArtifact.objects.filter(task__in=keys)
        .order_by("position")
        .values_list("task_id", "path", "note", "blob_id", "blob__size")
    )
    return {
        row.pk: _task(
            row,
            intents[row.pk],
            items[row.pk],
            follows,
            dependencies[row.pk],
            assets[row.pk],
            artifacts[row.pk],
        )
        for row in rows
    }


def _task(
    row: Task,
    intents: list[HiddenIntent],
    items: list[ChecklistItem],
    follows: _Grouped,
    dependencies: list[task_spec.Dependency],
    assets: list[FileRef],
    artifacts: list[task_spec.ExpectedArtifact],
) -> TaskSpec:
    return TaskSpec(
        task_id=row.task_id,
        user_id=row.user_id,
        environment_id=row.environment_id,
        title=row.title,
        description=row.description,
        task_type=row.task_type,
        category=row.category,
        trigger=task_spec.Trigger(kind=cast(TriggerKind, row.trigger_kind), payload=row.trigger_payload),
        initial_request=row.initial_request,
        intents=tuple(
            task_spec.HiddenIntent(
                uid=str(intent.uid),
                content=intent.content,
                scope=cast(Scope, intent.scope),
                initial_status=cast(InitialStatus, intent.initial_status),
                recoverable_from=tuple(intent.recoverable_from),
                source=intent.source,
            )
            for intent in intents
        ),
        checklist=tuple(
            task_spec.ChecklistItem(
                uid=str(item.uid),
                criterion=item.criterion,
                weight=item.weight,
                grader=cast(GraderKind, item.grader),
                rule=item.rule,
                evidence=tuple(item.evidence),
                follows_from=tuple(str(uid) for uid in follows[item.pk]),
                source=item.source,
            )
            for item in items
        ),
        files_read=tuple(row.files_read),
        tool_evidence=tuple(row.tool_evidence),
        grader_script=row.grader_path,
        depends_on=tuple(dependencies),
        group=row.group.name if row.group else "",
        assets=_by_path(assets),
        tools=tuple(row.tools),
        skills=tuple(row.skills),
        reference_workflow=row.reference_workflow,
        expected_artifacts=tuple(artifacts),
        metadata=row.metadata,
        source=row.source,
    )


def _artifact(path: str, note: str, sha256: str | None, size: int | None) -> task_spec.ExpectedArtifact:
    reference = Content(sha256=sha256, size=size or 0) if sha256 else None
    return task_spec.ExpectedArtifact(path=path, note=note, reference=reference)


def _load_personas(personas: list[Persona]) -> dict[int, PersonaSpec]:
    tools = _group(
        ToolBinding.objects.filter(persona__in=personas).order_by("position").values_list("persona_id", "name")
    )
    files = _group(
        (row[0], FileRef(path=row[1], sha256=row[2], size=row[3]))
        for row in SkillFile.objects.filter(skill__persona__in=personas).values_list(
            "skill_id", "path", "blob_id", "blob__size"
        )
    )
    skills = _group(
        (row[1], persona_spec.Skill(name=row[2], files=_by_path(files[row[0]])))
        for row in Skill.objects.filter(persona__in=personas).values_list("pk", "persona_id", "name")
    )
    scripts, others = (
        _group(
            (row[0], FileRef(path=row[1], sha256=row[2], size=row[3]))
            for row in model.objects.filter(persona__in=personas).values_list(
                "persona_id", "path", "blob_id", "blob__size"
            )
        )
        for model in (GraderScript, PersonaFile)
    )
    return {
        row.pk: PersonaSpec(
            user_id=row.user_id,
            name=row.name,
            role_text=row.role_text,
            occupation=row.occupation,
            routines=row.routines,
            working_style=row.working_style,
            attributes=row.attributes,
            preferences=row.preferences,
            long_term_goals=tuple(row.long_term_goals),
            tools=tuple(tools[row.pk]),
            skills=tuple(sorted(skills[row.pk], key=lambda skill: skill.name)),
            scripts=_by_path(scripts[row.pk]),
            files=_by_path(others[row.pk]),
            profile_source=row.profile_source,
            tools_source=row.tools_source,
        )
        for row in personas
    }


def _by_path(files: list[FileRef]) -> tuple[FileRef, ...]:
    """In code point order, regardless of the database's collation."""
    return tuple(sorted(files, key=lambda file: file.path))


def _group(pairs: Iterable[tuple[Any, Any]]) -> _Grouped:
    grouped: _Grouped = defaultdict(list)
    for key, value in pairs:
        grouped[key].append(value)
    return grouped
