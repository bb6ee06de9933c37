from collections.abc import Iterator

from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.task import TaskSpec


@rule("grader-missing", "warning")
def grader_missing(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """The checks of a missing script stay ungraded."""
    if task.grader_script and context.episode.persona.script(task.grader_script) is None:
        yield Flaw(
            "grader_script",
            f"The grader script “{task.grader_script.strip()}” is not among the persona's files.",
            "Upload it, choose another script, or select none.",
            passage=task.grader_script,
        )
