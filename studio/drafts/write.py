"""Specs written into rows, many tasks or personas at once."""

from __future__ import annotations

import uuid
from collections.abc import Sequence

from studio.domain.episode import EpisodeSpec
from studio.domain.persona import PersonaSpec
from studio.domain.task import TaskSpec
from studio.drafts.sync import sync
from studio.drafts.validate import DraftError
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

TASK_FIELDS = [
    "task_id",
    "user_id",
    "environment_id",
    "title",
    "description",
    "task_type",
    "category",
    "trigger_kind",
    "trigger_payload",
    "initial_request",
    "files_read",
    "tool_evidence",
    "grader_path",
    "group",
    "tools",
    "skills",
    "reference_workflow",
    "metadata",
    "source",
    "state",
    "version",
    "updated_at",
]
PERSONA_FIELDS = [
    "user_id",
    "name",
    "role_text",
    "occupation",
    "routines",
    "working_style",
    "attributes",
    "preferences",
    "long_term_goals",
    "profile_source",
    "tools_source",
    "version",
    "updated_at",
]
INTENT_FIELDS = [
    "position",
    "content",
    "scope",
    "initial_status",
    "recoverable_from",
    "source",
]
ITEM_FIELDS = [
    "position",
    "criterion",
    "weight",
    "grader",
    "rule",
    "evidence",
    "source",
]

Pairs = Sequence[tuple[Task, TaskSpec]]


def set_task_fields(row: Task, spec: TaskSpec) -> None:
    """The columns of the task's own row; ``group`` and the child rows are written by ``write_parts``."""
    row.task_id = spec.task_id
    row.user_id = spec.user_id
    row.environment_id = spec.environment_id
    row.title = spec.title
    row.description = spec.description
    row.task_type = spec.task_type
    row.category = spec.category
    row.trigger_kind = spec.trigger.kind
    row.trigger_payload = spec.trigger.payload
    row.initial_request = spec.initial_request
    row.files_read = list(spec.files_read)
    row.tool_evidence = [evidence.to_json() for evidence in spec.tool_evidence]
    row.grader_path = spec.grader_script
    row.tools = list(spec.tools)
    row.skills = list(spec.skills)
    row.reference_workflow = spec.reference_workflow
    row.metadata = spec.metadata
    row.source = spec.source


def set_persona_fields(row: Persona, spec: PersonaSpec) -> None:
    for name in PERSONA_FIELDS:
        if name not in ("version", "updated_at"):
            setattr(row, name, getattr(spec, name))
    row.long_term_goals = list(spec.long_term_goals)


def write_groups(pairs: Pairs) -> None:
    """Give every task the row of its named group, made where it is missing. The rows are saved by the caller."""
    episodes = {row.episode_id for row, _ in pairs}
    groups = {(g.episode_id, g.name): g for g in DependencyGroup.objects.filter(episode__in=episodes)}
    last = {e: max((g.position for (ep, _), g in groups.items() if ep == e), default=0) for e in episodes}
    new = []
    for row, spec in pairs:
        key = (row.episode_id, spec.group)
        if spec.group and key not in groups:
            last[row.episode_id] += 1
            groups[key] = DependencyGroup(
                episode_id=row.episode_id,
                name=spec.group,
                position=last[row.episode_id],
            )
            new.append(groups[key])
    DependencyGroup.objects.bulk_create(new)
    for row, spec in pairs:
        row.group = groups[(row.episode_id, spec.group)] if spec.group else None


def write_group_words(pairs: Sequence[tuple[Persona, EpisodeSpec]]) -> None:
    """What dependency groups carry over. A group that is new here has its row before its tasks are written."""
    rows = {
        (row.episode.persona_id, row.name): row
        for row in DependencyGroup.objects.filter(episode__persona__in=[row.pk for row, _ in pairs])
        .select_related("episode")
        .order_by("-position")
    }
    episodes = dict(Episode.objects.filter(persona__in=[row.pk for row, _ in pairs]).values_list("persona_id", "pk"))
    new, changed = [], []
    for persona, spec in pairs:
        named = {task.group for task in (*spec.tasks, *spec.unplaced)}
        said = {group.name: group.carries_over for group in spec.groups if group.name in named}
        last = max((row.position for (key, _), row in rows.items() if key == persona.pk), default=0)
        for name, words in said.items():
            if (persona.pk, name) not in rows:
                last += 1
                group = DependencyGroup(episode_id=episodes[persona.pk], name=name, position=last, carries_over=words)
                new.append(group)
        for (key, name), row in rows.items():
            if key == persona.pk and row.carries_over != said.get(name, ""):
                row.carries_over = said.get(name, "")
                changed.append(row)
    DependencyGroup.objects.bulk_create(new)
    DependencyGroup.objects.bulk_update(changed, ["carries_over"])


def drop_empty_groups(episodes: set[int]) -> None:
    DependencyGroup.objects.filter(episode__in=episodes, tasks__isnull=True).delete()


def write_parts(pairs: Pairs) -> None:
    """Bring intents, checklist, dependencies and files of these tasks in line with their specs."""
    keys = [row.pk for row, _ in pairs]
    intents = sync(
        HiddenIntent.objects.filter(task__in=keys),
        [
            HiddenIntent(
                task=row,
                uid=uuid.UUID(intent.uid),
                position=position,
                content=intent.content,
                scope=intent.scope,
                initial_status=intent.initial_status,
                recoverable_from=[place.to_json() for place in intent.recoverable_from],
                source=intent.source,
            )
            for row, spec in pairs
            for position, intent in enumerate(spec.intents, 1)
        ],
        key=lambda intent: (intent.task_id, str(intent.uid)),
        fields=INTENT_FIELDS,
    )
    items = sync(
        ChecklistItem.objects.filter(task__in=keys),
        [
            ChecklistItem(
                task=row,
                uid=uuid.UUID(item.uid),
                position=position,
                criterion=item.criterion,
                weight=item.weight,
                grader=item.grader,
                rule=item.rule.to_json() if item.rule else None,
                evidence=list(item.evidence),
                source=item.source,
            )
            for row, spec in pairs
            for position, item in enumerate(spec.checklist, 1)
        ],
        key=lambda item: (item.task_id, str(item.uid)),
        fields=ITEM_FIELDS,
    )
    _write_follows(pairs, intents, items)
    _write_dependencies(pairs)
    sync(
        Asset.objects.filter(task__in=keys),
        [
            Asset(
                task=row,
                path=file.path,
                blob_id=file.sha256,
                description=file.description,
            )
            for row, spec in pairs
            for file in spec.assets
        ],
        key=lambda asset: (asset.task_id, asset.path),
        fields=["blob_id", "description"],
    )
    sync(
        ExpectedArtifact.objects.filter(task__in=keys),
        [
            ExpectedArtifact(
                task=row,
                position=position,
                path=one.path,
                note=one.note,
                blob_id=one.reference.sha256 if one.reference else None,
            )
            for row, spec in pairs
            for position, one in enumerate(spec.expected_artifacts, 1)
        ],
        key=lambda artifact: (artifact.task_id, artifact.path),
        fields=["position", "note", "blob_id"],
    )


def _write_follows(
    pairs: Pairs,
    intents: dict[tuple[int, str], HiddenIntent],
    items: dict[tuple[int, str], ChecklistItem],
) -> None:
    through = ChecklistItem.follows_from.through
    wanted = {
        (items[(row.pk, item.uid)].pk, intents[(row.pk, uid)].pk)
        for row, spec in pairs
        for item in spec.checklist
        for uid in item.follows_from
        if (row.pk, uid) in intents
    }
    keys = [item.pk for item in items.values()]
    stored = {
        (link.checklistitem_id, link.hiddenintent_id): link.pk
        for link in through.objects.filter(checklistitem__in=keys)
    }
    if gone := [pk for pair, pk in stored.items() if pair not in wanted]:
        through.objects.filter(pk__in=gone).delete()
    through.objects.bulk_create(
        [through(checklistitem_id=item, hiddenintent_id=intent) for item, intent in sorted(wanted - stored.keys())]
    )


def _write_dependencies(pairs: Pairs) -> None:
    episodes = {row.episode_id for row, _ in pairs}
    places = {
        (episode, task_id): (pk, position)
        for pk, episode, task_id, position in Task.objects.filter(episode__in=episodes).values_list(
            "pk", "episode_id", "task_id", "position"
        )
    }
    wanted = []
    for row, spec in pairs:
        own = places[(row.episode_id, row.task_id)][1]
        for position, dependency in enumerate(spec.depends_on, 1):
            pk, place = places.get((row.episode_id, dependency.task_id), (None, None))
            if pk is None:
                raise DraftError(
                    "depends_on",
                    f"The episode has no task “{dependency.task_id}”. Choose an earlier one.",
                    position,
                )
            if own is None or place is None or place >= own:
                raise DraftError(
                    "depends_on",
                    f"“{dependency.task_id}” does not come before “{spec.task_id}” in the episode: "
                    "choose an earlier task, or move one of the two.",
                    position,
                )
            wanted.append(
                Dependency(
                    task=row,
                    requires_id=pk,
                    position=position,
                    carries_over=dependency.carries_over,
                )
            )
    sync(
        Dependency.objects.filter(task__in=[row.pk for row, _ in pairs]),
        wanted,
        key=lambda dependency: (dependency.task_id, dependency.requires_id),
        fields=["position", "carries_over"],
    )


def write_persona_parts(pairs: Sequence[tuple[Persona, PersonaSpec]]) -> None:
    """Bring tools, skills, grader scripts and other files in line with the specs."""
    keys = [row.pk for row, _ in pairs]
    sync(
        ToolBinding.objects.filter(persona__in=keys),
        [
            ToolBinding(persona=row, position=position, name=name)
            for row, spec in pairs
            for position, name in enumerate(spec.tools, 1)
        ],
        key=lambda tool: (tool.persona_id, tool.name),
        fields=["position"],
    )
    skills = sync(
        Skill.objects.filter(persona__in=keys),
        [Skill(persona=row, name=skill.name) for row, spec in pairs for skill in spec.skills],
        key=lambda skill: (skill.persona_id, skill.name),
        fields=[],
    )
    sync(
        SkillFile.objects.filter(skill__persona__in=keys),
        [
            SkillFile(skill=skills[(row.pk, skill.name)], path=file.path, blob_id=file.sha256)
            for row, spec in pairs
            for skill in spec.skills
            for file in skill.files
        ],
        key=lambda file: (file.skill_id, file.path),
        fields=["blob_id"],
    )
    _write_scripts(pairs)
    sync(
        PersonaFile.objects.filter(persona__in=keys),
        [PersonaFile(persona=row, path=file.path, blob_id=file.sha256) for row, spec in pairs for file in spec.files],
        key=lambda file: (file.persona_id, file.path),
        fields=["blob_id"],
    )


def _write_scripts(pairs: Sequence[tuple[Persona, PersonaSpec]]) -> None:
    """What a script's ``score([])`` said is forgotten with the script's content."""
    stored = list(GraderScript.objects.filter(persona__in=[row.pk for row, _ in pairs]))
    known = {(script.persona_id, script.path, script.blob_id): script for script in stored}
    wanted = []
    for row, spec in pairs:
        for file in spec.scripts:
            same = known.get((row.pk, file.path, file.sha256))
            wanted.append(
                GraderScript(
                    persona=row,
                    path=file.path,
                    blob_id=file.sha256,
                    keys=same.keys if same else None,
                    problem=same.problem if same else "",
                )
            )
    sync(
        stored,
        wanted,
        key=lambda script: (script.persona_id, script.path),
        fields=["blob_id", "keys", "problem"],
    )
