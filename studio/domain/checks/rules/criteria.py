import re
from collections.abc import Iterator

from studio.domain.caching import cached
from studio.domain.checks.facts import facts, limits
from studio.domain.checks.fixes import remove_row, set_part
from studio.domain.checks.opinions import BY_MODEL
from studio.domain.checks.questions import atomic_question
from studio.domain.checks.quotes import join_with_and, quote
from studio.domain.checks.repetition import find_repeats
from studio.domain.checks.rule import CheckContext, Flaw, in_field, in_rows, rule
from studio.domain.checks.sources import established_texts, file_mentions, opening_text, profile_text
from studio.domain.checks.vagueness import vague_phrase
from studio.domain.evidence_map import script_keys
from studio.domain.findings import Severity
from studio.domain.task import ChecklistItem, TaskSpec
from studio.domain.text.clauses import sentences
from studio.domain.text.coverage import coverage
from studio.domain.text.requirements import requirements
from studio.domain.text.words import content_words, words


@rule("empty-criterion", "warning", one_click=remove_row)
@in_rows("checklist", "Write a criterion, or remove the item.")
def empty_criterion(item: ChecklistItem, task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """An item without a criterion is stored but never graded."""
    if not item.criterion.strip():
        yield Flaw("The item has no criterion and is not graded.")


@rule("weight-not-positive", "error", one_click=set_part("Set weight to 1", "has weight 1.", "weight", 1.0))
@in_rows("checklist", "Enter a number greater than 0.")
def weight_not_positive(item: ChecklistItem, task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """A weight is a number greater than 0."""
    if not 0 < item.weight < float("inf"):
        yield Flaw(f"The weight is {item.weight:g}.")


@rule("duplicate-criterion", "warning", one_click=remove_row)
@in_field("checklist", "Remove one of the two, or give one of them a higher weight.")
def duplicate_criterion(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """A repeated criterion counts twice. A hint if only the order of the words differs."""
    for position, first, exactly in find_repeats([item.criterion for item in task.checklist]):
        yield Flaw(
            f"This is item {first} again." if exactly else f"This says what item {first} says, in another order.",
            item=position,
            passage=task.checklist[position - 1].criterion,
            about=task.checklist[first - 1].uid,
            severity="warning" if exactly else "hint",
        )


SAME = 0.85
MIN_WORDS = 3


@rule("criterion-repeats-key", "warning", one_click=remove_row)
@in_rows("checklist", "Remove the item, or change what it asks for.")
def criterion_repeats_key(item: ChecklistItem, task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """What the grader script already decides would count twice."""
    criterion = item.criterion
    for key in script_keys(task) if len(content_words(criterion)) >= MIN_WORDS else ():
        if key.about and min(coverage(criterion, key.about).near, coverage(key.about, criterion).near) >= SAME:
            message = f"The script's check “{key.name}” decides this already: {quote(key.about)}."
            yield Flaw(message, passage=criterion.strip())
            return


OPINION = re.compile(
    r"\bwould (?:agree|approve|like|love|be (?:happy|satisfied|pleased|convinced|impressed|acceptable))"
    r"|\b(?:is|are|will be|feels?) (?:happy|satisfied|pleased|impressed|convinced|delighted)\b"
    r"|\bin (?:my|the (?:user|author|expert|reader)['’]s) (?:opinion|view|eyes)\b"
    r"|\b(?:taken|takes|take) (?:\w+ )?(?:seriously|into consideration|to heart)\b"
    r"|\b(?:understands|thinks about|knows|is aware of|cares about|has considered)\b"
    r"|\b(?:looks?|sounds?|reads?) (?:good|nice|well|right|natural|professional)\b",
    re.IGNORECASE,
)
"""Someone's opinion, which nothing in the session shows."""


@rule("criterion-vague", "hint")
@in_rows("checklist", "Name what must be present: a section, a number, a limit, a format.")
def criterion_vague(item: ChecklistItem, task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """Two people who read the same reply and files should agree on whether a criterion is met (paper, Table 11)."""
    if item.grader == "rubric" and (opinion := _opinion(item.criterion)):
        message = "The criterion asks what someone thinks of it; no reply, file or tool call shows that."
        yield Flaw(message, passage=opinion)
    elif item.grader == "rubric" and (phrase := vague_phrase(item.criterion)):
        yield Flaw("Two people could disagree on whether this is met: nothing says what to look for.", passage=phrase)


@cached
def _opinion(criterion: str) -> str:
    match = OPINION.search(criterion[:2_000])
    return match[0] if match else ""


PROCESS = re.compile(
    r"\bpro-?active(?:ly)?\b|\bwithout (?:being|having been) (?:asked|told|prompted|reminded)\b(?! (?:for|by|to pay)\b)"
    r"|\bunprompted\b|\btakes? the initiative\b"
    r"|\b(?:agent|assistant|model|it) (?:first )?(?:asks?|clarif(?:y|ies)|inquires?"
    r"|requests? clarification|checks? with)\b"
    r"|\basks? (?:a|the user|one|at least|for) [^.;]{0,40}?(?:clarif\w+|follow-?up) questions?\b"
    r"|\bclarifying questions?\b"
    r"|\bin (?:its|the) first (?:turn|reply|response|message)\b|\bon (?:its"
    r"|their) own initiative\b|\binfers? (?:that|the user)\b"
    r"|\b(?:agent|assistant|model|it) (?:\w+ )?(?:infers|anticipates|recalls|remembers|notices|reali[sz]es)\b"
    r"|\brecogni[sz]es? that the user\b|\bimplicitly recall\w*",
    re.IGNORECASE,
)


@rule("criterion-is-process", "warning")
@in_rows("checklist", "Say what must be there at the end; make the rest a hidden intent.")
def criterion_is_process(item: ChecklistItem, task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """The checklist scores the outcome; how proactively it was reached is what the intents score (paper, Table 11)."""
    if match := PROCESS.search(item.criterion):
        yield Flaw("The criterion scores how the agent went about it, not what came out.", passage=match[0])


QUESTION = re.compile(
    r"\s*(?:does|do|did|is|are|was|were|has|have|had|can|could|will|would|should)\s+(?!not\b).*\?", re.I | re.S
)

UNMARKED = re.compile(
    r"\s*(?:whether\b|(?:is|are|does|do|did|has|have|had|can|was|were|will)\s"
    r"(?:the|an?|all|each|every|any|there|it|this|that|its|their)\s)",
    re.I,
)
"""The beginning of a question without a question mark."""


@rule("criterion-interrogative", "warning")
@in_rows("checklist", "Rewrite it as a statement that is true when the criterion is met.")
def criterion_interrogative(item: ChecklistItem, task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """Judges answer YES if a criterion is met; a question leaves open which answer is the good one."""
    text = item.criterion.strip()
    if (
        QUESTION.fullmatch(text)
        or UNMARKED.match(text)
        or (text.endswith(("?", "？")) and "“" not in text[-40:] and '"' not in text[-40:])
    ):
        yield Flaw("The criterion is a question.", passage=text)


MAX_QUOTED, QUOTE_LENGTH = 3, 36
"""Number of requirements quoted in the message, and characters of each."""


@rule("criterion-not-atomic", "warning")
@in_rows("checklist", "Split it so that each item is one requirement.")
def criterion_not_atomic(item: ChecklistItem, task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """One requirement per item: half of a bundle earns nothing, and results do not show which half was missing (paper,
    Table 11)."""
    estimate = requirements(item.criterion)
    opinion = context.known.opinions.get(atomic_question(item.criterion).key) if context.known.opinions else None
    if opinion and (opinion.count > 1) != estimate.several:
        if opinion.count > 1:
            yield Flaw(f"Asks for {opinion.count} things{BY_MODEL}.")
    elif estimate.several:
        passage = estimate.second.text if estimate.second else ""
        severity: Severity = "warning" if estimate.sure > 1 or estimate.enumerated else "hint"
        yield Flaw(_message(estimate.parts), passage=passage, severity=severity)


def _message(parts: tuple[str, ...]) -> str:
    if len(parts) < 2:
        return "The criterion asks for several things at once."
    named = [quote(part, QUOTE_LENGTH) for part in parts[:MAX_QUOTED]]
    listed = join_with_and(named) if len(parts) <= MAX_QUOTED else ", ".join((*named, "…"))
    return f"Asks for {len(parts)} things: {listed}."


OPEN_END = re.compile(
    r"(?:[,:;(\[–—-]|\b(?:and|or|the|an?|that|than|such as|including|e\.g\.|their|its|each|every|both|is|are|be|not)"
    r"|\b(?P<stranded>of|to|with|for|by|from|in|on|at|about|under|into|between))\s*$",
    re.I,
)
LONGEST_END = 40
"""Characters that OPEN_END matches at most, and more; there is no white space at the end."""
ASKS = re.compile(r"\b(?:what|which|where|who|whom|whose|that|how|why|when)\b", re.I)
"""A clause that begins with one of these may end on “for” or “to”."""
THAT = re.compile(r"\b(?:states?|says?|confirms?|mentions?|explains?|shows?) that\s+(?=the\b|an?\b|this\b|its?\b)")
VERBS = frozenset(
    """is are was were be been has have had do does did can could may might must shall should will would cannot isn't
    aren't doesn't don't put set cut let cost hit read came went became held made took gave found built kept left led
    rose fell grew won lost meant paid said sent sold spent stood told understood wrote""".split()
)


@rule("criterion-truncated", "warning")
@in_rows("checklist", "Finish the sentence.")
def criterion_truncated(item: ChecklistItem, task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """An unfinished sentence can be judged in as many ways as it can end."""
    if broken := _broken_off(item.criterion.strip()):
        yield Flaw("The criterion breaks off.", passage=broken)


def _broken_off(text: str) -> str:
    """Where the text does; empty if it does not."""
    match = OPEN_END.search(text, max(0, len(text) - LONGEST_END))
    if match and not (match["stranded"] and ASKS.search(text)):
        return text[max(0, match.start() - 40) :]
    open_mark = next((a for a, b in ("“”", "()") if text.count(a) > text.count(b)), "")
    return open_mark or _verbless(text)


def _verbless(text: str) -> str:
    """The text from “states that” to the end of its sentence, if it has no verb; otherwise empty."""
    if "that" not in text:
        return ""
    for span in sentences(text):
        if match := THAT.search(span.text):
            rest = [word.text.casefold() for word in words(span.text[match.end() :])]
            if rest and not any(word in VERBS or word.endswith(("s", "ed")) for word in rest):
                return span.text[match.start() :]
    return ""


HARD = re.compile(r"(?<![\w.+-])[\w.+-]+@[\w-]+\.[\w.]*\w|\b\d{5,}\b|(?<![\d-])\d{3,}[- ]\d{3,}[- ]?\d*\b")
BETWEEN = re.compile(
    r"\bbetween (?P<low>\d[\d,]*) and \d[\d,]* (?:words?|characters?|pages?|slides?|sentences?|lines?)\b", re.I
)
AMOUNT = re.compile(
    r"(?:\b(?:RMB|EUR|USD|GBP|CHF|CNY)|[€£$¥]) ?(?P<sum>\d[\d,]*(?:\.\d+)?)(?! ?(?:million|thousand|billion|k\b))"
)
TABLES = (".csv", ".tsv", ".xlsx", ".xls", ".ods", ".json")
REFERENCE_DIGITS = 7
"""A number with at least so many digits is a reference; a shorter one may be computed from a table."""
ELSEWHERE = re.compile(r"\b(?:internet|web|online|search|look up|research|current|latest|news|browse)\b", re.IGNORECASE)


@rule("criterion-unsupported", "hint", across_tasks=True)
@in_field("checklist", "State it in an intent, a file or an earlier task, or accept other wording.")
def criterion_unsupported(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """A number, limit, sum or address that a criterion demands must be known from request, intents, files or earlier
    sessions. Silent if the agent may learn it from tools, the web or a file that cannot be read here."""
    wanted = [(n, value) for n, item in enumerate(task.checklist, 1) for value in _demanded_values(item.criterion)]
    if not wanted or task.tool_evidence or task.tools or ELSEWHERE.search(task.initial_request):
        return
    earlier = context.earlier(task)
    files = [file for other in (*earlier, task) for file in other.assets]
    if any(file.sha256 not in context.texts for file in files):
        return
    established = context.once(established_texts)
    sources = [opening_text(task), profile_text(context.episode.persona)]
    sources += [intent.content for intent in task.intents]
    sources += [established[other.task_id] for other in earlier]
    sources += [context.texts[file.sha256] for file in files]
    paths = [*(file.path for file in files), *(match[0] for match in file_mentions(task.initial_request))]
    may_be_computed = any(path.casefold().endswith(TABLES) for path in paths)
    readable = [_normalized(source) for source in sources]
    for position, value in wanted:
        is_amount = AMOUNT.search(value) or (value.isdigit() and len(value) < REFERENCE_DIGITS)
        is_said = any(_normalized(value) in source for source in readable) or (may_be_computed and is_amount)
        if not is_said and all(_numbers(value).isdisjoint(_numbers(source)) for source in sources):
            yield Flaw(f"Nothing the assistant can see mentions {quote(value)}.", item=position, passage=value)


@cached
def _numbers(text: str) -> frozenset[str]:
    return frozenset(fact.value for fact in facts(text[:40_000]) if fact.kind == "number")


@cached
def _demanded_values(criterion: str) -> tuple[str, ...]:
    criterion = criterion[:2_000]
    values = [match[0] for match in HARD.finditer(criterion)]
    values += [limit.span.text for limit in limits(criterion) if any(map(str.isdigit, limit.span.text))]
    values += [match[0] for pattern in (BETWEEN, AMOUNT) for match in pattern.finditer(criterion)]
    return tuple(dict.fromkeys(values))


@cached
def _normalized(text: str) -> str:
    text = re.sub(r"(?<=\d)[,'’ ](?=\d{3}\b)", "", text.casefold())
    return " ".join(re.sub(r"[^\w@.]+", " ", text).split()).strip(" .")
