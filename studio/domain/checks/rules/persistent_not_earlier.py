from collections.abc import Iterator

from studio.domain.checks.quotes import join_with_and
from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.episode import EpisodeSpec
from studio.domain.task import HiddenIntent, TaskSpec
from studio.domain.text.coverage import word_overlap

SAME = 0.8


@rule("persistent-not-earlier", "hint")
def persistent_not_earlier(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """A persistent intent has its evidence in an earlier session, or is established here for a later one (Table 10).

    Told once for all of a task's intents.
    """
    if places := intents_shown_only_here(task, context.episode):
        one = len(places) == 1
        which = f"Intent {places[0]} is" if one else f"Intents {join_with_and(map(str, places))} are"
        yield Flaw(
            "intents",
            f"{which} persistent, but only this task shows {'it' if one else 'them'}.",
            "Add the earlier task or the profile as a source, or set the scope to this session only.",
            places[0],
        )


def intents_shown_only_here(task: TaskSpec, episode: EpisodeSpec) -> list[int]:
    """The persistent intents, by their 1-based places, that only this session shows."""
    if any(task.task_id == need.task_id for other in episode.tasks for need in other.depends_on):
        return []
    later = _later(task, episode)
    return [
        position
        for position, intent in enumerate(task.intents, 1)
        if intent.scope == "persistent" and _only_here(intent, task) and not _taken_up(intent, later)
    ]


def _only_here(intent: HiddenIntent, task: TaskSpec) -> bool:
    own = {file.path for file in task.assets}
    places = intent.recoverable_from
    return bool(places) and all(
        place.kind == "question" or (place.kind == "file" and place.ref in own) for place in places
    )


def _later(task: TaskSpec, episode: EpisodeSpec) -> list[HiddenIntent]:
    ids = [other.task_id for other in episode.tasks]
    after = episode.tasks[ids.index(task.task_id) + 1 :] if task.task_id in ids else ()
    return [intent for other in after for intent in other.intents]


def _taken_up(intent: HiddenIntent, later: list[HiddenIntent]) -> bool:
    return any(word_overlap(intent.content, other.content) >= SAME for other in later)
