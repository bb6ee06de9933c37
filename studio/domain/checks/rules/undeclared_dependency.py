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

MAX_TASKS_WITH_NAME = 2
"""A name that more tasks mention, this one included, is common knowledge of the persona, not one session's result."""
MIN_RARE_WEIGHT = 2.6
"""Weight of shared rare words that makes a back reference."""


USUAL_TASKS = 20
"""Tasks in the paper's episodes; in shorter ones, words are no less rare."""
MIN_SHARE_OF_BEST = 0.8
"""A session with this share of the best one's weight may be meant as well."""
MIN_SHARE_OF_DECLARED = 0.5
"""One with this share explains a back reference if it is a declared dependency."""


@rule("undeclared-dependency", "warning")
def undeclared_dependency(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """A task that needs an earlier session declares it; otherwise it is scored without it, and moved or left out
    unnoticed."""
    known = prerequisite_ids(task, context)
    earlier = [other for other in context.earlier(task) if other.task_id not in known]
    text_by_task = {
        other.task_id: established_text(other) for other in (*context.episode.tasks, *context.episode.unplaced)
    }
    explained = set(known)
    clues = (
        *_file_clues(task, earlier),
        *_fact_clues(task, context, earlier, text_by_task),
        *_back_reference_clues(task, context, earlier, text_by_task),
        *_name_clues(task, context, earlier),
    )
    positions = {other.task_id: position for position, other in enumerate(context.episode.tasks)}

    def order(clue: Clue) -> tuple[bool, int, int]:
        """Later sessions first: they bring their own dependencies along."""
        return clue.vague != (), len(clue.others), -positions[clue.others[0]]

    for clue in sorted((*clues, *_intent_clues(task, context, earlier)), key=order):
        if explained.isdisjoint((*clue.others, *clue.vague)):
            other = clue.others[0]
            explained |= {
                other,
                *(prerequisite_ids(session, context) if (session := context.episode.task(other)) else ()),
            }
            yield clue.flaw


class Clue(NamedTuple):
    """A sign that an earlier session is needed, and the sessions that would explain it, most likely first."""

    others: tuple[str, ...]
    flaw: Flaw
    vague: tuple[str, ...] = ()
    """For vague back references: all sessions that could be meant."""


def _clue(field: str, item: int | None, passage: str, others: Sequence[str], why: str) -> Clue:
    other = others[0]
    flaw = Flaw(
        field,
        f"{why}: only “{other}” establishes it, and the task does not depend on that one.",
        "Declare the dependency, or state here what is needed.",
        item,
        passage=passage,
        other=other,
    )
    return Clue(tuple(others), flaw)


def _file_clues(task: TaskSpec, earlier: Sequence[TaskSpec]) -> Iterator[Clue]:
    own_names = {file.path.rpartition("/")[2] for file in task.assets}
    for match in file_mentions(task.initial_request):
        name = match[0].rpartition("/")[2]
        if name in own_names or is_created_in(task, name):
            continue
        for other in earlier:
            available = {path.rpartition("/")[2] for path in (*(a.path for a in other.assets), *other.expected_paths)}
            if name in available or is_created_in(other, name):
                yield _clue("initial_request", None, match[0], [other.task_id], f"The request needs {quote(name)}")
                break


def _fact_clues(
    task: TaskSpec, context: CheckContext, earlier: Sequence[TaskSpec], text_by_task: dict[str, str]
) -> Iterator[Clue]:
    visible = visible_text(task, context).casefold()
    apps = {part for tool in context.episode.persona.tools for part in tool.casefold().replace("__", "_").split("_")}
    lower_texts = {name: text.casefold() for name, text in text_by_task.items()}
    not_earlier = {other.task_id for other in context.episode.tasks} - {
        other.task_id for other in context.earlier(task)
    }
    texts = [("intents", n, intent.content) for n, intent in enumerate(task.intents, 1)]
    texts += [("checklist", n, item.criterion) for n, item in enumerate(task.checklist, 1)]
    for field, position, text in texts:
        for span in named_facts(text):
            fact = span.text.casefold().strip(" .,;:’'")
            if len(fact) < 5 or fact in visible or set(fact.split()) <= apps:
                continue
            holders = {name for name, task_text in lower_texts.items() if fact in task_text}
            others = [each.task_id for each in earlier if each.task_id in holders]
            if (
                others
                and holders.isdisjoint(prerequisite_ids(task, context))
                and len(holders - not_earlier) <= MAX_TASKS_WITH_NAME
            ):
                yield _clue(field, position, span.text, others, f"{quote(span.text)} is asked for")


def _name_clues(task: TaskSpec, context: CheckContext, earlier: Sequence[TaskSpec]) -> Iterator[Clue]:
    requests = {other.task_id: opening_text(other) for other in (*context.episode.tasks, *context.episode.unplaced)}
    files = "\n".join(context.texts.get(file.sha256, "") for file in task.assets)
    for other in earlier:
        for name in known_names(other.initial_request):
            mention = re.search(rf"\b{re.escape(name)}\b", task.initial_request)
            if mention is None or name in files:
                continue
            if sum(name in request for request in requests.values()) == 2:
                yield _clue("initial_request", None, name, [other.task_id], f"The request takes {quote(name)} as known")
                break


def _back_reference_clues(
    task: TaskSpec, context: CheckContext, earlier: Sequence[TaskSpec], text_by_task: dict[str, str]
) -> Iterator[Clue]:
    references = back_references(task.initial_request)
    if not references or not earlier:
        return
    keys = {name: {word.key for word in content_words(text)} for name, text in text_by_task.items()}
    counts = Counter(key for task_keys in keys.values() for key in task_keys)
    total = max(len(keys), USUAL_TASKS)
    declared = prerequisite_ids(task, context)
    for reference, sentence in references:
        near = [
            word for word in content_words(sentence.text) if abs(word.start + sentence.start - reference.start) < 130
        ]
        rare = {
            word.key: math.log(total / counts[word.key]) * min(word.weight, 1) for word in near if word.key in counts
        }

        def shared(name: str, rare: dict[str, float] = rare) -> float:
            return sum(weight for key, weight in rare.items() if key in keys[name])

        scores = {name: shared(name) for name in (*(other.task_id for other in earlier), *declared) if name in keys}
        best = max(scores.values())
        others = sorted(
            (name for name in scores if scores[name] >= MIN_SHARE_OF_BEST * best), key=lambda name: -scores[name]
        )
        if best >= MIN_RARE_WEIGHT and declared.isdisjoint(others):
            clue = _clue(
                "initial_request",
                None,
                reference.text,
                others,
                f"The request calls something back, {quote(reference.text)}",
            )
            yield clue._replace(vague=tuple(name for name in scores if scores[name] >= MIN_SHARE_OF_DECLARED * best))


def _intent_clues(task: TaskSpec, context: CheckContext, earlier: Sequence[TaskSpec]) -> Iterator[Clue]:
    known = [each for name in prerequisite_ids(task, context) if (each := context.episode.task(name))]
    for position, intent in enumerate(task.intents, 1):
        for other in earlier:
            if not other.is_setup:
                continue
            similarity = max((_similarity(intent.content, each.content) for each in other.intents), default=0.0)
            if similarity > 0.8 and not any(
                _similarity(intent.content, each.content) > 0.6 for dependency in known for each in dependency.intents
            ):
                yield _clue(
                    "intents",
                    position,
                    intent.content.strip(),
                    [other.task_id],
                    "This need comes from an earlier task",
                )
                break


def _similarity(demand: str, text: str) -> float:
    if word_overlap(demand, text) < 0.5:
        return 0.0
    match = coverage(demand, text)
    return match.near if match.weight >= 3 else 0.0
