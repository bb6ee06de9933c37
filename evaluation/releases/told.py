"""Whether the published pack says what only held-out tasks say."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import NamedTuple

from django.core.cache import caches

from evaluation.releases.pins import Pin, newest_pins, parts_of
from evaluation.releases.readiness import TOLD, Blocker
from evaluation.tools.documents import read_document
from evaluation.tools.tool import ToolError
from studio.domain.app_data import CLOCK, ClockError, path_of, read_times
from studio.domain.archive import Limits, readable_members
from studio.domain.episode import EpisodeSpec, Split
from studio.domain.pack import SOLUTIONS
from studio.domain.splits import HELD_BACK, PUBLISHED, part_of
from studio.domain.task import TaskSpec
from studio.files.previews.documents import UnreadableDocumentError, extract
from studio.files.previews.sniff import sniff
from studio.imports.export import episode_files
from studio.models import Benchmark, Task, TaskState

DEEPEST = 3
MOST_FILES = 100
"""Within one file, however deep."""
LIMITS = Limits(file_bytes=16 << 20, unpacked_bytes=64 << 20)


def texts_within(path: str, content: bytes) -> Iterator[str]:
    """Its own first. What cannot be read, or is beyond the limits, is left out: agents cannot read it either."""
    yield from islice(_texts(path, content, DEEPEST), MOST_FILES)


def _texts(path: str, content: bytes, deepest: int) -> Iterator[str]:
    text = content.decode("utf-8", "replace")
    with suppress(ToolError):
        text += f"\n{read_document(path, content) or ''}"
    yield text
    if deepest:
        for name, inner in _files_in(path, content):
            yield from _texts(name, inner, deepest - 1)


def _files_in(path: str, content: bytes) -> Iterator[tuple[str, bytes]]:
    kind = sniff(path, content)
    if kind == "zip":
        yield from readable_members(content, LIMITS)
    elif kind == "mail":
        with suppress(UnreadableDocumentError):
            for name, encoded in extract("mail", content, attached=True)["attached"]:
                yield name, base64.b64decode(encoded)


FEWEST_WORDS = 5
SHORTEST_ID = 6
SHORTEST_LINE = 12
"""Of what is searched for: shorter texts and ids stand in many texts by chance."""
_WORD = re.compile(r"\w+")
DOCUMENTS = "documents"
"""In place of the path of a file that is of no persona: they are made from what the benchmark's settings say."""


class _HeldTask(NamedTuple):
    persona: str
    task: str
    title: str


_ToldBy = tuple[list[str], dict[str, list[str]]]
"""Held-out texts that a persona's published tasks say too, and those in its files, by path."""


class _Found(NamedTuple):
    of: str
    """Hash of revisions and settings."""
    texts: str
    """Hash of the held-out texts."""
    personas: dict[str, _ToldBy]
    """By hash of their revisions."""
    blockers: list[Blocker]


class HeldOutTexts:
    """What held-out tasks say, line by line, to be found in files. A text is words with spaces between."""

    def __init__(self, parts: Iterable[EpisodeSpec]) -> None:
        """``parts``: held-out; one is in memory at a time."""
        self._owners: dict[str, _HeldTask] = {}
        self._clocks: dict[str, dict[str, str]] = {}
        """Texts that stand for a time of a task, by path of a clock and the task's id, however short it is."""
        for part in parts:
            persona = part.persona.user_id
            clock = f"data/{persona}/{path_of(CLOCK)}"
            for task in (*part.tasks, *part.unplaced):
                held = _HeldTask(persona, task.task_id, task.title or task.task_id)
                self._clocks.setdefault(clock, {})[task.task_id] = f"{clock} {task.task_id}"
                self._owners[f"{clock} {task.task_id}"] = held
                texts = [" ".join(_words(line)) for line in _lines(task) if _is_long(line)]
                if len(task.task_id) >= SHORTEST_ID:
                    texts.append(" ".join(_words(task.task_id)))
                for text in filter(None, texts):
                    self._owners.setdefault(text, held)
        self._starts: dict[str, dict[tuple[str, ...], list[tuple[str, ...]]]] = {}
        """Texts by their first word and their first words, at most as many as a sentence has at least."""
        for text in self._owners:
            words = tuple(text.split(" "))
            self._starts.setdefault(words[0], {}).setdefault(words[:FEWEST_WORDS], []).append(words)

    @property
    def key(self) -> str:
        """Hash of them."""
        return hashlib.sha256("\n".join(sorted(self._owners)).encode("utf-8", "replace")).hexdigest()

    def said_by(self, part: EpisodeSpec) -> set[str]:
        """Those that its tasks say too, so that they are not of held-out tasks alone."""
        lines = (line for task in (*part.tasks, *part.unplaced) for line in _lines(task))
        return {text for line in lines for text in self._in(_words(line))}

    def in_file(self, path: str, content: bytes, *, within: bool = False) -> set[str]:
        """``within``: what documents and archives say, too, which are read one by one."""
        texts = texts_within(path, content) if within else (content.decode("utf-8", "replace"),)
        found = self._in(_words(path))
        for text in texts:
            found |= self._in(_words(text.replace("\\n", " ")))
        if timed := self._clocks.get(path):
            with suppress(ClockError):
                found |= {timed[task] for task in timed.keys() & read_times(content).tasks.keys()}
        return found

    def blockers(self, told: Iterable[tuple[str, Iterable[str]]]) -> list[Blocker]:
        """``told``: texts by path."""
        found: dict[tuple[str, _HeldTask], Blocker] = {}
        for path, texts in told:
            place = path if path.startswith(("data/", f"{SOLUTIONS}/")) else DOCUMENTS
            which = f"{path} of the published pack tells"
            if place == DOCUMENTS:
                which = "README, data card and other documents of the published pack tell"
            own: dict[_HeldTask, list[str]] = {}
            for text in sorted(texts):
                own.setdefault(self._owners[text], []).append(text)
            for held, of_task in sorted(own.items()):
                message = f"{which} of “{held.title}”, which is held out."
                state = _hash_of(of_task)
                found[place, held] = Blocker(TOLD, message, held.persona, held.task, place=place, state=state)
        return list(found.values())

    def _in(self, words: Sequence[str]) -> set[str]:
        found = set()
        for at, word in enumerate(words):
            if starts := self._starts.get(word):
                for length in range(1, FEWEST_WORDS + 1):
                    for text in starts.get(tuple(words[at : at + length]), ()):
                        if tuple(words[at : at + len(text)]) == text:
                            found.add(" ".join(text))
        return found


def told_in_pack(pins: Sequence[Pin], files: Iterable[tuple[str, bytes]]) -> list[Blocker]:
    """By the whole pack, what stands within its files included. ``files``: contents by path."""
    texts = HeldOutTexts(part for _, part in parts_of(pins, HELD_BACK))
    said = {text for _, part in parts_of(pins, PUBLISHED) for text in texts.said_by(part)}
    return texts.blockers((path, texts.in_file(path, content, within=True) - said) for path, content in files)


def told_now(benchmark: Benchmark) -> list[Blocker]:
    """By what a release would publish now: the files of personas, and what the settings say; not what stands within
    documents and archives, which takes a process each: that is read when a release is cut. What was found is kept until
    a revision or a setting changes, and of a persona until it or a held-out text does: one entry a benchmark."""
    tasks = Task.objects.filter(persona__benchmark=benchmark).exclude(state=TaskState.RETIRED)
    with_held = set(tasks.filter(split=Split.HELD_OUT).values_list("persona", flat=True).distinct())
    if not with_held:
        return []
    pins, cache, entry = newest_pins(benchmark), caches["results"], f"told:{benchmark.pk}"
    said_of_it = benchmark.credits.model_dump_json(exclude={"file_origins"})  # those of held-out files are left out
    settings = f"{benchmark.name}\n{benchmark.description}\n{said_of_it}"
    now = _hash_of(settings, *pins)
    kept: _Found | None = cache.get(entry)
    if kept and kept.of == now:
        return kept.blockers
    loaded = {pin.persona: pin.load() for pin in pins if pin.row in with_held}
    texts = HeldOutTexts(part for episode in loaded.values() if (part := part_of(episode, HELD_BACK)))
    known = kept.personas if kept and kept.texts == texts.key else {}
    found: dict[str, _ToldBy] = {}
    for pin in pins:
        key = _hash_of(pin)
        if (own := known.get(key)) is None:
            part = part_of(loaded.get(pin.persona) or pin.load(), PUBLISHED)
            own = _told_by(texts, part) if part else ([], {})
        found[key] = own
    said = {text for own, _ in found.values() for text in own}
    told = [(DOCUMENTS, texts.in_file(DOCUMENTS, settings.encode()))]
    told += [(path, set(own)) for _, by_path in found.values() for path, own in by_path.items()]
    blockers = texts.blockers((path, own - said) for path, own in told)
    cache.set(entry, _Found(now, texts.key, found, blockers))
    return blockers


def _told_by(texts: HeldOutTexts, part: EpisodeSpec) -> _ToldBy:
    found = {path: sorted(texts.in_file(path, content)) for path, content in sorted(episode_files([part]).items())}
    return sorted(texts.said_by(part)), {path: own for path, own in found.items() if own}


def _hash_of(*what: object) -> str:
    return hashlib.sha256(repr(what).encode()).hexdigest()


def _lines(task: TaskSpec) -> Iterator[str]:
    texts = [task.title, task.description, task.initial_request, task.reference_workflow]
    texts += [intent.content for intent in task.intents]
    texts += [item.criterion for item in task.checklist]
    for text in texts:
        yield from text.splitlines()


def _is_long(line: str) -> bool:
    """Some scripts have no spaces between words: of other than ASCII, the length counts too."""
    return len(_words(line)) >= FEWEST_WORDS or (not line.isascii() and len(line) >= SHORTEST_LINE)


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())
