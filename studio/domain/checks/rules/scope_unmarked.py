import re
from collections.abc import Iterator

from studio.domain.checks.quotes import join_with_and
from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.episode import EpisodeSpec
from studio.domain.task import TaskSpec
from studio.domain.text.coverage import word_overlap
from studio.domain.text.words import content_words

AGAIN = 0.6
"""Share of an intent's words that one of the later session's intents has: then it comes up there again."""
FEWEST = 3
"""Words below which two intents are alike by chance."""
LASTS = re.compile(
    r"\b(?:always|from now on|in future|in the future|going forward|every time|each time|as a rule|by default|standing"
    r"|in all (?:\w+ )?(?:letters|mails?|e-?mails|reports|documents|files|messages))\b",
    re.IGNORECASE,
)
"""Words of what holds beyond one session."""


@rule("scope-unmarked", "hint")
def scope_unmarked(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """An intent that a later session takes up is marked as persistent (paper, Table 10). Told once for all of a
    task's intents."""
    if places := intents_needed_later(task, context.episode):
        one = len(places) == 1
        which = f"Intent {places[0]} is" if one else f"Intents {join_with_and(map(str, places))} are"
        yield Flaw(
            "intents",
            f"{which} marked for this session only, but a later task that builds on it needs "
            f"{'it' if one else 'them'} again.",
            f"Set {'its' if one else 'their'} scope to persistent.",
            places[0],
        )


def intents_needed_later(task: TaskSpec, episode: EpisodeSpec) -> list[int]:
    """The intents of this session, by their 1-based places, that a session which builds on it takes up."""
    after = [other for other in episode.tasks if any(need.task_id == task.task_id for need in other.depends_on)]
    wanted = [intent.content for other in after for intent in other.intents]
    return [
        position
        for position, intent in enumerate(task.intents, 1)
        if after
        and intent.scope == "session_local"
        and len(content_words(intent.content)) >= FEWEST
        and (LASTS.search(intent.content) or any(word_overlap(intent.content, other) >= AGAIN for other in wanted))
    ]
