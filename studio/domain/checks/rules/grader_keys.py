import re
from collections.abc import Iterator

from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.checks.scripts import script_of
from studio.domain.task import TaskSpec

NAMED = re.compile(r"\[tools\]\s+([^\s,;]+)")


@rule("grader-no-keys", "error")
def grader_no_keys(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """Given no calls, a grader script returns all its keys: the task is scored by them."""
    script = script_of(task, context)
    if script is None or script.report is None or script.reading.problem or not script.reading.scores:
        return
    if script.report.keys is None:
        yield Flaw(
            "grader_script",
            f"“{script.name}” does not report what it checks: {script.report.problem.rstrip('.')}.",
            "Have the script return each of its checks with 0 when nothing was done: score([]).",
        )


@rule("grader-key-unknown", "warning")
def grader_key_unknown(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """A key that an item names as “[tools] key” is one the task's script returns, and it is not scored twice."""
    named = mentioned_keys(task)
    if not named:
        return
    script = script_of(task, context)
    keys = script.report.keys if script and script.report else None
    if script and keys is None:
        return
    for position, key, text in named:
        passage = key if key in task.checklist[position - 1].criterion else ""
        if key not in (keys or ()):
            given = f"the script has {', '.join(keys)}" if keys else "the task has no script that has any"
            yield Flaw(
                "checklist",
                f"No grader script of this task has a check “{key}”: {given}.",
                "Correct the name, or make the script return it.",
                position,
                passage=passage,
            )
        elif text == task.checklist[position - 1].criterion and text.strip() == f"[tools] {key}":
            yield Flaw(
                "checklist",
                f"The script scores “{key}” already, with weight 1: this item counts it twice.",
                "Remove the item.",
                position,
                passage=passage,
            )


def mentioned_keys(task: TaskSpec) -> list[tuple[int, str, str]]:
    return [
        (position, match[1].strip("“”\"'`."), text)
        for position, item in enumerate(task.checklist, 1)
        for text in (item.criterion, *item.evidence)
        for match in NAMED.finditer(text)
    ]
