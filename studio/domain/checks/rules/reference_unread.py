from collections.abc import Iterator

from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.task import TaskSpec


@rule("reference-unread", "hint")
def reference_unread(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """A reference shows what a good file looks like: then something should be asked of that file."""
    if not task.references:
        return
    said = "\n".join(_asked(task, context)).casefold()
    for position, artifact in enumerate(task.expected_artifacts, 1):
        name = artifact.path.rpartition("/")[2]
        if artifact.reference and name.casefold() not in said:
            yield Flaw(
                "expected_artifacts",
                f"“{artifact.path}” has a reference, but no item or intent mentions it.",
                "Add an item for what it must contain, or remove the reference.",
                position,
                words=artifact.path,
            )


def _asked(task: TaskSpec, context: CheckContext) -> Iterator[str]:
    """What intents and items say and name. An item that names no evidence is judged by all that judges are shown."""
    for intent in task.intents:
        yield intent.content
        yield from (place.ref for place in intent.recoverable_from)
    for item in task.scored_items:
        yield item.criterion
        yield from item.evidence
        if item.rule:
            yield item.rule.path
        if item.grader == "rubric" and not item.evidence:
            yield from task.files_read
    if script := context.episode.persona.script(task.grader_script):
        yield context.texts.get(script.sha256, "")
