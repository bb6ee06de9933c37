from collections.abc import Iterator

from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.checks.rule_proposals import proposed_check, referenced_file
from studio.domain.task import TaskSpec
from studio.domain.text.exactness import describe_check, exactness


@rule("criterion-should-be-rule", "warning")
def criterion_should_be_rule(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """An exact check decides the same way every time, at no cost (paper, Table 11)."""
    for position, item in enumerate(task.checklist, 1):
        if item.grader == "rule" or not (exact := exactness(item.criterion)):
            continue
        text = exact.texts[0]
        yield Flaw(
            "checklist",
            "An exact check could decide this; a judge is asked instead.",
            f"Make it a rule: {describe_check(exact, referenced_file(item.criterion, task))}.",
            position,
            passage=text if text in item.criterion else "",
            proposal=proposed_check(item, task, task.tools or context.episode.persona.tools),
            severity="warning" if exact.sure else "hint",
        )
