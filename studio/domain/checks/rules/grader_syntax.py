from collections.abc import Iterator

from studio.domain.checks.quotes import quote
from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.checks.scripts import script_of
from studio.domain.task import TaskSpec


@rule("grader-syntax", "error")
def grader_syntax(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """A grader script is valid Python and defines ``score``."""
    script = script_of(task, context)
    if script is None:
        return
    reading = script.reading
    if reading.problem:
        where = f"line {reading.line} of “{script.name}”" if reading.line else f"“{script.name}”"
        excerpt = f": {quote(reading.line_text)}" if reading.line_text else ""
        yield Flaw(
            "grader_script",
            f"Python cannot read {where}{excerpt} ({reading.problem}).",
            "Open the script and fix that line." if reading.line else "Open the script and fix it.",
            passage=reading.line_text,
        )
    elif not reading.scores:
        yield Flaw(
            "grader_script",
            f"“{script.name}” defines no function “score”, so it grades nothing.",
            "Define score(tools_history), which returns every key with 0 or 1.",
        )
