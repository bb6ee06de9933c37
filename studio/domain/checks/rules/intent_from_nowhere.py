import re
from collections.abc import Iterator

from studio.domain.bounded_cache import cached
from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.checks.sources import established_text, profile_text, visible_text
from studio.domain.task import TaskSpec
from studio.domain.text.coverage import word_overlap

_LAST = r"(?:before|earlier|last (?:time|year|month|week))"
_TALKED = r"(?:agreed|discussed|decided|settled)"
BACK_REFERENCE = re.compile(
    rf"\b(?:as (?:we )?(?:{_TALKED}|usual|always|in the past|{_LAST})|(?:like|same as) {_LAST}"
    rf"|(?:we|I) {_TALKED} (?:on )?(?:that |it |this )?{_LAST})\b",
    re.IGNORECASE,
)
MIN_SHARE = 0.4
"""Share of an intent's words that its origin must contain."""


@rule("intent-from-nowhere", "hint", across_tasks=True)
def intent_from_nowhere(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """What an intent refers back to (“as agreed”) is in an earlier session, the profile or a file (paper, Table 10)."""
    for position, intent in enumerate(task.intents, 1):
        passage = _back_reference(intent.content)
        if not passage or any(source.kind != "question" for source in intent.recoverable_from):
            continue
        wanted = BACK_REFERENCE.sub(" ", intent.content[:2_000])
        sources = [
            profile_text(context.episode.persona),
            visible_text(task, context).removeprefix(task.initial_request),
        ]
        sources += [f"{established_text(other)}\n{visible_text(other, context)}" for other in context.earlier(task)]
        if all(word_overlap(wanted, text) < MIN_SHARE for text in sources):
            yield Flaw(
                "intents",
                f"“{passage}”: no earlier task, file or profile says so.",
                "State it in one of them, or remove this text.",
                position,
                passage=passage,
            )


@cached(300_000)
def _back_reference(intent: str) -> str:
    match = BACK_REFERENCE.search(intent[:2_000])
    return match[0] if match else ""
