"""A pack's canary and texts, searched for in texts of others and in answers of models."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from evaluation.runner.errors import PibenchError
from evaluation.runner.packs import Pack
from evaluation.runner.tables import Table

WORDS = 13
"""In a row, without regard to case and punctuation, that count as found: as for GPT-3 (arXiv 2005.14165)."""
CHUNK = 1 << 20
"""Characters that are read together."""
OVERLAP = 4096
"""Characters that are read again with the next chunk, so that nothing is missed at its edge."""
CALLS = "calls.jsonl"
_WORD = re.compile(r"\w+")


@dataclass
class Text:
    """A text of a task, and what of it was found."""

    persona: str
    task: str
    kind: str
    """As in “request”, “hidden intent 2”."""
    passages: int
    """Passages of ``WORDS`` words in it, each beginning one word after the last; 0: it is shorter."""
    found: dict[int, str] = field(default_factory=dict)
    """Of these, by number: in which file first."""

    @property
    def longest(self) -> int:
        """Words in a row."""
        best = run = 0
        for before, at in pairwise([-2, *sorted(self.found)]):
            run = run + 1 if at == before + 1 else 1
            best = max(best, run)
        return best + WORDS - 1 if best else 0


@dataclass
class Leaks:
    texts: Sequence[Text]
    canaries: Sequence[str]
    """Of its splits; a folder of personas has none."""
    canary_in: list[str] = field(default_factory=list)
    files: int = 0
    answers: int = 0
    """Of models, among them."""

    @property
    def found(self) -> list[Text]:
        """The longest first."""
        return sorted((text for text in self.texts if text.found), key=lambda text: -text.longest)

    @property
    def short(self) -> int:
        """Texts that are too short to be found."""
        return sum(not text.passages for text in self.texts)

    @property
    def cannot_know(self) -> str:
        return (
            "That nothing is found does not show that a model has not seen the pack: it may not repeat what it knows, "
            f"in other words or languages it goes unseen, and {self.short} of {len(self.texts)} texts have fewer than "
            f"{WORDS} words, so they cannot be found. Nor does a passage show it: both may quote the same source. "
            "Files of tasks are not searched for."
        )


def find_leaks(pack: Pack, paths: Sequence[Path]) -> Leaks:
    """In files of any text, folders of them, and folders of results. Raises PibenchError.

    Of a model's answer, only what it was not asked with in the same call counts: it is told requests, and what users
    say of hidden intents.
    """
    index = dict[int, list[tuple[Text, int]]]()
    leaks = Leaks(list(_texts(pack, index)), _canaries(pack))
    for path in paths:
        for file in _files(path):
            leaks.files += 1
            try:
                _search(file, index, leaks)
            except OSError as error:
                raise PibenchError(f"{file} cannot be read: {error.strerror}.") from None
    return leaks


def leaks_json(leaks: Leaks) -> dict[str, Any]:
    return {
        "canaries": list(leaks.canaries),
        "canary_in": leaks.canary_in,
        "files": leaks.files,
        "answers": leaks.answers,
        "found": [
            {
                "persona": text.persona,
                "task": text.task,
                "text": text.kind,
                "passages": text.passages,
                "found": len(text.found),
                "longest": text.longest,
                "in": sorted(set(text.found.values())),
            }
            for text in leaks.found
        ],
        "texts": len(leaks.texts),
        "too_short": leaks.short,
        "cannot_know": leaks.cannot_know,
    }


def leaks_table(leaks: Leaks) -> Table:
    rows = [
        [
            f"{text.persona} · {text.task} · {text.kind}",
            str(text.longest),
            f"{len(text.found)}/{text.passages}",
            next(iter(text.found.values())),
        ]
        for text in leaks.found
    ]
    title = f"Passages of {WORDS} words and more that stand in the pack"
    return Table(title, ["Text", "Longest, words", "Passages", "First in"], rows, leaks.cannot_know)


def _canaries(pack: Pack) -> list[str]:
    splits = pack.manifest.get("splits", {}).values()
    found = [str(pack.manifest.get("canary", "")), *(str(each["canary"]) for each in splits if "canary" in each)]
    return list(dict.fromkeys(filter(None, found)))


def _texts(pack: Pack, index: dict[int, list[tuple[Text, int]]]) -> Iterator[Text]:
    for episode in pack.episodes:
        for task in (*episode.tasks, *episode.unplaced):
            parts = [("request", task.initial_request)]
            parts += [(f"hidden intent {at}", intent.content) for at, intent in enumerate(task.intents, 1)]
            parts += [(f"criterion {at}", item.criterion) for at, item in enumerate(task.scored_items, 1)]
            for kind, content in parts:
                passages = list(_passages(content))
                text = Text(episode.persona.user_id, task.task_id, kind, len(passages))
                for at, passage in enumerate(passages):
                    index.setdefault(passage, []).append((text, at))
                yield text


def _files(path: Path) -> Iterator[Path]:
    if not path.exists():
        raise PibenchError(f"There is no file or folder {path}.")
    if not path.is_dir():
        yield path
    elif (path / "run.json").exists():
        yield from sorted(path.rglob(CALLS))
    else:
        yield from sorted(file for file in path.rglob("*") if file.is_file() and not file.is_symlink())


def _search(file: Path, index: dict[int, list[tuple[Text, int]]], leaks: Leaks) -> None:
    chunks = _answers(file, leaks) if file.name == CALLS else ((chunk, "") for chunk in _chunks(file))
    for content, known in chunks:
        folded = content.casefold()
        if str(file) not in leaks.canary_in and any(canary.casefold() in folded for canary in leaks.canaries):
            leaks.canary_in.append(str(file))
        said = set(_passages(content)) & index.keys()
        for passage in said - (set(_passages(known)) if said else set()):
            for text, at in index[passage]:
                text.found.setdefault(at, str(file))


def _chunks(file: Path) -> Iterator[str]:
    with file.open(encoding="utf-8", errors="replace") as lines:
        tail = ""
        while chunk := lines.read(CHUNK):
            yield tail + chunk
            tail = (tail + chunk)[-OVERLAP:]


def _answers(file: Path, leaks: Leaks) -> Iterator[tuple[str, str]]:
    """Of the model under test, each with what it was asked with."""
    with file.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            try:
                call = json.loads(line)
                purpose, answer, request = call["purpose"], call["response"], call["request"]
            except (ValueError, KeyError, TypeError):
                continue  # cut off by a kill
            if purpose == "agent" and answer is not None:
                leaks.answers += 1
                yield "\n".join(_strings(answer)), "\n".join(_strings(request))


def _strings(value: object) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _strings(each)


def _passages(text: str) -> Iterator[int]:
    """A number for every ``WORDS`` words in a row; the same words have the same number."""
    words = _WORD.findall(text.casefold())
    return (hash(tuple(words[at : at + WORDS])) for at in range(len(words) - WORDS + 1))
