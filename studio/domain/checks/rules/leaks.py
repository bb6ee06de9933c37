import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from studio.domain.checks.opinions import BY_MODEL, Opinion
from studio.domain.checks.questions import is_written, leak_question
from studio.domain.checks.quotes import SHORT, quote
from studio.domain.checks.rule import CheckContext, Flaw, in_field, in_rows, rule
from studio.domain.checks.sources import base_name, opening_text
from studio.domain.episode import EpisodeSpec
from studio.domain.findings import Finding, Severity
from studio.domain.fixes import AppendRow, Fix
from studio.domain.skills import SKILL_FILE, description
from studio.domain.task import HiddenIntent, Recovery, TaskSpec
from studio.domain.text.coverage import coverage, word_overlap
from studio.domain.text.leaks import LONGEST, Leak, find_leak, topic_of
from studio.domain.text.word_index import SAID, vocabulary
from studio.domain.text.words import Word, content_words

CERTAIN = 0.9
"""Minimum probability that all of it is said; an error stops a task from being approved."""


def _degree(leak: Leak | None) -> str:
    return "none" if leak is None else "wholly" if leak.degree == "wholly" and leak.chance >= CERTAIN else "partly"


@dataclass(frozen=True)
class GivenAway:
    """An intent that the request says: as the words show, or as a model's opinion on record has it against them."""

    number: int
    """1-based."""
    leak: Leak | None = None
    """None: only the opinion says so."""
    opinion: Opinion | None = None
    """None: the words alone say so, or it agrees with them."""

    @property
    def quote(self) -> str:
        """Words of the request that say it; empty if the model quoted none."""
        return self.opinion.quote if self.opinion else self.leak.source if self.leak else ""


def given_away(task: TaskSpec, opinions: Mapping[str, Opinion]) -> Iterator[GivenAway]:
    """``opinions`` by the keys of their questions. Blanks of a template are no intents."""
    topic = topic_of((intent.content for intent in task.intents), task.title)
    for number, intent in enumerate(task.intents, 1):
        if not is_written(intent.content):
            continue
        opinion = opinions.get(leak_question(intent.content, task).key) if opinions else None
        leak = find_leak(intent.content, opening_text(task), topic)
        if opinion and opinion.degree != _degree(leak):
            if opinion.degree != "none":
                yield GivenAway(number, opinion=opinion)
        elif leak:
            yield GivenAway(number, leak)


@rule("intent-in-request", "warning", judges_language=True)
@in_field("intents", "Remove it from the request, or remove the intent.")
def intent_in_request(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """What the request says is not hidden: every agent gets credit for it (paper, Table 10)."""
    for given in given_away(task, context.known.opinions):
        wholly = (given.opinion.degree if given.opinion else _degree(given.leak)) == "wholly"
        said = f": {quote(given.quote, SHORT)}" if given.quote else ""
        message = f"The request says {'this' if wholly else 'part of this'} already{said}"
        if given.leak:
            fix = "" if wholly else "Remove that part from the request, or keep only the unstated part in the intent."
            severity: Severity = "error" if wholly else "warning"
            yield Flaw(f"{message}.", fix, item=given.number, passage=given.leak.passage, severity=severity)
        else:  # a warning at most: it stops nobody
            yield Flaw(
                f"{message}{BY_MODEL}.", item=given.number, passage=task.intents[given.number - 1].content.strip()
            )


SHARE = 0.75
"""Share of a part of the title that the intent contains."""
MIN_WEIGHT = 1.8
"""Minimum weight of words that are not in the request: about two words."""
PARTS = re.compile(r"[:;,/→|()]|\s[–—-]\s|\s(?:and|to|with|from|by)\s")


@rule("intent-in-title", "hint")
@in_rows("intents", "Use a title that reveals no more than the request.")
def intent_in_title(intent: HiddenIntent, task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """A title that names what is hidden reveals it wherever titles are shown: to agents, colleagues, in results."""
    asked = vocabulary(task.initial_request[:20_000]).keys
    content = intent.content[:2_000]
    for part in filter(None, map(str.strip, PARTS.split(task.title))):
        unasked = [word for word in content_words(part) if word.key not in asked]
        if sum(word.weight for word in unasked) < MIN_WEIGHT:
            continue
        revealed = [word for word in unasked if vocabulary(content).has(word.key) >= SAID]
        if sum(word.weight for word in revealed) >= MIN_WEIGHT and coverage(part, content).near >= SHARE:
            yield Flaw(f"The title names it: {quote(part)}.", passage=_passage(intent.content, revealed))
            return


def _passage(text: str, revealed: list[Word]) -> str:
    keys = {word.key for word in revealed}
    matches = [word for word in content_words(text) if word.key in keys]
    return text[matches[0].start : matches[-1].end] if matches else ""


SURE_IN_FILE = 0.85
ANYWHERE = 0.6
"""Minimum share of an intent's words anywhere in a text; a quick filter."""


def _add_source(finding: Finding, task: TaskSpec, episode: EpisodeSpec) -> Fix:
    edit = AppendRow(field="intents", item=finding.item, value=Recovery(kind="file", ref=finding.data))
    effect = f"“{finding.data}” becomes a source of intent {finding.item}."
    return Fix(label="Add as source", effect=effect, edits=(edit,))


@rule("intent-in-file", "hint", one_click=_add_source)
@in_rows("intents", "Add the file as the intent's source, or remove this from the file.")
def intent_in_file(intent: HiddenIntent, task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """A file that states an intent openly is its source, and should be marked as such if that is intended."""
    marked = {base_name(source.ref) for source in intent.recoverable_from if source.kind == "file"}
    for file in task.assets if len(content_words(intent.content)) > MIN_WORDS else ():
        text = context.texts.get(file.sha256, "")
        if base_name(file.path) in marked or word_overlap(intent.content, text[:LONGEST]) < ANYWHERE:
            continue
        if leak := _open_leak(intent, text, SURE_IN_FILE):
            message = f"“{file.path}” says this openly: {quote(leak.source, SHORT)}."
            yield Flaw(message, passage=leak.passage, data=file.path)
            return


def _open_leak(intent: HiddenIntent, text: str, sure: float) -> Leak | None:
    leak = find_leak(intent.content, text)
    return leak if leak and leak.degree == "wholly" and leak.chance >= sure else None


SURE = 0.75
MIN_WORDS = 3


@rule("intent-in-tool", "warning")
@in_rows("intents", "Remove the intent, or remove the tool from this task.")
def intent_in_tool(intent: HiddenIntent, task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """Agents see a tool's description from the first turn, so what it says is not hidden (paper, Table 10).

    General tools are the same in every benchmark and tell nothing of a task.
    """
    bound = task.tools or context.episode.persona.tools
    shown = {name: text for name, text in context.known.tools.items() if name in bound and "__" in name}
    everything = "\n".join(shown.values())
    if len(content_words(intent.content)) < MIN_WORDS or word_overlap(intent.content, everything) < ANYWHERE:
        return
    for name, text in shown.items():
        if leak := _open_leak(intent, text, SURE):
            message = f"The description of the tool “{name}” says this to every agent: {quote(leak.source)}."
            yield Flaw(message, passage=leak.passage)
            return


@rule("intent-in-skill", "warning")
@in_rows("intents", "Move it from the description into the skill's text, or remove the intent.")
def intent_in_skill(intent: HiddenIntent, task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """Agents see a skill's description from the first turn, so what it says is not hidden (paper, Table 10). The rest
    of a skill has to be looked up and is a legitimate source."""
    for name, text in _descriptions(task, context) if len(content_words(intent.content)) >= MIN_WORDS else ():
        if leak := _open_leak(intent, text, SURE):
            message = f"The description of the skill “{name}” says this to every agent: {quote(leak.source, SHORT)}."
            yield Flaw(message, passage=leak.passage)
            return


def _descriptions(task: TaskSpec, context: CheckContext) -> Iterator[tuple[str, str]]:
    for skill in context.episode.persona.skills:
        if task.skills and skill.name not in task.skills:
            continue
        for file in skill.files:
            if file.path.endswith(SKILL_FILE) and (text := description(context.texts.get(file.sha256, ""))):
                yield skill.name, text


MIN_INTENTS = 2
LIKELY = 0.3
"""Minimum probability that all intents are given away."""


@rule("request-tells-all", "warning")
@in_field("initial_request", "Remove what an assistant should find, infer or ask for.")
def request_tells_all(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """A request that leaves nothing unsaid measures obedience, not initiative (paper, Table 9)."""
    topic = topic_of((intent.content for intent in task.intents), task.title)
    leaks = [find_leak(intent.content, task.initial_request, topic) for intent in task.intents]
    if len(leaks) >= MIN_INTENTS and math.prod(leak.chance if leak else 0.0 for leak in leaks) >= LIKELY:
        wholly = sum(leak is not None and leak.degree == "wholly" for leak in leaks)
        yield Flaw(
            "The request gives away part of every hidden intent.",
            severity="warning" if 2 * wholly >= len(leaks) else "hint",
        )
