from collections.abc import Iterator

from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.checks.rule_proposals import counts_as_several, find_call, obstacle, proposed_check, referenced_file
from studio.domain.task import TaskSpec
from studio.domain.text.exactness import describe_check, exactness


@rule("criterion-should-be-rule", "warning")
def criterion_should_be_rule(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """An exact check decides the same way every time, at no cost (paper, Table 11). A rule is offered only if it
    decides the whole criterion."""
    for position, item in enumerate(task.checklist, 1):
        if item.grader == "rule":
            continue
        exact = exactness(item.criterion)
        proposal = proposed_check(item, task, task.tools or context.episode.persona.tools)
        if proposal and proposal.kind == "tool_called":
            call = find_call(item.criterion)
            yield Flaw(
                "checklist",
                "An exact check could decide this; a judge is asked instead.",
                f"Make it a rule: the tool “{proposal.tool}” was called.",
                position,
                passage=call[0] if call else "",
                proposal=proposal,
            )
        elif exact:
            instead = obstacle(item.criterion)
            is_part = counts_as_several(item.criterion)
            text = exact.texts[0]
            yield Flaw(
                "checklist",
                "An exact check could decide part of this."
                if is_part
                else "An exact check could decide this; a judge is asked instead.",
                instead or f"Make it a rule: {describe_check(exact, referenced_file(item.criterion, task))}.",
                position,
                passage=text if text in item.criterion else "",
                proposal=proposal,
                severity="warning" if exact.sure and not is_part else "hint",
            )
