import re
from collections.abc import Iterator

from studio.domain.checks.rule import Flaw, Scene, rule
from studio.domain.checks.sources import given, profile, told
from studio.domain.task import TaskSpec
from studio.domain.text.coverage import anywhere

_LAST = r"(?:before|earlier|last (?:time|year|month|week))"
_TALKED = r"(?:agreed|discussed|decided|settled)"
BACK = re.compile(
    rf"\b(?:as (?:we )?(?:{_TALKED}|usual|always|in the past|{_LAST})|(?:like|same as) {_LAST}"
    rf"|(?:we|I) {_TALKED} (?:on )?(?:that |it |this )?{_LAST})\b",
    re.IGNORECASE,
)
THERE = 0.4
"""Share of an intent's words that a session, the profile or a file has to have, to be what it calls back."""


@rule("intent-from-nowhere", "hint")
def intent_from_nowhere(task: TaskSpec, scene: Scene) -> Iterator[Flaw]:
    """What an intent calls back, “as agreed”, was agreed somewhere the agent can look: an earlier session, the
    profile, a file (paper, Table 10)."""
    for position, intent in enumerate(task.intents, 1):
        found = BACK.search(intent.content[:2_000])
        if found is None or any(place.kind != "question" for place in intent.recoverable_from):
            continue
        wanted = BACK.sub(" ", intent.content[:2_000])
        sources = [profile(scene.episode.persona), given(task, scene).removeprefix(task.initial_request)]
        sources += [f"{told(other)}\n{given(other, scene)}" for other in scene.earlier(task)]
        if all(anywhere(wanted, text) < THERE for text in sources):
            yield Flaw(
                "intents",
                f"“{found[0]}”: no earlier task, file or profile says so.",
                "State it in one of them, or remove this text.",
                position,
                words=found[0],
            )
