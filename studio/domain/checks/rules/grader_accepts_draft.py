import re
from collections.abc import Iterator

from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.checks.scripts import script_of
from studio.domain.graders.histories import RECIPIENT, drafts, sends
from studio.domain.task import TaskSpec

SENT = re.compile(r"(?:^|[_\W])(?:sent|sends?|emailed|mailed|notified|recipients?|messaged|texted)(?:[_\W]|$)", re.I)


@rule("grader-accepts-draft", "warning")
def grader_accepts_draft(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """A draft, or a message to the wrong person, must not pass for a message that was sent."""
    script = script_of(task, context)
    if script is None:
        return
    reading, report = script.reading, script.report
    drafted = {key for key in report.by_draft if SENT.search(key)} if report else set()
    for key in sorted(drafted):
        yield Flaw(
            "grader_script",
            f"“{key}” is earned by a draft that is never sent.",
            "Count only the tools that send; a draft counts once it is sent.",
            passage=key,
        )
    strangers = [key for key in report.by_anyone if SENT.search(key) and key not in drafted] if report else []
    for key in strangers:
        yield Flaw(
            "grader_script",
            f"“{key}” is earned by a message to anyone.",
            "Check the recipient, for sent drafts too.",
            passage=key,
        )
    if drafted or strangers:
        return
    sending = [tool for tool in reading.tool_names if sends(tool) and not drafts(tool)]
    if sending and not any(RECIPIENT.search(name) for name in reading.arguments):
        yield Flaw(
            "grader_script",
            f"“{script.name}” looks at messages sent with “{sending[0]}” and never at who gets them.",
            "Check that the recipient is the intended one.",
            passage=sending[0],
        )
