from collections.abc import Iterator

from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.checks.sources import established_text, visible_text
from studio.domain.task import TaskSpec
from studio.domain.text.coverage import word_overlap

LEAST = 0.12
"""Share of what one session establishes that the other one has to take up, at its best part."""


@rule("dependency-empty", "hint")
def dependency_empty(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """A dependency carries something over: words, names, files or wishes that the later session needs."""
    here = f"{established_text(task)}\n{visible_text(task, context)}\n{task.reference_workflow}\n{task.description}"
    for position, need in enumerate(task.depends_on, 1):
        other = context.episode.task(need.task_id)
        if other is None or need.carries_over.strip() or other.task_id == task.task_id:
            continue
        parts = [other.title, other.initial_request, *(intent.content for intent in other.intents)]
        if max(word_overlap(part, here) for part in parts) < LEAST:
            yield Flaw(
                "depends_on",
                f"Nothing that “{need.task_id}” establishes is taken up here.",
                "Use what it establishes, or remove the dependency.",
                position,
                other=need.task_id,
            )
