import re
from collections.abc import Collection, Iterator

from studio.domain.checks.fixes import show_judges
from studio.domain.checks.rule import CheckContext, Flaw, in_field, in_rows, rule
from studio.domain.checks.sources import (
    FILE_NAME,
    base_name,
    created_file_names,
    file_mentions,
    is_created_in,
    is_unbound,
)
from studio.domain.episode import EpisodeSpec
from studio.domain.findings import Finding
from studio.domain.fixes import Fix, SetValue
from studio.domain.task import ChecklistItem, TaskSpec, ToolEvidence
from studio.domain.tool_names import bare_tool_name


def _make_relative(finding: Finding, task: TaskSpec, episode: EpisodeSpec) -> Fix | None:
    path = finding.passage.lstrip("/")
    edit = SetValue(field="files_read", item=finding.item, value=path)
    effect = f"Judges are shown “{path}” of the workspace."
    return Fix(label="Remove the “/”", effect=effect, edits=(edit,)) if path and ".." not in path.split("/") else None


@rule("files-read-absolute", "warning", one_click=_make_relative)
@in_rows("files_read", "Use the file's path inside the workspace, without a leading “/”.")
def files_read_absolute(path: str, task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """Judges are shown files of the workspace; a path outside it is always missing."""
    if path.startswith("/") or ".." in path.split("/"):
        yield Flaw(f"“{path}” is not a path inside the workspace.", passage=path)


@rule("files-read-input", "warning")
@in_rows("files_read", "Remove it, or list it as an output file with what must be changed in it.")
def files_read_input(path: str, task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """Judges take what they are shown for the agent's work, so an input file would count as done."""
    if any(path == file.path for file in task.assets) and path not in task.expected_paths:
        message = f"“{path}” is given to the agent, so judges may mistake its content for the agent's work."
        yield Flaw(message, passage=path)


@rule("files-read-unknown", "warning", across_tasks=True)
@in_field("files_read", "Correct the name, ask for the file in the request or an intent, or list it as an output file.")
def files_read_unknown(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """A file shown to judges comes from somewhere: it is an asset, or something asks for it."""
    tasks = (*context.earlier(task), task) if task.files_read else ()
    assets = {file.path for other in tasks for file in other.assets}
    mentions = "\n".join(
        text
        for other in tasks
        for text in (
            *(other.initial_request, other.reference_workflow, *other.expected_paths),
            *(intent.content for intent in other.intents),
            *(item.criterion for item in other.checklist),
        )
    )
    for position, path in enumerate(task.files_read, 1):
        if path not in assets and base_name(path) not in mentions:
            message = f"“{path}” is not a file of this or an earlier task, and nothing asks for it."
            yield Flaw(message, item=position, passage=path)


@rule("evidence-tool-unbound", "warning")
@in_rows("tool_evidence", "Add it to the persona's tools, or correct the name.")
def evidence_tool_unbound(entry: ToolEvidence, task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """Judges are shown calls of a tool that the agent cannot call. Names without “__” are the workspace's own."""
    if is_unbound(entry.tool, context):
        yield Flaw(f"The persona has no tool “{entry.tool}”: it can never be called.", passage=entry.tool)


@rule("evidence-unshown", "warning", one_click=show_judges)
@in_rows("checklist")
def evidence_unshown(item: ChecklistItem, task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """A judge decides by what is shown, so an item's evidence must be among what the task shows."""
    tools = tuple(bare_tool_name(entry.tool) for entry in task.tool_evidence)
    for source in item.evidence if item.grader != "rule" else ():
        is_file = FILE_NAME.fullmatch(source) and source not in task.files_read
        if is_file or ("__" in source and not bare_tool_name(source).startswith(tools)):
            fix = f"Add it to the {'files' if is_file else 'tools'} judges see, or choose other evidence."
            message = f"The judge should look at “{source}” but is not shown it."
            yield Flaw(message, fix, data=source if is_file else "")


REPLY = re.compile(r"\b(?:reply|replies|answers?|response|responds|message|chat|tells|asks)\b", re.IGNORECASE)
WRITERS = ("write_file", "edit_file")


@rule("output-unread", "warning", across_tasks=True, one_click=show_judges)
@in_field("", "Add it to the files judges see.")
def output_unread(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """Judges see only the files a task shows them, so what the session writes elsewhere is judged unseen."""
    if not any(item.grader == "rubric" for item in task.scored_items):
        return
    if any(entry.tool in WRITERS and entry.call for entry in task.tool_evidence):  # the call shows what is written
        return
    seen = {base_name(path) for path in (*task.files_read, *_left_to_rules(task))}
    given = {base_name(file.path) for other in (*context.earlier(task), task) for file in other.assets}
    for field, item, path in _outputs(task, given):
        if (name := base_name(path)) not in seen:
            seen.add(name)
            message = f"The assistant should write “{path}”, but judges are not shown it."
            yield Flaw(message, field=field, item=item, passage=path, data=path)


def _outputs(task: TaskSpec, given: Collection[str]) -> Iterator[tuple[str, int | None, str]]:
    """Field, item and path of what is expected, and of what else is asked for; ``given`` are names of other files."""
    for position, path in enumerate(task.expected_paths, 1):
        yield "expected_artifacts", position, path
    for match in file_mentions(task.initial_request):
        if (name := base_name(match[0])) not in given and is_created_in(task, name):
            yield "initial_request", None, match[0]
    for position, intent in enumerate(task.intents, 1):
        yield from (("intents", position, name) for name in created_file_names(intent.content) if name not in given)


def _left_to_rules(task: TaskSpec) -> set[str]:
    """Files that rules look at and no judge has to: every other item is about the reply or another file."""
    paths = {item.rule.path for item in task.scored_items if item.grader == "rule" and item.rule}
    judged = [item for item in task.scored_items if item.grader == "rubric"]
    return {path for path in paths if all(_is_about_something_else(item, path) for item in judged)}


def _is_about_something_else(item: ChecklistItem, path: str) -> bool:
    names = {base_name(source) for source in (*(match[0] for match in file_mentions(item.criterion)), *item.evidence)}
    return base_name(path) not in names and (bool(names) or REPLY.search(item.criterion) is not None)
