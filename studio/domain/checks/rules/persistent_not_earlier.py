from collections.abc import Iterator

from studio.domain.checks.quotes import join_with_and
from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.episode import EpisodeSpec
from studio.domain.task import HiddenIntent, TaskSpec
from studio.domain.text.coverage import word_overlap

SAME = 0.8


@rule("persistent-not-earlier", "hint", across_tasks=True)
def persistent_not_earlier(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """A persistent intent has its evidence in an earlier session, or is established here for a later one (paper, Table
    10). Reported once for all intents of a task."""
    if positions := intents_shown_only_here(task, context.episode):
        single = len(positions) == 1
        which = f"Intent {positions[0]} is" if single else f"Intents {join_with_and(map(str, positions))} are"
        yield Flaw(
            "intents",
            f"{which} persistent, but only this task shows {'it' if single else 'them'}.",
            "Add the earlier task or the profile as a source, or set the scope to this session only.",
            positions[0],
        )


def intents_shown_only_here(task: TaskSpec, episode: EpisodeSpec) -> list[int]:
    """1-based positions of the persistent intents that only this session shows."""
    if any(task.task_id == need.task_id for other in episode.tasks for need in other.depends_on):
        return []
    if all(intent.scope != "persistent" for intent in task.intents):
        return []
    later = _later_intents(task, episode)
    return [
        position
        for position, intent in enumerate(task.intents, 1)
        if intent.scope == "persistent" and _is_shown_only_here(intent, task) and not _recurs(intent, later)
    ]


def _is_shown_only_here(intent: HiddenIntent, task: TaskSpec) -> bool:
    own = {file.path for file in task.assets}
    sources = intent.recoverable_from
    return bool(sources) and all(
        source.kind == "question" or (source.kind == "file" and source.ref in own) for source in sources
    )


def _later_intents(task: TaskSpec, episode: EpisodeSpec) -> list[HiddenIntent]:
    ids = [other.task_id for other in episode.tasks]
    after = episode.tasks[ids.index(task.task_id) + 1 :] if task.task_id in ids else ()
    return [intent for other in after for intent in other.intents]


def _recurs(intent: HiddenIntent, later: list[HiddenIntent]) -> bool:
    return any(word_overlap(intent.content, other.content) >= SAME for other in later)
