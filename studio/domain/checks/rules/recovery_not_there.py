from collections.abc import Iterator

from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.checks.sources import established_text, profile_text, visible_text
from studio.domain.task import Recovery, TaskSpec
from studio.domain.text.coverage import word_overlap
from studio.domain.text.words import content_words

LEAST = 0.2
"""Share of an intent's words that the place it is recovered from has to have: an agent has to see that it is about
this, not to read it there word for word."""
FEWEST = 3


@rule("recovery-not-there", "hint")
def recovery_not_there(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """The session or the profile from which an intent is to be recovered speaks of it.

    Files are left out: what an agent infers from a table shares no word with it.
    """
    for position, intent in enumerate(task.intents, 1):
        if len(content_words(intent.content)) < FEWEST:
            continue
        for place in intent.recoverable_from:
            text = _text(place, task, context)
            wanted = f"{intent.content} {place.note}" if place.note else intent.content
            if text is not None and max(word_overlap(wanted, text), word_overlap(intent.content, text)) < LEAST:
                what = {"session": f"The task “{place.ref}”", "file": f"“{place.ref}”"}.get(place.kind, "The profile")
                yield Flaw(
                    "intents",
                    f"{what} says nothing of this intent.",
                    "Choose the right source, or state it there.",
                    position,
                    other=place.ref if place.kind == "session" else "",
                )


def _text(place: Recovery, task: TaskSpec, context: CheckContext) -> str | None:
    """What stands at that place; None: it cannot be read here."""
    if place.kind == "session":
        other = next((one for one in context.earlier(task) if one.task_id == place.ref), None)
        return (
            f"{established_text(other)}\n{other.reference_workflow}\n{visible_text(other, context)}" if other else None
        )
    if place.kind == "profile":
        return profile_text(context.episode.persona) or None
    return None
