"""Bulk writing of task specs."""

from __future__ import annotations

import uuid
from collections.abc import Collection, Sequence
from typing import Any

from studio.domain.base import FileRef
from studio.domain.task import ChecklistItem as ItemSpec
from studio.domain.task import HiddenIntent as IntentSpec
from studio.domain.task import TaskSpec
from studio.drafts.sync import sync
from studio.drafts.validate import DraftError
from studio.models import (
    Asset,
    ChecklistItem,
    Dependency,
    ExpectedArtifact,
    HiddenIntent,
    Task,
)
from studio.models.copying import copy_values, create_rows

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
ASSET_FIELDS = ["path", "blob_id", "description"]

Pairs = Sequence[tuple[Task, TaskSpec]]


def set_task_fields(row: Task, spec: TaskSpec) -> None:
    """Only the task's own columns; ``write_groups`` and ``write_task_rows`` write the rest."""
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


def write_task_rows(pairs: Pairs, differing: Sequence[Collection[str]], *, new: Collection[int] = ()) -> None:
    """``differing``: for each pair, the fields that differ from what is stored; only their rows are read and written.
    Dependencies are always validated, since it may be the other task that has moved. ``new``: keys of many tasks that
    have no rows yet."""

    def concerned(*fields: str) -> Pairs:
        return [pair for pair, names in zip(pairs, differing, strict=True) if any(field in names for field in fields)]

    def stored(pairs: Pairs) -> Pairs:
        return [pair for pair in pairs if pair[0].pk not in new]

    _write_items(stored(concerned("intents", "checklist")))
    if new:
        _write_many([pair for pair in pairs if pair[0].pk in new])
    dependent = [pair for pair in pairs if pair[1].depends_on]
    _write_dependencies([*dependent, *(pair for pair in concerned("depends_on") if not pair[1].depends_on)])
    _write_assets(stored(concerned("assets")))
    _write_artifacts(concerned("expected_artifacts"))


def _intent_values(intent: IntentSpec, position: int) -> tuple[Any, ...]:
    """Of INTENT_FIELDS."""
    sources = [source.to_json() for source in intent.recoverable_from]
    return position, intent.content, intent.scope, intent.initial_status, sources, intent.source


def _item_values(item: ItemSpec, position: int) -> tuple[Any, ...]:
    """Of ITEM_FIELDS."""
    rule = item.rule.to_json() if item.rule else None
    return position, item.criterion, item.weight, item.grader, rule, list(item.evidence), item.source


def _asset_values(file: FileRef) -> tuple[Any, ...]:
    """Of ASSET_FIELDS."""
    return file.path, file.sha256, file.description


def _write_many(pairs: Pairs) -> None:
    """The intents, items and assets of tasks that have none yet, as values: to make a row of each costs more than all
    the rest. Nobody asks for their keys unless items follow from intents."""
    keyed = any(item.follows_from for _, spec in pairs for item in spec.checklist)
    intents = [
        (row.pk, intent.uid, *_intent_values(intent, position))
        for row, spec in pairs
        for position, intent in enumerate(spec.intents, 1)
    ]
    items = [
        (row.pk, item.uid, *_item_values(item, position))
        for row, spec in pairs
        for position, item in enumerate(spec.checklist, 1)
    ]
    intent_keys = copy_values(HiddenIntent, ["task_id", "uid", *INTENT_FIELDS], intents, keyed=keyed)
    item_keys = copy_values(ChecklistItem, ["task_id", "uid", *ITEM_FIELDS], items, keyed=keyed)
    if keyed:
        keys = {intent[:2]: key for intent, key in zip(intents, intent_keys, strict=True)}
        checklist = [(row.pk, item) for row, spec in pairs for item in spec.checklist]
        copy_values(
            ChecklistItem.follows_from.through,
            ["checklistitem_id", "hiddenintent_id"],
            [
                (key, keys[(task, uid)])
                for (task, item), key in zip(checklist, item_keys, strict=True)
                for uid in item.follows_from
                if (task, uid) in keys
            ],
        )
    assets = [(row.pk, *_asset_values(file)) for row, spec in pairs for file in spec.assets]
    copy_values(Asset, ["task_id", *ASSET_FIELDS], assets)


def _write_items(pairs: Pairs) -> None:
    if not pairs:
        return
    keys = [row.pk for row, _ in pairs]
    intents = sync(
        HiddenIntent.objects.filter(task__in=keys),
        [
            HiddenIntent(
                task=row,
                uid=uuid.UUID(intent.uid),
                **dict(zip(INTENT_FIELDS, _intent_values(intent, position), strict=True)),
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
                **dict(zip(ITEM_FIELDS, _item_values(item, position), strict=True)),
            )
            for row, spec in pairs
            for position, item in enumerate(spec.checklist, 1)
        ],
        key=lambda item: (item.task_id, str(item.uid)),
        fields=ITEM_FIELDS,
    )
    _write_follows(pairs, intents, items)


def _write_assets(pairs: Pairs) -> None:
    if not pairs:
        return
    sync(
        Asset.objects.filter(task__in=[row.pk for row, _ in pairs]),
        [
            Asset(task=row, **dict(zip(ASSET_FIELDS, _asset_values(file), strict=True)))
            for row, spec in pairs
            for file in spec.assets
        ],
        key=lambda asset: (asset.task_id, asset.path),
        fields=["blob_id", "description"],
    )


def _write_artifacts(pairs: Pairs) -> None:
    if not pairs:
        return
    sync(
        ExpectedArtifact.objects.filter(task__in=[row.pk for row, _ in pairs]),
        [
            ExpectedArtifact(
                task=row,
                position=position,
                path=artifact.path,
                note=artifact.note,
                blob_id=artifact.reference.sha256 if artifact.reference else None,
            )
            for row, spec in pairs
            for position, artifact in enumerate(spec.expected_artifacts, 1)
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
    if obsolete := [pk for pair, pk in stored.items() if pair not in wanted]:
        through.objects.filter(pk__in=obsolete).delete()
    create_rows(
        [through(checklistitem_id=item, hiddenintent_id=intent) for item, intent in sorted(wanted - stored.keys())]
    )


def _write_dependencies(pairs: Pairs) -> None:
    if not pairs:
        return
    episodes = {row.episode_id for row, _ in pairs}
    positions = {
        (episode, task_id): (pk, position)
        for pk, episode, task_id, position in Task.objects.filter(episode__in=episodes).values_list(
            "pk", "episode_id", "task_id", "position"
        )
    }
    wanted = []
    for row, spec in pairs:
        own = positions[(row.episode_id, row.task_id)][1]
        for position, dependency in enumerate(spec.depends_on, 1):
            pk, required = positions.get((row.episode_id, dependency.task_id), (None, None))
            if pk is None:
                raise DraftError(
                    "depends_on",
                    f"The episode has no task “{dependency.task_id}”. Choose an earlier one.",
                    position,
                )
            if own is None or required is None or required >= own:
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
