from collections.abc import Iterator

from studio.domain.checks.rule import Flaw, Scene, rule
from studio.domain.checks.sources import given, profile, told
from studio.domain.task import Recovery, TaskSpec
from studio.domain.text.coverage import anywhere
from studio.domain.text.words import content

LEAST = 0.2
"""Share of an intent's words that the place it is recovered from has to have: an agent has to see that it is about
this, not to read it there word for word."""
FEWEST = 3


@rule("recovery-not-there", "hint")
def recovery_not_there(task: TaskSpec, scene: Scene) -> Iterator[Flaw]:
    """The session or the profile from which an intent is to be recovered speaks of it.

    Files are left out: what an agent infers from a table shares no word with it.
    """
    for position, intent in enumerate(task.intents, 1):
        if len(content(intent.content)) < FEWEST:
            continue
        for place in intent.recoverable_from:
            text = _text(place, task, scene)
            wanted = f"{intent.content} {place.note}" if place.note else intent.content
            if text is not None and max(anywhere(wanted, text), anywhere(intent.content, text)) < LEAST:
                what = {"session": f"The task “{place.ref}”", "file": f"“{place.ref}”"}.get(place.kind, "The profile")
                yield Flaw(
                    "intents",
                    f"{what} says nothing of this intent.",
                    "Choose the right source, or state it there.",
                    position,
                    other=place.ref if place.kind == "session" else "",
                )


def _text(place: Recovery, task: TaskSpec, scene: Scene) -> str | None:
    """What stands at that place; None: it cannot be read here."""
    if place.kind == "session":
        other = next((one for one in scene.earlier(task) if one.task_id == place.ref), None)
        return f"{told(other)}\n{other.reference_workflow}\n{given(other, scene)}" if other else None
    if place.kind == "profile":
        return profile(scene.episode.persona) or None
    return None
