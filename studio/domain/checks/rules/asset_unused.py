import re
from collections.abc import Iterable, Iterator

from studio.domain.bounded_cache import cached
from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.checks.sources import opening_text
from studio.domain.task import TaskSpec
from studio.domain.text.coverage import word_overlap

SHARED = 0.2
"""Share of a demand's words that a file may lack and still be its source."""


@rule("asset-unused", "hint", across_tasks=True)
def asset_unused(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """A file that nothing mentions or needs was left over, or the request forgot to mention it."""
    if not task.assets:
        return
    ids = [other.task_id for other in context.episode.tasks]
    later = context.episode.tasks[ids.index(task.task_id) + 1 :] if task.task_id in ids else ()
    texts, plain = context.once(_texts_by_task), context.once(_plain_texts)
    ids = [other.task_id for other in (task, *later)]
    corpus = [texts[task_id] for task_id in ids]
    for position, file in enumerate(task.assets, 1):
        name = file.path.rpartition("/")[2]
        stem = name.rpartition(".")[0] or name
        if _is_mentioned(name.casefold(), corpus) or (
            len(stem) > 3 and _is_mentioned(_normalized(stem.casefold()), (plain[task_id] for task_id in ids))
        ):
            continue
        text = context.texts.get(file.sha256, "")
        if any(_is_mentioned(folder.casefold(), corpus) for folder in _folders(file.path)) or (
            text and _is_source_of(text, _demands(task))
        ):
            continue
        yield Flaw(
            "assets",
            f"Nothing mentions or needs “{file.path}”.",
            "Mention it in the request, add it as the source of an intent, or remove it.",
            position,
            passage=file.path,
        )


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


@cached(2_000_000)
def _normalized(text: str) -> str:
    return " ".join(re.sub(r"[\W_]+", " ", text).split())


def _demands(task: TaskSpec) -> tuple[str, ...]:
    return (*(intent.content for intent in task.intents), *(item.criterion for item in task.checklist))


@cached(1_000_000)
def _is_source_of(text: str, demands: tuple[str, ...]) -> bool:
    return any(word_overlap(demand, text) > 1 - SHARED for demand in demands)
