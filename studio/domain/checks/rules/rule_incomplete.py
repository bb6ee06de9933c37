from collections.abc import Iterator

from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.task import TaskSpec

REQUIRED_FIELDS = {
    "file_exists": ("path",),
    "file_contains": ("path", "text"),
    "file_lacks": ("path", "text"),
    "reply_contains": ("text",),
    "reply_lacks": ("text",),
    "tool_called": ("tool",),
    "record_exists": ("table",),
    "record_gone": ("table",),
    "nothing_else_changed": (),
}
PHRASES = {"path": "a file", "text": "the text to look for", "tool": "a tool", "table": "the kind of record"}


@rule("rule-incomplete", "error")
def rule_incomplete(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """An exact check says what it looks at."""
    for position, item in enumerate(task.checklist, 1):
        if item.grader != "rule":
            continue
        if item.rule is None:
            yield Flaw(
                "checklist",
                "The item is graded by a rule but has none.",
                "Choose what to check, or let a judge grade it.",
                position,
            )
            continue
        if item.rule.kind in ("record_exists", "record_gone") and not (item.rule.arguments or item.rule.containing):
            fix = "Say at least one field, such as “title = Plan”."
            yield Flaw("checklist", "Any record would meet the rule.", fix, position)
        for name in REQUIRED_FIELDS[item.rule.kind]:
            if not getattr(item.rule, name).strip():
                yield Flaw("checklist", f"The rule does not name {PHRASES[name]}.", f"Name {PHRASES[name]}.", position)
