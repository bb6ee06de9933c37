import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.checks.sources import opening_text
from studio.domain.task import TaskSpec
from studio.domain.text.coverage import word_overlap

SHARED = 0.2
"""Share of what a task asks and scores that a file may not have and still be needed."""


@rule("asset-unused", "hint")
def asset_unused(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """A file that nobody mentions and nothing needs was left over, or the request forgot to speak of it."""
    if not task.assets:
        return
    ids = [other.task_id for other in context.episode.tasks]
    later = context.episode.tasks[ids.index(task.task_id) + 1 :] if task.task_id in ids else ()
    said = [_named(one, context).casefold() for one in (task, *later)]
    for position, file in enumerate(task.assets, 1):
        name = file.path.rpartition("/")[2]
        stem = name.rpartition(".")[0] or name
        if _mentioned(name.casefold(), said) or (
            len(stem) > 3 and _mentioned(_plain(stem.casefold()), map(_plain, said))
        ):
            continue
        text = context.texts.get(file.sha256, "")
        if any(_mentioned(place.casefold(), said) for place in _folders(file.path)) or (
            text and _speaks_of(text, task)
        ):
            continue
        yield Flaw(
            "assets",
            f"Nothing mentions or needs “{file.path}”.",
            "Mention it in the request, add it as the source of an intent, or remove it.",
            position,
            words=file.path,
        )


def _named(task: TaskSpec, context: CheckContext) -> str:
    script = context.episode.persona.script(task.grader_script)
    return "\n".join(
        (
            opening_text(task),
            task.description,
            task.reference_workflow,
            *task.files_read,
            *task.expected_paths,
            *(intent.content for intent in task.intents),
            *(f"{place.ref} {place.note}" for intent in task.intents for place in intent.recoverable_from),
            *(item.criterion for item in task.checklist),
            *(path for item in task.checklist for path in item.evidence),
            *(item.rule.path for item in task.checklist if item.rule),
            *(need.carries_over for need in task.depends_on),
            *(context.texts.get(file.sha256, "") for file in task.assets),
            context.texts.get(script.sha256, "") if script else "",
        )
    )


def _folders(path: str) -> list[str]:
    return [f"{part}/" for part in path.split("/")[:-1]] + [part for part in path.split("/")[:-1] if len(part) > 3]


def _mentioned(words: str, said: Iterable[str]) -> bool:
    return any(words in text for text in said)


@lru_cache(maxsize=400)
def _plain(text: str) -> str:
    return " ".join(re.sub(r"[\W_]+", " ", text).split())


def _speaks_of(text: str, task: TaskSpec) -> bool:
    """Whether an intent or a criterion has its words from this file."""
    demands = (*(intent.content for intent in task.intents), *(item.criterion for item in task.checklist))
    return any(word_overlap(demand, text) > 1 - SHARED for demand in demands)
