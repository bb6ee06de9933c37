from collections.abc import Iterator

from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.checks.sources import established_text, visible_text
from studio.domain.task import TaskSpec
from studio.domain.text.coverage import word_overlap

MIN_SHARE = 0.12
"""Minimum share of an earlier task's title, request or intent that is mentioned here."""


@rule("dependency-empty", "hint", across_tasks=True)
def dependency_empty(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """A dependency carries something over: words, names, files or wishes that the later session needs."""
    if not any(not dependency.carries_over.strip() for dependency in task.depends_on):
        return
    whole = f"{established_text(task)}\n{visible_text(task, context)}\n{task.reference_workflow}\n{task.description}"
    pieces = (task.initial_request, *(intent.content for intent in task.intents), whole)  # the whole takes longest
    for position, dependency in enumerate(task.depends_on, 1):
        other = context.task(dependency.task_id)
        if other is None or dependency.carries_over.strip() or other.task_id == task.task_id:
            continue
        parts = [other.title, *(intent.content for intent in other.intents), other.initial_request]
        if all(word_overlap(part, here) < MIN_SHARE for here in pieces for part in parts):
            yield Flaw(
                "depends_on",
                f"Nothing that “{dependency.task_id}” establishes is taken up here.",
                "Use what it establishes, or remove the dependency.",
                position,
                other=dependency.task_id,
            )
