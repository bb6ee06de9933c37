import re
from collections.abc import Iterable, Iterator
from itertools import islice

from studio.domain.base import FileRef
from studio.domain.caching import cached
from studio.domain.checks.quotes import quote
from studio.domain.checks.rule import CheckContext, Flaw, in_field, in_rows, rule
from studio.domain.checks.sources import (
    base_name,
    created_file_names,
    file_mentions,
    is_created_in,
    opening_text,
    prerequisite_ids,
)
from studio.domain.task import ChecklistItem, ExpectedArtifact, TaskSpec
from studio.domain.text.coverage import word_overlap

RESERVED = {"task.yaml", ".history", ".result", ".eval_result"}


@rule("asset-reserved", "error")
@in_rows("assets", "Rename the file.")
def asset_reserved(file: FileRef, task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """Some names in a task's folder belong to the format and are never copied into the workspace."""
    if file.path.split("/")[0] in RESERVED:
        yield Flaw(f"“{file.path}” is a name of the task's own files: the agent would never get it.", passage=file.path)


@rule("asset-overwrites", "warning", across_tasks=True)
@in_field("", "Rename one of the two.")
def asset_overwrites(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """Assets are copied over the episode's workspace, so a later file replaces an earlier one. A hint if the session
    itself rewrites what an unrelated earlier task is judged by."""
    earlier, known = context.earlier(task), prerequisite_ids(task, context)
    for position, file in enumerate(task.assets, 1):
        for other in earlier:
            if any(file.path == asset.path and file.sha256 != asset.sha256 for asset in other.assets):
                message = f"“{file.path}” replaces the file of the same name that “{other.task_id}” brought."
            elif file.path in _written_paths(other):
                message = f"“{file.path}” replaces what the agent writes in “{other.task_id}”."
            else:
                continue
            fix = "Rename one of the two, unless this is intended."
            yield Flaw(message, fix, "assets", position, file.path, other.task_id)
            break
    written = [("expected_artifacts", position, path) for position, path in enumerate(task.expected_paths, 1)]
    written += [("files_read", n, path) for n, path in enumerate(task.files_read, 1) if path not in task.expected_paths]
    for field, position, path in written:
        judged = (other for other in earlier if other.task_id not in known and path in other.files_read)
        both = (other for other in judged if path in _written_paths(other) & _written_paths(task))
        for other in islice(both, 1):
            message = f"“{path}” is also what “{other.task_id}” is judged by: the later task overwrites it."
            yield Flaw(message, "", field, position, path, other.task_id, severity="hint")


def _written_paths(task: TaskSpec) -> set[str]:
    given = {file.path for file in task.assets}
    return {*task.expected_paths, *created_file_names(task.initial_request), *(set(task.files_read) - given)}


SHARED = 0.2
"""Share of a demand's words that a file may lack and still be its source."""


@rule("asset-unused", "hint", across_tasks=True)
@in_field("assets", "Mention it in the request, add it as the source of an intent, or remove it.")
def asset_unused(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """A file that nothing mentions or needs was left over, or the request forgot to mention it."""
    if not task.assets:
        return
    ids = [task.task_id, *(other.task_id for other in context.later(task))]
    corpus, plain = ([context.once(texts)[task_id] for task_id in ids] for texts in (_texts_by_task, _plain_texts))
    for position, file in enumerate(task.assets, 1):
        name = base_name(file.path)
        stem = name.rpartition(".")[0] or name
        if (
            not any(_is_mentioned(part.casefold(), corpus) for part in (name, *_folders(file.path)))
            and not (len(stem) > 3 and _is_mentioned(_normalized(stem.casefold()), plain))
            and not ((text := context.texts.get(file.sha256, "")) and _is_source_of(text, _demands(task)))
        ):
            yield Flaw(f"Nothing mentions or needs “{file.path}”.", item=position, passage=file.path)


def _texts_by_task(context: CheckContext) -> dict[str, str]:
    tasks = (*context.episode.tasks, *context.episode.unplaced)
    return {task.task_id: _text_about_task(task, context).casefold() for task in tasks}


def _plain_texts(context: CheckContext) -> dict[str, str]:
    return {task_id: _normalized(text) for task_id, text in context.once(_texts_by_task).items()}


def _text_about_task(task: TaskSpec, context: CheckContext) -> str:
    script = context.episode.persona.script(task.grader_script)
    return "\n".join(
        (
            opening_text(task),
            task.description,
            task.reference_workflow,
            *task.files_read,
            *task.expected_paths,
            *(intent.content for intent in task.intents),
            *(f"{source.ref} {source.note}" for intent in task.intents for source in intent.recoverable_from),
            *(item.criterion for item in task.checklist),
            *(path for item in task.checklist for path in item.evidence),
            *(item.rule.path for item in task.checklist if item.rule),
            *(dependency.carries_over for dependency in task.depends_on),
            *(context.texts.get(file.sha256, "") for file in task.assets),
            context.texts.get(script.sha256, "") if script else "",
        )
    )


def _folders(path: str) -> list[str]:
    return [f"{part}/" for part in path.split("/")[:-1]] + [part for part in path.split("/")[:-1] if len(part) > 3]


def _is_mentioned(phrase: str, texts: Iterable[str]) -> bool:
    return any(phrase in text for text in texts)


@cached
def _normalized(text: str) -> str:
    return " ".join(re.sub(r"[\W_]+", " ", text).split())


def _demands(task: TaskSpec) -> tuple[str, ...]:
    return (*(intent.content for intent in task.intents), *(item.criterion for item in task.checklist))


@cached
def _is_source_of(text: str, demands: tuple[str, ...]) -> bool:
    return any(word_overlap(demand, text) > 1 - SHARED for demand in demands)


@rule("artifact-is-input", "warning")
@in_rows("expected_artifacts")
def artifact_is_input(artifact: ExpectedArtifact, task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """A file that was there from the start is no evidence of work, unless a note or reference says what changes in
    it."""
    path = artifact.path
    if any(path == file.path for file in task.assets) and not artifact.note.strip() and not artifact.reference:
        message = f"“{path}” is in the workspace from the start, so leaving it behind shows nothing."
        fix = (
            "Give the result another name; or, if it should be changed in place, say in its note what it must contain."
        )
        yield Flaw(message, fix, passage=path)


@rule("reference-is-input", "warning", across_tasks=True)
@in_field("expected_artifacts", "Attach an example of a good result, or remove the file from the workspace.")
def reference_is_input(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """A reference shows what has to be made; a file the assistant already has needs no work."""
    given = {file.sha256: (file.path, other) for other in (*context.earlier(task), task) for file in other.assets}
    for position, artifact in enumerate(task.expected_artifacts, 1):
        if artifact.reference and artifact.reference.sha256 in given:
            path, giver = given[artifact.reference.sha256]
            other = "" if giver is task else giver.task_id
            same = f"“{path}”{f' of “{other}”' if other else ''}"
            message = f"The reference of “{artifact.path}” is the same as {same}, which the assistant is given."
            yield Flaw(message, item=position, passage=artifact.path, other=other)


@rule("reference-unread", "hint")
@in_field("expected_artifacts", "Add an item for what it must contain, or remove the reference.")
def reference_unread(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """A reference shows what a good file looks like, so something should be asked of that file."""
    asked = "\n".join(_asking_texts(task, context)).casefold() if task.references else ""
    for position, artifact in enumerate(task.expected_artifacts, 1):
        if artifact.reference and base_name(artifact.path).casefold() not in asked:
            message = f"“{artifact.path}” has a reference, but no item or intent mentions it."
            yield Flaw(message, item=position, passage=artifact.path)


def _asking_texts(task: TaskSpec, context: CheckContext) -> Iterator[str]:
    """An item that names no evidence is judged by everything judges are shown."""
    for intent in task.intents:
        yield intent.content
        yield from (source.ref for source in intent.recoverable_from)
    for item in task.scored_items:
        yield item.criterion
        yield from item.evidence
        if item.rule:
            yield item.rule.path
        if item.grader == "rubric" and not item.evidence:
            yield from task.files_read
    if script := context.episode.persona.script(task.grader_script):
        yield context.texts.get(script.sha256, "")


@rule("criterion-file-unmade", "warning", across_tasks=True)
@in_field("checklist", "Name the file in the request, an intent or the expected files.")
def criterion_file_unmade(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """An item about a file that nobody is told to make, and that is not there, fails by chance."""
    files = [(position, paths) for position, item in enumerate(task.checklist, 1) if (paths := _files_of(item))]
    if not files:
        return
    tasks = (*context.earlier(task), task)
    skills = (file for skill in context.episode.persona.skills for file in skill.files)
    known = {
        *(file.path for file in (*(file for other in tasks for file in other.assets), *skills)),
        *(path for other in tasks for path in (*other.expected_paths, *created_file_names(_wishes(other)))),
    }
    names = {base_name(path).casefold() for path in known}
    texts = "\n".join(_wishes(other) for other in tasks).casefold()
    for position, paths in files:
        for path in paths:
            name = base_name(path)
            if name.casefold() not in names and name.casefold() not in texts and not is_created_in(task, name):
                message = f"The item is about {quote(path)}, which nothing asks the assistant to make."
                passage = path if path in task.checklist[position - 1].criterion else ""
                yield Flaw(message, item=position, passage=passage)
                break


def _wishes(task: TaskSpec) -> str:
    return "\n".join((task.initial_request, *(intent.content for intent in task.intents)))


def _files_of(item: ChecklistItem) -> list[str]:
    if not item.criterion.strip():
        return []
    ruled = [item.rule.path] if item.grader == "rule" and item.rule and item.rule.kind != "file_lacks" else []
    return list(dict.fromkeys((*filter(None, ruled), *(match[0] for match in file_mentions(item.criterion)))))
