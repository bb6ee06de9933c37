import re
from collections.abc import Iterator

from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.task import TaskSpec

NOTHING = re.compile(
    r"\W*(?:an? |the |my )?(?:untitled|unnamed|no title|title"
    r"|(?:new |test |sample |dummy |first |next )?(?:task|session|draft)"
    r"|tests?|testing|copy|temp|tmp|asdf\w*|x+|n/?a|none|null|\?+)(?:[\s#_.:-]*\d+)?\W*",
    re.IGNORECASE,
)


@rule("empty-title", "warning")
def empty_title(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """A task without a title, or with one that would fit any task, cannot be told apart in lists and reports."""
    if not task.title.strip():
        yield Flaw("title", "The task has no title.", "Write a short title that says what the user wants.")
    elif NOTHING.fullmatch(task.title[:200]) or task.title.strip() == task.task_id:
        yield Flaw(
            "title",
            "The title says nothing about the task.",
            ("Make the title say what the user wants."),
            passage=task.title,
        )
