"""Writing of dependency groups."""

from __future__ import annotations

from collections.abc import Sequence

from studio.domain.episode import EpisodeSpec
from studio.domain.task import TaskSpec
from studio.models import (
    DependencyGroup,
    Episode,
    Persona,
    Task,
)


def write_groups(pairs: Sequence[tuple[Task, TaskSpec]]) -> None:
    """Set ``row.group`` of each task, creating missing groups. The caller saves the rows."""
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


def write_carryovers(pairs: Sequence[tuple[Persona, EpisodeSpec]]) -> None:
    """Write what each group carries over, creating groups whose tasks are not written yet."""
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
        carryovers = {group.name: group.carries_over for group in spec.groups if group.name in named}
        last = max((row.position for (key, _), row in rows.items() if key == persona.pk), default=0)
        for name, text in carryovers.items():
            if (persona.pk, name) not in rows:
                last += 1
                group = DependencyGroup(episode_id=episodes[persona.pk], name=name, position=last, carries_over=text)
                new.append(group)
        for (key, name), row in rows.items():
            if key == persona.pk and row.carries_over != carryovers.get(name, ""):
                row.carries_over = carryovers.get(name, "")
                changed.append(row)
    DependencyGroup.objects.bulk_create(new)
    DependencyGroup.objects.bulk_update(changed, ["carries_over"])


def delete_empty_groups(episodes: set[int]) -> None:
    DependencyGroup.objects.filter(episode__in=episodes, tasks__isnull=True).delete()
