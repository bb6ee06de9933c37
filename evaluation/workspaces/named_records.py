"""Records of apps that a task speaks of as being there: by a name in quotation marks, or as “my playlists”."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from functools import cache
from typing import Any

from evaluation.tools import World
from evaluation.tools.apps.catalog import APPS
from studio.domain.checks.sources import opening_text
from studio.domain.task import TaskSpec
from studio.domain.text.clauses import sentences

NAMES = ("title", "name", "subject", "label", "first_name")
"""Columns that hold what people call a record."""
_MAKES = re.compile(
    r"\b(?:creat\w+|mak\w+|made|new|writ\w+|draft\w*|sav\w+|generat\w+|produc\w+|prepar\w+|renam\w+|set up|sign up"
    r"|register\w*|record\w*|log\w*|send\w*|post\w*)\b",
    re.IGNORECASE,
)
_FINDS = re.compile(
    r"\b(?:select\w*|choos\w+|chosen|pick\w*|find|found|open|look\w*|search\w*|play|from|existing|current\w*|move|delete"
    r"|remove|update|reply|forward|buy|order)\b",
    re.IGNORECASE,
)
_SEARCHES = re.compile(
    r"\b(?:search\w*|look\w* (?:up|for)|brows\w+|shop\w*|shortlist\w*|recommend\w*|find)\b", re.IGNORECASE
)
_NAME = r"[\"“'‘`](?P<name>[^\"”“`\n]{2,80}?)[\"”'’`](?!\w)"


def missing_records(task: TaskSpec, apps: Collection[str], world: World) -> Iterator[str]:
    """What ``world`` lacks, as sentences. ``apps`` are those that the task uses. A sentence that is about making
    something names nothing that is missing."""
    texts = (("The request", opening_text(task)), *(("A hidden intent", intent.content) for intent in task.intents))
    for where, text in texts:
        for span in sentences(text):
            if not _FINDS.search(span.text) or _MAKES.search(span.text):
                continue
            for app in sorted(apps & APPS.keys()):
                yield from _missing_in(where, span.text, app, world)


def empty_catalogues(task: TaskSpec, apps: Collection[str], world: World) -> Iterator[str]:
    """Apps that the request lets the assistant search, by their name or as the only one that the task uses, and whose
    catalogue, which no tool adds to, is empty. ``apps`` are those that the task uses."""
    said = [span.text for span in sentences(opening_text(task)) if _SEARCHES.search(span.text)]
    for app in sorted(apps & APPS.keys()):
        title, tables = APPS[app].title, [world.state(app).shown[name] for name in _catalogue(app)]
        if tables and not any(map(len, tables)):
            told = said if apps == {app} else [text for text in said if title.casefold() in text.casefold()]
            if told:
                yield f"The request asks to search {title}, which has no {' or '.join(_catalogue(app))}."


@cache
def _catalogue(app: str) -> tuple[str, ...]:
    """Tables that are searched and that nothing is added to."""
    apis = {name.partition("__")[2] for name in APPS[app].apis}
    return tuple(
        name
        for name, table in APPS[app].shown.items()
        if f"search_{name}" in apis and not {f"create_{table.noun}", f"add_{table.noun}"} & apis
    )


def _missing_in(where: str, text: str, app: str, world: World) -> Iterator[str]:
    title, state = APPS[app].title, world.state(app)
    for table, noun in _nouns(app):
        records = list(state.shown[table])
        for match in _naming(noun).finditer(text):
            if not any(_is_called(record, match["name"]) for record in records):
                yield f"{where} names the {noun} “{match['name']}”, which {title} does not have."
        if not records and _owning(noun).search(text):
            yield f"{where} speaks of {noun}s that are there, and {title} has none."


@cache
def _nouns(app: str) -> tuple[tuple[str, str], ...]:
    shown = APPS[app].shown
    return tuple((name, table.noun) for name, table in shown.items() if table.columns[0] in NAMES)


@cache
def _naming(noun: str) -> re.Pattern[str]:
    return re.compile(rf"\b{re.escape(noun)}s?\b[^\"“'‘`.!?\n]{{0,40}}{_NAME}", re.IGNORECASE)


@cache
def _owning(noun: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\bto )\bmy (?:[\w-]+ ){{0,3}}{re.escape(noun)}s\b", re.IGNORECASE)


def _is_called(record: Any, name: str) -> bool:
    texts = (value.casefold() for value in vars(record).values() if isinstance(value, str) and value)
    return any(text in name.casefold() or name.casefold() in text for text in texts)
