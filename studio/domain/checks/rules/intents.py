import re
from collections.abc import Iterable, Iterator

from studio.domain.caching import cached
from studio.domain.checks.fixes import remove_row, set_part
from studio.domain.checks.quotes import join_with_and
from studio.domain.checks.repetition import find_repeats
from studio.domain.checks.rule import CheckContext, Flaw, in_field, in_rows, rule
from studio.domain.checks.sources import established_text, profile_text, visible_text
from studio.domain.checks.vagueness import vague_phrase
from studio.domain.episode import EpisodeSpec
from studio.domain.findings import Finding
from studio.domain.fixes import Fix, SetValue
from studio.domain.task import HiddenIntent, Scope, TaskSpec
from studio.domain.text.coverage import word_overlap
from studio.domain.text.requirements import requirements
from studio.domain.text.word_index import Vocabulary, vocabulary
from studio.domain.text.words import content_words


@rule("no-intents", "error")
@in_field("intents", "Add one: something the user needs but does not say.")
def no_intents(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """Without a hidden intent there is nothing to be proactive about, and the format rejects the task."""
    if not task.intents:
        yield Flaw("The task has no hidden intent.")


@rule("empty-intent", "error", one_click=remove_row)
@in_rows("intents", "Write what the user needs, or remove it.")
def empty_intent(intent: HiddenIntent, task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """An empty intent cannot be judged, and the format rejects it."""
    if not intent.content.strip():
        yield Flaw("The intent is empty.")


@rule("duplicate-intent", "warning", one_click=remove_row)
@in_field("intents", "Remove one of the two.")
def duplicate_intent(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """A repeated intent counts twice. A hint if only the order of the words differs."""
    for position, first, exactly in find_repeats([intent.content for intent in task.intents]):
        yield Flaw(
            f"This is intent {first} again." if exactly else f"This says what intent {first} says, in another order.",
            item=position,
            passage=task.intents[position - 1].content,
            about=task.intents[first - 1].uid,
            severity="warning" if exactly else "hint",
        )


@rule("intent-vague", "hint")
@in_rows("intents", "Name what must be present: a section, a number, a limit, a format.")
def intent_vague(intent: HiddenIntent, task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """Whether an intent was met must be decidable from what the agent wrote (paper, Table 10)."""
    if phrase := vague_phrase(intent.content):
        yield Flaw("Two people could disagree on whether this was met.", passage=phrase)


@rule("intent-bundled", "hint")
@in_rows("intents", "Split it so that each part can be met separately.")
def intent_bundled(intent: HiddenIntent, task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """Two needs in one intent share one status, so meeting one of them earns credit for both or for none."""
    estimate = requirements(intent.content)
    second = estimate.second.text if estimate.second else ""
    if estimate.sure > 1 and re.match(r"(?:and|but|plus)\b|[A-Z]", second):
        yield Flaw(f"The intent holds about {estimate.sure} needs.", passage=second)


@rule("intent-unrecoverable", "warning")
@in_field("intents", "Add a source: profile, earlier task, file, tool, or asking.")
def intent_unrecoverable(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """An intent that nothing lets an agent find, infer or ask for measures luck (paper, Table 10). Silent about tasks
    without any marked source."""
    if not any(intent.recoverable_from for intent in task.intents):
        return
    for position, intent in enumerate(task.intents, 1):
        if intent.content.strip() and not intent.recoverable_from:
            yield Flaw("Nothing tells the assistant this.", item=position)


@rule("intent-unscored", "hint")
@in_field("intents", "Add one, link an existing item to it, or remove the intent.")
def intent_unscored(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """A need that no criterion follows from does not affect the scored outcome (paper, Table 10). Only for tasks whose
    items are linked to intents."""
    followed = {uid for item in task.scored_items for uid in item.follows_from}
    if not followed or task.grader_script:
        return
    for position, intent in enumerate(task.intents, 1):
        if intent.uid not in followed:
            yield Flaw("No checklist item tests this intent.", item=position)


MIN_INTENTS = 3
"""Below, an item may test the only intent in other words."""
SHARE_TESTED = 0.2
"""Share of an intent's words in an item, or the reverse, from which the item may test it."""


@rule("intents-untested", "warning")
@in_field("checklist", "Add items for what the intents want, or link the items to them.")
def intents_untested(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """If no item tests any intent, an agent that ignores all of them completes the task."""
    items, intents = task.scored_items, [intent.content for intent in task.intents if intent.content.strip()]
    if len(intents) < MIN_INTENTS or not items or task.grader_script or any(item.follows_from for item in items):
        return
    tested = [vocabulary(item.criterion) for item in items]
    if not any(_is_tested(vocabulary(intent), tested) for intent in intents):
        yield Flaw(f"No item tests any of the {len(intents)} intents.")


def _is_tested(intent: Vocabulary, items: Iterable[Vocabulary]) -> bool:
    return any(item.reaches(SHARE_TESTED, intent) or intent.reaches(SHARE_TESTED, item) for item in items)


_UNSTATED = set_part("Set to not stated initially", "is not stated initially.", "initial_status", "not_provided")


@rule("initial-status-provided", "warning", one_click=_UNSTATED)
@in_rows("intents", "Set it to “not stated initially”, or move it into the request.")
def initial_status_provided(intent: HiddenIntent, task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """An intent that starts as provided never counts as met but stays in the denominator."""
    if intent.initial_status == "provided":
        yield Flaw("The intent starts as provided: no agent can get credit for it.")


def _make_session_local(finding: Finding, task: TaskSpec, episode: EpisodeSpec) -> Fix:
    shown_here = finding.rule == "persistent-not-earlier"
    positions = intents_shown_only_here(task, episode) if shown_here else [finding.item or 0]
    return _set_scope(positions, "session_local", "this session only")


def _make_persistent(finding: Finding, task: TaskSpec, episode: EpisodeSpec) -> Fix:
    return _set_scope(intents_needed_later(task, episode), "persistent", "persistent")


def _set_scope(positions: list[int], scope: Scope, words: str) -> Fix:
    edits = [SetValue(field="intents", item=position, part="scope", value=scope) for position in positions]
    which = f"{'Intents' if len(positions) > 1 else 'Intent'} {join_with_and(map(str, positions))}"
    return Fix(label=f"Set scope to {words}", effect=f"{which}: scope “{words}”.", edits=tuple(edits))


@rule("persistent-alone", "warning", across_tasks=True, one_click=_make_session_local)
@in_field(
    "intents",
    "Add a source, make the task depend on the task that establishes it, or set its scope to this session only.",
)
def persistent_alone(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """A persistent intent comes from an earlier session, or is established here for a later one."""
    if all(intent.scope != "persistent" for intent in task.intents):
        return
    needed = {d.task_id for other in context.episode.tasks for d in other.depends_on}
    if task.depends_on or task.task_id in needed:
        return
    for position, intent in enumerate(task.intents, 1):
        if intent.scope == "persistent" and not intent.recoverable_from:
            yield Flaw("The intent is persistent, but no other task is related to this one.", item=position)


SAME = 0.8


@rule("persistent-not-earlier", "hint", across_tasks=True, one_click=_make_session_local)
@in_field("intents", "Add the earlier task or the profile as a source, or set the scope to this session only.")
def persistent_not_earlier(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """A persistent intent has its evidence in an earlier session, or is established here for a later one (paper, Table
    10). Reported once for all intents of a task."""
    if positions := intents_shown_only_here(task, context.episode):
        single = len(positions) == 1
        which = f"Intent {positions[0]} is" if single else f"Intents {join_with_and(map(str, positions))} are"
        yield Flaw(
            f"{which} persistent, but only this task shows {'it' if single else 'them'}.",
            item=positions[0],
            about=_uids(task, positions),
        )


def _uids(task: TaskSpec, positions: list[int]) -> str:
    return " ".join(sorted(task.intents[position - 1].uid for position in positions))


def intents_shown_only_here(task: TaskSpec, episode: EpisodeSpec) -> list[int]:
    """1-based positions of the persistent intents that only this session shows."""
    if any(task.task_id == need.task_id for other in episode.tasks for need in other.depends_on):
        return []
    if all(intent.scope != "persistent" for intent in task.intents):
        return []
    later = _later_intents(task, episode)
    return [
        position
        for position, intent in enumerate(task.intents, 1)
        if intent.scope == "persistent" and _is_shown_only_here(intent, task) and not _recurs(intent, later)
    ]


def _is_shown_only_here(intent: HiddenIntent, task: TaskSpec) -> bool:
    own = {file.path for file in task.assets}
    sources = intent.recoverable_from
    return bool(sources) and all(
        source.kind == "question" or (source.kind == "file" and source.ref in own) for source in sources
    )


def _later_intents(task: TaskSpec, episode: EpisodeSpec) -> list[HiddenIntent]:
    ids = [other.task_id for other in episode.tasks]
    after = episode.tasks[ids.index(task.task_id) + 1 :] if task.task_id in ids else ()
    return [intent for other in after for intent in other.intents]


def _recurs(intent: HiddenIntent, later: list[HiddenIntent]) -> bool:
    return any(word_overlap(intent.content, other.content) >= SAME for other in later)


SHARE_RECURRING = 0.6
"""Share of an intent's words that recur in an intent of a later session."""
MIN_WORDS = 3
"""Minimum words; shorter intents are similar by chance."""
LASTS = re.compile(
    r"\b(?:always|from now on|in future|in the future|going forward|every time|each time|as a rule|by default|standing"
    r"|in all (?:\w+ )?(?:letters|mails?|e-?mails|reports|documents|files|messages))\b",
    re.IGNORECASE,
)
"""Phrases for what holds beyond one session."""


@rule("scope-unmarked", "hint", across_tasks=True, one_click=_make_persistent)
@in_field("intents")
def scope_unmarked(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """An intent that a later session relies on is marked as persistent (paper, Table 10). Reported once for all intents
    of a task."""
    if positions := intents_needed_later(task, context.episode):
        single = len(positions) == 1
        which = f"Intent {positions[0]} is" if single else f"Intents {join_with_and(map(str, positions))} are"
        yield Flaw(
            f"{which} marked for this session only, but a later task that builds on it needs "
            f"{'it' if single else 'them'} again.",
            f"Set {'its' if single else 'their'} scope to persistent.",
            item=positions[0],
            about=_uids(task, positions),
        )


def intents_needed_later(task: TaskSpec, episode: EpisodeSpec) -> list[int]:
    """1-based positions of the session-local intents that a dependent session relies on."""
    after = [
        other for other in episode.tasks if any(dependency.task_id == task.task_id for dependency in other.depends_on)
    ]
    if not after:
        return []
    wanted = tuple(intent.content for other in after for intent in other.intents)
    return [
        position
        for position, intent in enumerate(task.intents, 1)
        if intent.scope == "session_local"
        and len(content_words(intent.content)) >= MIN_WORDS
        and _lasts(intent.content, wanted)
    ]


@cached
def _lasts(intent: str, wanted: tuple[str, ...]) -> bool:
    return bool(LASTS.search(intent)) or any(word_overlap(intent, other) >= SHARE_RECURRING for other in wanted)


_LAST = r"(?:before|earlier|last (?:time|year|month|week))"
_TALKED = r"(?:agreed|discussed|decided|settled)"
BACK_REFERENCE = re.compile(
    rf"\b(?:as (?:we )?(?:{_TALKED}|usual|always|in the past|{_LAST})|(?:like|same as) {_LAST}"
    rf"|(?:we|I) {_TALKED} (?:on )?(?:that |it |this )?{_LAST})\b",
    re.IGNORECASE,
)
SHARE_OF_ORIGIN = 0.4
"""Share of an intent's words that its origin must contain."""


@rule("intent-from-nowhere", "hint", across_tasks=True)
@in_rows("intents", "State it in one of them, or remove this text.")
def intent_from_nowhere(intent: HiddenIntent, task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """What an intent refers back to (“as agreed”) is in an earlier session, the profile or a file (paper, Table 10)."""
    passage = _back_reference(intent.content)
    if not passage or any(source.kind != "question" for source in intent.recoverable_from):
        return
    wanted = BACK_REFERENCE.sub(" ", intent.content[:2_000])
    sources = [
        profile_text(context.episode.persona),
        visible_text(task, context).removeprefix(task.initial_request),
    ]
    sources += [f"{established_text(other)}\n{visible_text(other, context)}" for other in context.earlier(task)]
    if all(word_overlap(wanted, text) < SHARE_OF_ORIGIN for text in sources):
        yield Flaw(f"“{passage}”: no earlier task, file or profile says so.", passage=passage)


@cached
def _back_reference(intent: str) -> str:
    match = BACK_REFERENCE.search(intent[:2_000])
    return match[0] if match else ""
