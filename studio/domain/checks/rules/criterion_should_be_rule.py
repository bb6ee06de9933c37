from collections.abc import Iterator

from studio.domain.checks.rule import Flaw, Scene, rule
from studio.domain.checks.rule_proposals import file_meant, proposed_check
from studio.domain.task import TaskSpec
from studio.domain.text.exactness import exactness, propose


@rule("criterion-should-be-rule", "warning")
def criterion_should_be_rule(task: TaskSpec, scene: Scene) -> Iterator[Flaw]:
    """What an exact check can decide is decided the same way every time, and for nothing (paper, Table 11)."""
    for position, item in enumerate(task.checklist, 1):
        if item.grader == "rule" or not (exact := exactness(item.criterion)):
            continue
        words = exact.texts[0]
        yield Flaw(
            "checklist",
            "An exact check could decide this; a judge is asked instead.",
            f"Make it a rule: {propose(exact, file_meant(item.criterion, task))}.",
            position,
            words=words if words in item.criterion else "",
            proposal=proposed_check(item, task, task.tools or scene.episode.persona.tools),
            severity="warning" if exact.sure else "hint",
        )
