from collections.abc import Iterator

from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.task import TaskSpec


@rule("reference-unread", "hint")
def reference_unread(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """A reference shows what a good file looks like, so something should be asked of that file."""
    if not task.references:
        return
    asked = "\n".join(_asking_texts(task, context)).casefold()
    for position, artifact in enumerate(task.expected_artifacts, 1):
        name = artifact.path.rpartition("/")[2]
        if artifact.reference and name.casefold() not in asked:
            yield Flaw(
                "expected_artifacts",
                f"“{artifact.path}” has a reference, but no item or intent mentions it.",
                "Add an item for what it must contain, or remove the reference.",
                position,
                passage=artifact.path,
            )


def _asking_texts(task: TaskSpec, context: CheckContext) -> Iterator[str]:
    """An item that names no evidence is judged by everything judges are shown."""
    for intent in task.intents:
        yield intent.content
        yield from (source.ref for source in intent.recoverable_from)
    for item in task.scored_items:
        yield item.criterion
        yield from item.evidence
        if item.rule:
            yield item.rule.path
        if item.grader == "rubric" and not item.evidence:
            yield from task.files_read
    if script := context.episode.persona.script(task.grader_script):
        yield context.texts.get(script.sha256, "")
