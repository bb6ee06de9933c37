from collections.abc import Iterator

from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.checks.sources import FILE_NAME
from studio.domain.task import TaskSpec
from studio.domain.tool_names import bare_tool_name


@rule("evidence-unshown", "warning")
def evidence_unshown(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """A judge decides by what is shown, so an item's evidence must be among what the task shows."""
    shown = set(task.files_read)
    tools = {bare_tool_name(entry.tool) for entry in task.tool_evidence}
    for position, item in enumerate(task.checklist, 1):
        if item.grader == "rule":
            continue
        for source in item.evidence:
            if FILE_NAME.fullmatch(source) and source not in shown:
                yield _flaw(position, source, "files", data=source)
            elif "__" in source and not any(bare_tool_name(source).startswith(tool) for tool in tools):
                yield _flaw(position, source, "tools")


def _flaw(position: int, source: str, kind: str, data: str = "") -> Flaw:
    return Flaw(
        "checklist",
        f"The judge should look at “{source}” but is not shown it.",
        f"Add it to the {kind} judges see, or choose other evidence.",
        position,
        data=data,
    )
