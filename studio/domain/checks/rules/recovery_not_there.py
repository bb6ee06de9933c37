from collections.abc import Iterator

from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.checks.sources import established_text, profile_text, visible_text
from studio.domain.task import Recovery, TaskSpec
from studio.domain.text.coverage import word_overlap
from studio.domain.text.words import content_words

MIN_SHARE = 0.2
"""Minimum share of an intent's words that its source contains: enough to show what it is about, not to state it."""
MIN_WORDS = 3


@rule("recovery-not-there", "hint", across_tasks=True)
def recovery_not_there(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """The session or profile from which an intent can be recovered mentions it. Files are exempt: what an agent infers
    from a table need not share a word with it."""
    for position, intent in enumerate(task.intents, 1):
        if len(content_words(intent.content)) < MIN_WORDS:
            continue
        for source in intent.recoverable_from:
            text = _text(source, task, context)
            wanted = f"{intent.content} {source.note}" if source.note else intent.content
            if text is not None and max(word_overlap(wanted, text), word_overlap(intent.content, text)) < MIN_SHARE:
                what = {"session": f"The task “{source.ref}”", "file": f"“{source.ref}”"}.get(
                    source.kind, "The profile"
                )
                yield Flaw(
                    "intents",
                    f"{what} says nothing of this intent.",
                    "Choose the right source, or state it there.",
                    position,
                    other=source.ref if source.kind == "session" else "",
                )


def _text(source: Recovery, task: TaskSpec, context: CheckContext) -> str | None:
    if source.kind == "session":
        other = next((earlier for earlier in context.earlier(task) if earlier.task_id == source.ref), None)
        return (
            f"{established_text(other)}\n{other.reference_workflow}\n{visible_text(other, context)}" if other else None
        )
    if source.kind == "profile":
        return profile_text(context.episode.persona) or None
    return None
