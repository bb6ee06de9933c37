import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from studio.domain.checks.quotes import quote
from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.checks.sources import (
    established_text,
    file_mentions,
    is_created_in,
    opening_text,
    prerequisite_ids,
    visible_text,
)
from studio.domain.task import TaskSpec
from studio.domain.text.back_references import back_references, known_names, named_facts
from studio.domain.text.coverage import coverage, word_overlap
from studio.domain.text.words import content_words

COMMON = 2
"""A name that more tasks than this speak of, this one included, is the persona's world, not one session's result."""
SHARED = 2.6
"""How much two texts have to share in rare words before the one calls the other back."""


USUAL = 20
"""Tasks of an episode as the paper has them: in a shorter one a word is not less rare."""
CLOSE = 0.8
"""A session that shares this much of the best one's words may be meant as well."""
ENOUGH = 0.5
"""One that shares this much explains a call back, where the task is known to build on it."""


@rule("undeclared-dependency", "warning")
def undeclared_dependency(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """A task that needs an earlier session says so: else it is scored without it, and moved or left out unnoticed."""
    known = prerequisite_ids(task, context)
    earlier = [other for other in context.earlier(task) if other.task_id not in known]
    text_by_task = {
        other.task_id: established_text(other) for other in (*context.episode.tasks, *context.episode.unplaced)
    }
    found = set(known)
    clues = (
        *_files(task, earlier),
        *_facts(task, context, earlier, text_by_task),
        *_calls(task, context, earlier, text_by_task),
        *_names(task, context, earlier),
    )
    places = {other.task_id: place for place, other in enumerate(context.episode.tasks)}

    def order(clue: Clue) -> tuple[bool, int, int]:
        """A session brings along what it builds on itself, so the later ones come first."""
        return clue.vague != (), len(clue.others), -places[clue.others[0]]

    for clue in sorted((*clues, *_intents(task, context, earlier)), key=order):
        if found.isdisjoint((*clue.others, *clue.vague)):
            other = clue.others[0]
            found |= {other, *(prerequisite_ids(session, context) if (session := context.episode.task(other)) else ())}
            yield clue.flaw


class Clue(NamedTuple):
    """What shows that an earlier session is needed, and every session that would explain it, likeliest first."""

    others: tuple[str, ...]
    flaw: Flaw
    vague: tuple[str, ...] = ()
    """Of a call back in general words: every session that could be meant at all."""


def _clue(field: str, item: int | None, words: str, others: Sequence[str], why: str) -> Clue:
    other = others[0]
    flaw = Flaw(
        field,
        f"{why}: only “{other}” establishes it, and the task does not depend on that one.",
        "Declare the dependency, or state here what is needed.",
        item,
        words=words,
        other=other,
    )
    return Clue(tuple(others), flaw)


def _files(task: TaskSpec, earlier: Sequence[TaskSpec]) -> Iterator[Clue]:
    own = {file.path.rpartition("/")[2] for file in task.assets}
    for match in file_mentions(task.initial_request):
        name = match[0].rpartition("/")[2]
        if name in own or is_created_in(task, name):
            continue
        for other in earlier:
            brought = {path.rpartition("/")[2] for path in (*(a.path for a in other.assets), *other.expected_paths)}
            if name in brought or is_created_in(other, name):
                yield _clue("initial_request", None, match[0], [other.task_id], f"The request needs {quote(name)}")
                break


def _facts(
    task: TaskSpec, context: CheckContext, earlier: Sequence[TaskSpec], text_by_task: dict[str, str]
) -> Iterator[Clue]:
    here = visible_text(task, context).casefold()
    apps = {part for tool in context.episode.persona.tools for part in tool.casefold().replace("__", "_").split("_")}
    lower = {name: text.casefold() for name, text in text_by_task.items()}
    after = {other.task_id for other in context.episode.tasks} - {other.task_id for other in context.earlier(task)}
    texts = [("intents", n, intent.content) for n, intent in enumerate(task.intents, 1)]
    texts += [("checklist", n, item.criterion) for n, item in enumerate(task.checklist, 1)]
    for field, position, text in texts:
        for span in named_facts(text):
            fact = span.text.casefold().strip(" .,;:’'")
            if len(fact) < 5 or fact in here or set(fact.split()) <= apps:
                continue
            holders = {name for name, words in lower.items() if fact in words}
            others = [each.task_id for each in earlier if each.task_id in holders]
            if others and holders.isdisjoint(prerequisite_ids(task, context)) and len(holders - after) <= COMMON:
                yield _clue(field, position, span.text, others, f"{quote(span.text)} is asked for")


def _names(task: TaskSpec, context: CheckContext, earlier: Sequence[TaskSpec]) -> Iterator[Clue]:
    """A person or a project that two sessions speak of and no other: the later one takes it as known."""
    requests = {other.task_id: opening_text(other) for other in (*context.episode.tasks, *context.episode.unplaced)}
    files = "\n".join(context.texts.get(file.sha256, "") for file in task.assets)
    for other in earlier:
        for name in known_names(other.initial_request):
            here = re.search(rf"\b{re.escape(name)}\b", task.initial_request)
            if here is None or name in files:
                continue
            if sum(name in request for request in requests.values()) == 2:
                yield _clue("initial_request", None, name, [other.task_id], f"The request takes {quote(name)} as known")
                break


def _calls(
    task: TaskSpec, context: CheckContext, earlier: Sequence[TaskSpec], text_by_task: dict[str, str]
) -> Iterator[Clue]:
    called = back_references(task.initial_request)
    if not called or not earlier:
        return
    keys = {name: {word.key for word in content_words(text)} for name, text in text_by_task.items()}
    counts = Counter(key for found in keys.values() for key in found)
    total = max(len(keys), USUAL)
    declared = prerequisite_ids(task, context)
    for call, sentence in called:
        near = [word for word in content_words(sentence.text) if abs(word.start + sentence.start - call.start) < 130]
        rare = {
            word.key: math.log(total / counts[word.key]) * min(word.weight, 1) for word in near if word.key in counts
        }

        def shared(name: str, rare: dict[str, float] = rare) -> float:
            return sum(weight for key, weight in rare.items() if key in keys[name])

        scores = {name: shared(name) for name in (*(other.task_id for other in earlier), *declared) if name in keys}
        best = max(scores.values())
        others = sorted((name for name in scores if scores[name] >= CLOSE * best), key=lambda name: -scores[name])
        if best >= SHARED and declared.isdisjoint(others):
            clue = _clue(
                "initial_request", None, call.text, others, f"The request calls something back, {quote(call.text)}"
            )
            yield clue._replace(vague=tuple(name for name in scores if scores[name] >= ENOUGH * best))


def _intents(task: TaskSpec, context: CheckContext, earlier: Sequence[TaskSpec]) -> Iterator[Clue]:
    known = [each for name in prerequisite_ids(task, context) if (each := context.episode.task(name))]
    for position, intent in enumerate(task.intents, 1):
        for other in earlier:
            if not other.is_setup:
                continue
            said = max((_same(intent.content, each.content) for each in other.intents), default=0.0)
            if said > 0.8 and not any(
                _same(intent.content, each.content) > 0.6 for one in known for each in one.intents
            ):
                yield _clue(
                    "intents",
                    position,
                    intent.content.strip(),
                    [other.task_id],
                    "This need comes from an earlier task",
                )
                break


def _same(one: str, other: str) -> float:
    if word_overlap(one, other) < 0.5:
        return 0.0
    said = coverage(one, other)
    return said.near if said.weight >= 3 else 0.0
