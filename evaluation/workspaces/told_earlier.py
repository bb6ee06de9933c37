"""Names that a task's criteria want in so many words and that nobody can know but from an earlier task."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from evaluation.protocol.modes import earlier_needed
from evaluation.workspaces.manifests import Read
from studio.domain.checks.sources import established_text, opening_text, profile_text
from studio.domain.episode import EpisodeSpec
from studio.domain.persona import PersonaSpec
from studio.domain.phrases import quoted_titles
from studio.domain.task import TaskSpec
from studio.domain.text.clauses import quoted

SHOWN = 3
"""Names, and tasks that tell them."""


@dataclass(frozen=True)
class ToldEarlier:
    name: str
    tasks: tuple[TaskSpec, ...]
    """Before this one in the episode, nearest last."""

    def is_held(self, before: Collection[str]) -> bool:
        """Whether one of them is among the tasks that run before."""
        return any(task.task_id in before for task in self.tasks)


def told_earlier(task: TaskSpec, episode: EpisodeSpec, apps: Collection[str], read: Read) -> tuple[ToldEarlier, ...]:
    """``apps`` are those that the task uses: what they hold tells names as well. Declared dependencies always run
    before, so what they tell counts as the task's own. Where a file is no text, every name may stand in it."""
    names = list(dict.fromkeys(_names(task)))
    if not names:
        return ()
    own = "\n".join(_own_texts(task, episode))
    position = [other.task_id for other in episode.tasks].index(task.task_id)
    texts = {other.task_id: (other, established_text(other)) for other in episode.tasks[:position]}
    found = [
        ToldEarlier(name, tuple(other for other, text in texts.values() if _whole_words(name).search(text)))
        for name in names
        if not _tells(own, name)
    ]
    found = [each for each in found if each.tasks]
    if not found:
        return ()
    files = _files_text(task, episode.persona, apps, read)
    return tuple(each for each in found if files is not None and not _tells(files, each.name))


def sentence_of(told: Sequence[ToldEarlier]) -> str:
    names = quoted_titles([each.name for each in told], SHOWN)
    tasks = dict.fromkeys(task.title.strip() or task.task_id for each in told for task in each.tasks[-1:])
    return (
        f"Criteria name {names}, known only from earlier tasks: {quoted_titles(list(tasks), SHOWN)}. Run them before "
        "it, or say it in the request, in a hidden intent or in a file."
    )


def _names(task: TaskSpec) -> Iterator[str]:
    for item in task.checklist:
        if item.grader == "rubric":
            for span in quoted(item.criterion):
                name = span.text.strip(" .,;:!?…")
                if is_name(name) and not _is_label(name):
                    yield name


def is_name(text: str) -> bool:
    return any(letter.isupper() or letter.isdecimal() for letter in text)


def _is_label(text: str) -> bool:
    """Such as “Total” of a row: a word of any text, with a capital because it stands alone."""
    return text.isalpha() and not any(letter.isupper() for letter in text[1:])


def _whole_words(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")


def _tells(text: str, name: str) -> bool:
    return name.casefold() in text.casefold()


def _own_texts(task: TaskSpec, episode: EpisodeSpec) -> Iterator[str]:
    yield opening_text(task)
    yield from (intent.content for intent in task.intents)
    yield profile_text(episode.persona)
    yield from map(established_text, earlier_needed(task, episode))


def _files_text(task: TaskSpec, persona: PersonaSpec, apps: Collection[str], read: Read) -> str | None:
    """What the agent can read as the task begins; None if some of it is no text."""
    data = (file for app, file in persona.app_data.items() if app in apps)
    skills = (file for skill in persona.skills for file in skill.files)
    hashes = [file.sha256 for file in (*task.assets, *skills, *persona.web_pages, *data)]
    stored = read(hashes)
    try:
        return "\n".join(stored[sha256].decode() for sha256 in hashes if sha256 in stored)
    except UnicodeDecodeError:
        return None
