import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from studio.domain.caching import cached
from studio.domain.checks.quotes import quote
from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.checks.sources import (
    established_texts,
    file_mentions,
    is_created_in,
    prerequisite_ids,
    visible_text,
)
from studio.domain.episode import EpisodeSpec
from studio.domain.findings import Finding
from studio.domain.fixes import AppendRow, Fix
from studio.domain.task import Dependency, TaskSpec
from studio.domain.text.back_references import back_references, named_facts
from studio.domain.text.coverage import coverage, overlaps
from studio.domain.text.stems import stem
from studio.domain.text.word_index import vocabulary
from studio.domain.text.words import content_words

MAX_TASKS_WITH_NAME = 2
"""A name that more tasks mention, this one included, is common knowledge of the persona, not one session's result."""
MIN_OVERLAP = 0.5
"""Share of an intent's words that another needs for a closer look."""
MIN_NAME_WORDS = 3
"""Words of a name that can only be one thing. Two capitals may be any heading: “Target Audience”."""
MIN_RARE_WEIGHT = 2.6
"""Weight of shared rare words that makes a back reference."""
USUAL_TASKS = 20
"""Tasks in the paper's episodes; in shorter ones, words are no less rare."""
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
MIN_LEAD = 1.25
"""How many times the second best session's weight the best one needs; otherwise it is unclear which is meant."""
MIN_SHARE_OF_DECLARED = 0.5
"""A declared dependency with this share of the best one's weight explains a back reference."""
MADE_OR_DECIDED = re.compile(
    r"\b(?:we|you|I)(?:'ve| have)? (?:just |already |recently )?(?!know\b|remember\b)[a-z]+"
    r"|\bwhat [\w ]+ (?:decided|agreed|settled|chose)|\b(?:agreed|aligned|established|settled|decided|finali[sz]ed)\b"
    r"|\bthose (?:two|three|four|five|six|seven|eight|ten)"
    r"|\b(?:findings|results|outcome|conclusions?|decisions?|minutes) (?:of|from)",
    re.IGNORECASE,
)
"""Back references to a result. Others (“a while back”, “our usual”) share a topic at most."""


def _declare(finding: Finding, task: TaskSpec, episode: EpisodeSpec) -> Fix | None:
    """Only for setup tasks: depending on a scored task is an error."""
    other = episode.task(finding.other)
    edit = AppendRow(field="depends_on", value=Dependency(task_id=finding.other))
    effect = f"The task depends on {episode.task_label(finding.other)}."
    return Fix(label="Declare the dependency", effect=effect, edits=(edit,)) if other and other.is_setup else None


@rule("undeclared-dependency", "warning", across_tasks=True, one_click=_declare)
def undeclared_dependency(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """A task that uses what an earlier session made or decided declares it; otherwise it is scored without it, and
    moved or left out unnoticed. A shared topic is no dependency."""
    known = prerequisite_ids(task, context)
    earlier = [other for other in context.earlier(task) if other.task_id not in known]
    if not earlier:
        return
    explained = set(known)
    clues = (
        *_file_clues(task, earlier),
        *_fact_clues(task, context, earlier),
        *_back_reference_clues(task, context, earlier),
        *_intent_clues(task, context, earlier),
    )
    positions = {other.task_id: position for position, other in enumerate(context.episode.tasks)}

    def order(clue: Clue) -> tuple[bool, int, int]:
        """Later sessions first: they bring their own dependencies along."""
        return clue.vague != (), len(clue.others), -positions[clue.others[0]]

    for clue in sorted(clues, key=order):
        if explained.isdisjoint((*clue.others, *clue.vague)):
            other = clue.others[0]
            explained |= {other, *(prerequisite_ids(session, context) if (session := context.task(other)) else ())}
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
        f"{why}: only “{other}” establishes it, and the task does not depend on that one.",
        "Declare the dependency, or state here what is needed.",
        field=field,
        item=item,
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


def _fact_clues(task: TaskSpec, context: CheckContext, earlier: Sequence[TaskSpec]) -> Iterator[Clue]:
    """Names and numbers demanded here that only an earlier session has."""
    texts = [("intents", n, intent.content) for n, intent in enumerate(task.intents, 1)]
    texts += [("checklist", n, item.criterion) for n, item in enumerate(task.checklist, 1)]
    candidates = [
        (field, position, span, fact)
        for field, position, text in texts
        for span in named_facts(text)
        if _is_one_thing(fact := span.text.casefold().strip(" .,;:’'"))
    ]
    if not candidates:
        return
    visible = visible_text(task, context).casefold()
    apps = {part for tool in context.episode.persona.tools for part in tool.casefold().replace("__", "_").split("_")}
    texts_by_task, declared = context.once(_lower_texts), prerequisite_ids(task, context)
    earlier_ids = {other.task_id for other in context.earlier(task)}
    for field, position, span, fact in candidates:
        if fact in visible or set(fact.split()) <= apps:
            continue
        holders = {name for name, text in texts_by_task.items() if fact in text}
        others = [each.task_id for each in earlier if each.task_id in holders]
        not_later = {name for name in holders if name == task.task_id or name in earlier_ids} | {
            other.task_id for other in context.episode.unplaced if other.task_id in holders
        }
        if others and holders.isdisjoint(declared) and len(not_later) <= MAX_TASKS_WITH_NAME:
            yield _clue(field, position, span.text, others, f"{quote(span.text)} is asked for")


def _is_one_thing(fact: str) -> bool:
    """Numbers and long names; addresses belong to people, whom any session may know."""
    return len(fact) >= 5 and "@" not in fact and (any(map(str.isdigit, fact)) or len(fact.split()) >= MIN_NAME_WORDS)


def _lower_texts(context: CheckContext) -> dict[str, str]:
    return {name: text.casefold() for name, text in context.once(established_texts).items()}


def _keys_by_task(context: CheckContext) -> dict[str, frozenset[str]]:
    return {name: _keys(text) for name, text in context.once(established_texts).items()}


@cached
def _keys(text: str) -> frozenset[str]:
    return frozenset(map(stem, frozenset(_WORD.findall(text))))


def _counts(context: CheckContext) -> Mapping[str, int]:
    return Counter(key for keys in context.once(_keys_by_task).values() for key in keys)


def _back_reference_clues(task: TaskSpec, context: CheckContext, earlier: Sequence[TaskSpec]) -> Iterator[Clue]:
    references = [pair for pair in back_references(task.initial_request) if MADE_OR_DECIDED.match(pair[0].text)]
    if not references:
        return
    keys, counts = context.once(_keys_by_task), context.once(_counts)
    total = max(len(keys), USUAL_TASKS)
    declared = prerequisite_ids(task, context)
    for reference, sentence in references:
        near = [
            word for word in content_words(sentence.text) if abs(word.start + sentence.start - reference.start) < 130
        ]
        rare = {
            word.key: math.log(total / counts[word.key]) * min(word.weight, 1) for word in near if word.key in counts
        }
        names = [name for name in (*(other.task_id for other in earlier), *declared) if name in keys]
        scores = {name: sum(weight for key, weight in rare.items() if key in keys[name]) for name in names}
        best, *rest = sorted(scores, key=lambda name: -scores[name])
        if (
            scores[best] >= MIN_RARE_WEIGHT
            and best not in declared
            and not any(scores[best] < MIN_LEAD * scores[name] for name in rest)
        ):
            why = f"The request calls something back, {quote(reference.text)}"
            clue = _clue("initial_request", None, reference.text, [best], why)
            yield clue._replace(
                vague=tuple(name for name in scores if scores[name] >= MIN_SHARE_OF_DECLARED * scores[best])
            )


def _intent_clues(task: TaskSpec, context: CheckContext, earlier: Sequence[TaskSpec]) -> Iterator[Clue]:
    known = [each for name in prerequisite_ids(task, context) if (each := context.task(name))]
    contents, setups = context.once(_intents_by_task), context.once(_setups)
    similarities = [
        (other, _similarities(contents[task.task_id], contents[other.task_id]))
        for other in earlier
        if other.task_id in setups
    ]
    for position, intent in enumerate(task.intents, 1):
        for other, of_intents in similarities:
            if of_intents[position - 1] > 0.8 and not any(
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


def _setups(context: CheckContext) -> frozenset[str]:
    return frozenset(task.task_id for task in context.episode.tasks if task.is_setup)


def _intents_by_task(context: CheckContext) -> dict[str, tuple[str, ...]]:
    tasks = (*context.episode.tasks, *context.episode.unplaced)
    return {task.task_id: tuple(intent.content for intent in task.intents) for task in tasks}


@cached
def _similarities(demands: tuple[str, ...], texts: tuple[str, ...]) -> tuple[float, ...]:
    """For each demand, that of the most similar text."""
    found = [(text, vocabulary(text).reaches) for text in texts]
    similarities = []
    for demand in demands:
        wanted = vocabulary(demand)
        near = [_nearness(demand, text) for text, reaches in found if reaches(MIN_OVERLAP, wanted)]
        similarities.append(max(near, default=0.0))
    return tuple(similarities)


def _similarity(demand: str, text: str) -> float:
    return _nearness(demand, text) if overlaps(demand, text, MIN_OVERLAP) else 0.0


def _nearness(demand: str, text: str) -> float:
    match = coverage(demand, text)
    return match.near if match.weight >= 3 else 0.0
