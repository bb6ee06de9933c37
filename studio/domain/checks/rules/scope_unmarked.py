import re
from collections.abc import Iterator

from studio.domain.bounded_cache import cached
from studio.domain.checks.quotes import join_with_and
from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.episode import EpisodeSpec
from studio.domain.task import TaskSpec
from studio.domain.text.coverage import word_overlap
from studio.domain.text.words import content_words

MIN_SHARE = 0.6
"""Share of an intent's words that recur in an intent of a later session."""
MIN_WORDS = 3
"""Minimum words; shorter intents are similar by chance."""
LASTS = re.compile(
    r"\b(?:always|from now on|in future|in the future|going forward|every time|each time|as a rule|by default|standing"
    r"|in all (?:\w+ )?(?:letters|mails?|e-?mails|reports|documents|files|messages))\b",
    re.IGNORECASE,
)
"""Phrases for what holds beyond one session."""


@rule("scope-unmarked", "hint", across_tasks=True)
def scope_unmarked(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """An intent that a later session relies on is marked as persistent (paper, Table 10). Reported once for all intents
    of a task."""
    if positions := intents_needed_later(task, context.episode):
        single = len(positions) == 1
        which = f"Intent {positions[0]} is" if single else f"Intents {join_with_and(map(str, positions))} are"
        yield Flaw(
            "intents",
            f"{which} marked for this session only, but a later task that builds on it needs "
            f"{'it' if single else 'them'} again.",
            f"Set {'its' if single else 'their'} scope to persistent.",
            positions[0],
        )


def intents_needed_later(task: TaskSpec, episode: EpisodeSpec) -> list[int]:
    """1-based positions of the session-local intents that a dependent session relies on."""
    after = [
        other for other in episode.tasks if any(dependency.task_id == task.task_id for dependency in other.depends_on)
    ]
    if not after:
        return []
    wanted = tuple(intent.content for other in after for intent in other.intents)
    return [
        position
        for position, intent in enumerate(task.intents, 1)
        if intent.scope == "session_local"
        and len(content_words(intent.content)) >= MIN_WORDS
        and _lasts(intent.content, wanted)
    ]


@cached(600_000)
def _lasts(intent: str, wanted: tuple[str, ...]) -> bool:
    return bool(LASTS.search(intent)) or any(word_overlap(intent, other) >= MIN_SHARE for other in wanted)
