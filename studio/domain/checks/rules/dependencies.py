from collections.abc import Iterator

from studio.domain.checks.fixes import remove_row
from studio.domain.checks.rule import CheckContext, Flaw, in_field, in_rows, rule
from studio.domain.checks.sources import established_text, visible_text
from studio.domain.plan import Gap, dependency_groups, episode_shape, find_gaps
from studio.domain.task import Dependency, TaskSpec
from studio.domain.text.coverage import word_overlap


@rule("dependency-itself", "error", one_click=remove_row)
@in_rows("depends_on", "Remove this dependency.")
def dependency_itself(dependency: Dependency, task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """A task cannot come before itself."""
    if dependency.task_id == task.task_id:
        yield Flaw("The task depends on itself.")


@rule("dependency-twice", "error", one_click=remove_row)
@in_field("depends_on", "Remove one of the two.")
def dependency_twice(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """Each dependency is listed once; otherwise its intents would count twice."""
    seen = set()
    for position, dependency in enumerate(task.depends_on, 1):
        if dependency.task_id in seen:
            yield Flaw(f"“{dependency.task_id}” is named twice.", item=position, other=dependency.task_id)
        seen.add(dependency.task_id)


@rule("dependency-unknown", "error", across_tasks=True, one_click=remove_row)
@in_field("depends_on", "Choose an earlier task of the episode, or remove this dependency.")
def dependency_unknown(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """A dependency is a task of the same episode."""
    placed = {other.task_id for other in context.episode.tasks}
    for position, dependency in enumerate(task.depends_on, 1):
        if dependency.task_id not in placed and dependency.task_id != task.task_id:
            yield Flaw(f"The episode has no task “{dependency.task_id}”.", item=position, other=dependency.task_id)


@rule("dependency-order", "error", across_tasks=True)
@in_field("depends_on", "Move one of the two, or remove this dependency.")
def dependency_order(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """A dependency runs before the task that needs it."""
    order = [other.task_id for other in context.episode.tasks]
    if task.task_id not in order:
        return
    for position, dependency in enumerate(task.depends_on, 1):
        if dependency.task_id in order and order.index(dependency.task_id) > order.index(task.task_id):
            yield Flaw(f"“{dependency.task_id}” runs later than this task.", item=position, other=dependency.task_id)


@rule("dependency-scored", "error", across_tasks=True)
@in_rows("depends_on", "Move its checklist and its script to this task, or remove this dependency.")
def dependency_scored(dependency: Dependency, task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """A task that others build on is scored through them and has neither criteria nor a grader of its own."""
    other = context.task(dependency.task_id)
    if other is not None and not other.is_setup:
        yield Flaw(
            f"“{dependency.task_id}” has its own scoring, but a task that others "
            f"build on should be scored through them.",
            other=dependency.task_id,
        )


MIN_SHARE = 0.12
"""Minimum share of an earlier task's title, request or intent that is mentioned here."""


@rule("dependency-empty", "hint", across_tasks=True)
@in_field("depends_on", "Use what it establishes, or remove the dependency.")
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
                f"Nothing that “{dependency.task_id}” establishes is taken up here.",
                item=position,
                other=dependency.task_id,
            )


@rule("dependent-unscored", "error")
@in_field("checklist", "Add criteria or a grader script, or remove its dependencies.")
def dependent_unscored(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """A group is scored at its last task."""
    if task.depends_on and task.is_setup:
        yield Flaw("The task builds on earlier ones and nothing scores it.")


@rule("setup-unused", "warning", across_tasks=True)
@in_field("checklist", "Add criteria, or let a later task depend on it.")
def setup_unused(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """A task without criteria counts only through the tasks that depend on it."""
    if not task.is_setup or task.depends_on:
        return
    if not any(task.task_id == d.task_id for other in context.episode.tasks for d in other.depends_on):
        yield Flaw("Nothing scores this task, and no other task builds on it.")


@rule("unplaced", "warning", across_tasks=True)
@in_field("task_id", "Place it on the episode's board, or retire it.")
def unplaced(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """A task outside the episode never runs."""
    if not any(other.task_id == task.task_id for other in context.episode.tasks):
        yield Flaw("The task is not in the episode and never runs.")


@rule("group-size", "warning", across_tasks=True)
@in_field("depends_on")
def group_size(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """A dependency group has as many tasks as the benchmark's plan says. Reported at its first task; silent while the
    episode is unfinished."""
    for gap in context.once(_gaps):
        if gap.kind == "group-size" and not gap.unfinished and gap.tasks[0] == task.task_id:
            yield Flaw(gap.message, gap.fix, other=gap.tasks[-1] if len(gap.tasks) > 1 else "")


def _gaps(context: CheckContext) -> list[Gap]:
    return find_gaps(episode_shape(context.episode), context.known.plan)


@rule("too-many-groups", "warning", across_tasks=True)
@in_field("depends_on", "Remove a group, or change the benchmark's plan.")
def too_many_groups(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """An episode has as many dependency groups as the benchmark's plan says. Reported at the first task of each extra
    group."""
    groups = context.once(_groups)
    for group in groups[context.known.plan.groups :]:
        if group[0] == task.task_id:
            yield Flaw(f"The episode has {len(groups)} dependency groups, and the plan is {context.known.plan.groups}.")


def _groups(context: CheckContext) -> list[tuple[str, ...]]:
    return dependency_groups(context.episode.tasks)
