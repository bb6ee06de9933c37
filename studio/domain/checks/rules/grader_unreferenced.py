from collections.abc import Iterator

from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.task import TaskSpec


@rule("grader-unreferenced", "warning", across_tasks=True)
def grader_unreferenced(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """A script that no task names grades nothing. Reported at the task whose id it contains, otherwise at the first."""
    persona = context.episode.persona
    if not persona.scripts:
        return
    tasks = (*context.episode.tasks, *context.episode.unplaced)
    named = {script.path for other in tasks if (script := persona.script(other.grader_script)) is not None}
    for script in persona.scripts:
        if script.path in named:
            continue
        owner = next((other for other in tasks if other.task_id in script.path), tasks[0])
        if owner.task_id == task.task_id:
            yield Flaw(
                "grader_script",
                f"No task names the grader script “{script.path}”.",
                "Choose it as this task's grader script, or remove it from the persona.",
                passage=script.path if script.path in task.grader_script else "",
            )
