import re
from collections.abc import Iterator

from studio.domain.checks.quotes import listed
from studio.domain.checks.rule import Flaw, Scene, rule
from studio.domain.episode import EpisodeSpec
from studio.domain.task import TaskSpec
from studio.domain.text.coverage import anywhere
from studio.domain.text.words import content

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
def scope_unmarked(task: TaskSpec, scene: Scene) -> Iterator[Flaw]:
    """An intent that a later session takes up is marked as persistent (paper, Table 10). Told once for all of a
    task's intents."""
    if places := lasting(task, scene.episode):
        one = len(places) == 1
        which = f"Intent {places[0]} is" if one else f"Intents {listed(map(str, places))} are"
        yield Flaw(
            "intents",
            f"{which} marked for this session only, but a later task that builds on it needs "
            f"{'it' if one else 'them'} again.",
            f"Set {'its' if one else 'their'} scope to persistent.",
            places[0],
        )


def lasting(task: TaskSpec, episode: EpisodeSpec) -> list[int]:
    """The intents of this session, by their 1-based places, that a session which builds on it takes up."""
    after = [other for other in episode.tasks if any(need.task_id == task.task_id for need in other.depends_on)]
    wanted = [intent.content for other in after for intent in other.intents]
    return [
        position
        for position, intent in enumerate(task.intents, 1)
        if after
        and intent.scope == "session_local"
        and len(content(intent.content)) >= FEWEST
        and (LASTS.search(intent.content) or any(anywhere(intent.content, other) >= AGAIN for other in wanted))
    ]
