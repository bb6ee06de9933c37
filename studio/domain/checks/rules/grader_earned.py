from collections.abc import Iterator

from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.checks.scripts import script_of
from studio.domain.task import TaskSpec


@rule("grader-key-always", "warning")
def grader_key_always(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """No key is earned whatever the agent does: by no calls, and in every other history tried."""
    script = script_of(task, context)
    if script is None or script.report is None:
        return
    for key in script.report.always:
        yield Flaw(
            "grader_script",
            f"“{key}” is earned by doing nothing, and in each of {script.report.tried} trial runs.",
            "Make the script check what the agent has to do, or remove the key.",
            passage=key,
        )


@rule("grader-key-never", "hint")
def grader_key_never(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """Every key can be earned. Silent about scripts that parse text or fail on a history, because the histories are too
    simple to earn their keys."""
    script = script_of(task, context)
    if script is None or script.report is None or script.report.failed or script.reading.parses:
        return
    for key in script.report.never:
        yield Flaw(
            "grader_script",
            f"None of {script.report.tried} trial runs, made of the script's own words and tools, earned “{key}”.",
            "Run the script on an example that should earn it, and see which line is not reached.",
            passage=key,
        )
