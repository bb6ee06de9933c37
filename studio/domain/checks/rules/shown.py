import re
from collections.abc import Iterator

from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.checks.sources import FILE_NAME, created_file_names, file_mentions, is_created_in
from studio.domain.task import ChecklistItem, TaskSpec
from studio.domain.tool_names import bare_tool_name


@rule("files-read-absolute", "warning")
def files_read_absolute(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """Judges are shown files of the workspace; a path outside it is always missing."""
    for position, path in enumerate(task.files_read, 1):
        if path.startswith("/") or ".." in path.split("/"):
            yield Flaw(
                "files_read",
                f"“{path}” is not a path inside the workspace.",
                "Use the file's path inside the workspace, without a leading “/”.",
                position,
                passage=path,
            )


@rule("files-read-input", "warning")
def files_read_input(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """Judges take what they are shown for the agent's work, so an input file would count as done."""
    given = {file.path for file in task.assets}
    for position, path in enumerate(task.files_read, 1):
        if path in given and path not in task.expected_paths:
            yield Flaw(
                "files_read",
                f"“{path}” is given to the agent, so judges may mistake its content for the agent's work.",
                "Remove it, or list it as an output file with what must be changed in it.",
                position,
                passage=path,
            )


@rule("files-read-unknown", "warning", across_tasks=True)
def files_read_unknown(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """A file shown to judges comes from somewhere: it is an asset, or something asks for it."""
    if not task.files_read:
        return
    tasks = (*context.earlier(task), task)
    assets = {file.path for other in tasks for file in other.assets}
    mentions = "\n".join(
        text
        for other in tasks
        for text in (
            other.initial_request,
            other.reference_workflow,
            *other.expected_paths,
            *(intent.content for intent in other.intents),
            *(item.criterion for item in other.checklist),
        )
    )
    for position, path in enumerate(task.files_read, 1):
        name = path.rpartition("/")[2]
        if path not in assets and name not in mentions:
            yield Flaw(
                "files_read",
                f"“{path}” is not a file of this or an earlier task, and nothing asks for it.",
                "Correct the name, ask for the file in the request or an intent, or list it as an output file.",
                position,
                passage=path,
            )


@rule("evidence-tool-unbound", "warning")
def evidence_tool_unbound(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """Judges are shown calls of a tool that the agent cannot call. Names without “__” are the workspace's own."""
    bound = {bare_tool_name(tool) for tool in context.episode.persona.tools}
    for position, entry in enumerate(task.tool_evidence, 1):
        if "__" in entry.tool and bare_tool_name(entry.tool) not in bound:
            yield Flaw(
                "tool_evidence",
                f"The persona has no tool “{entry.tool}”: it can never be called.",
                "Add it to the persona's tools, or correct the name.",
                position,
                passage=entry.tool,
            )


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
                yield _unshown(position, source, "files", data=source)
            elif "__" in source and not any(bare_tool_name(source).startswith(tool) for tool in tools):
                yield _unshown(position, source, "tools")


def _unshown(position: int, source: str, kind: str, data: str = "") -> Flaw:
    return Flaw(
        "checklist",
        f"The judge should look at “{source}” but is not shown it.",
        f"Add it to the {kind} judges see, or choose other evidence.",
        position,
        data=data,
    )


REPLY = re.compile(r"\b(?:reply|replies|answers?|response|responds|message|chat|tells|asks)\b", re.IGNORECASE)
WRITERS = ("write_file", "edit_file")


@rule("output-unread", "warning", across_tasks=True)
def output_unread(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """Judges see only the files a task shows them, so what the session writes elsewhere is judged unseen."""
    if not any(item.grader == "rubric" for item in task.scored_items):
        return
    if any(entry.tool in WRITERS and entry.call for entry in task.tool_evidence):  # the call shows what is written
        return
    seen = {path.rpartition("/")[2] for path in (*task.files_read, *_left_to_rules(task))}
    for position, path in enumerate(task.expected_paths, 1):
        if path.rpartition("/")[2] not in seen:
            seen.add(path.rpartition("/")[2])
            yield _unread("expected_artifacts", position, path)
    given = {file.path.rpartition("/")[2] for other in (*context.earlier(task), task) for file in other.assets}
    for match in file_mentions(task.initial_request):
        name = match[0].rpartition("/")[2]
        if name not in seen | given and is_created_in(task, name):
            seen.add(name)
            yield _unread("initial_request", None, match[0])
    for position, intent in enumerate(task.intents, 1):
        for name in created_file_names(intent.content) - seen - given:
            seen.add(name)
            yield _unread("intents", position, name)


def _left_to_rules(task: TaskSpec) -> set[str]:
    """Files that rules look at and no judge has to: every other item is about the reply or another file."""
    paths = {item.rule.path for item in task.scored_items if item.grader == "rule" and item.rule}
    judged = [item for item in task.scored_items if item.grader == "rubric"]
    return {path for path in paths if all(_is_about_something_else(item, path) for item in judged)}


def _is_about_something_else(item: ChecklistItem, path: str) -> bool:
    names = {match[0].rpartition("/")[2] for match in file_mentions(item.criterion)}
    names |= {source.rpartition("/")[2] for source in item.evidence}
    return path.rpartition("/")[2] not in names and (bool(names) or REPLY.search(item.criterion) is not None)


def _unread(field: str, item: int | None, path: str) -> Flaw:
    return Flaw(
        field,
        f"The assistant should write “{path}”, but judges are not shown it.",
        "Add it to the files judges see.",
        item,
        passage=path,
        data=path,
    )
