import json
import re
from collections.abc import Iterator

from studio.domain.caching import cached
from studio.domain.checks.rule import CheckContext, Flaw, in_field, rule
from studio.domain.checks.sources import file_mentions
from studio.domain.task import TaskSpec
from studio.domain.text.clauses import Span, clauses, sentences
from studio.domain.text.words import content_words, words


@rule("empty-request", "error")
@in_field("initial_request", "Write the user's first message.")
def empty_request(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """A session opens with the request's text or a signal's payload."""
    if not task.initial_request.strip() and not task.trigger.payload:
        yield Flaw("The task would start with nothing.")


@rule("trigger-payload", "warning")
@in_field("trigger", "Add a payload, or start the task with a user message.")
def trigger_payload(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """An environment signal carries data, in its payload or as JSON in the request."""
    if task.trigger.kind == "user_message" or task.trigger.payload:
        return
    try:
        signal = json.loads(task.initial_request)
    except (ValueError, RecursionError):
        signal = None
    if not isinstance(signal, dict | list):
        yield Flaw("The task is started by a signal without data.")


PROMPT = re.compile(
    r"^[ \t]*(?:you are|act as|assume the role of|imagine you are)\s+an?\s+(?:\w+[ -]){0,5}?(?:assistant|agent|expert"
    r"|specialist|AI|model|chatbot|copywriter|analyst|consultant|lawyer|engineer|marketer|professional)\b"
    r"|^[ \t]*you are an? (?:[\w-]+ ){0,3}?(?:experienced|senior|expert|professional|skilled|seasoned|highly"
    r"|world[- ]class|knowledgeable|helpful|specialised|specialized) [\w -]{3,60}[.,;:\n]"
    r"|\bas an AI(?: language)? (?:model|assistant)\b|\byour (?:task|role|goal|objective|mission) is to\b"
    r"|^[ \t]*#{1,4}[ \t]*(?:role|task|context|constraints?|instructions?|output(?: format)?|requirements?)\b"
    r"|^[ \t]*(?:role|constraints|output format|instructions)[ \t]*:[ \t]*$"
    r"|\bthink step[- ]by[- ]step\b|\bdo not hallucinate\b|\bconversational filler\b"
    r"|\bdirect(?:ly)? output (?:only|strictly)\b|\boutput strictly\b|\bSTDOUT\b",
    re.IGNORECASE | re.MULTILINE,
)


@rule("request-like-a-prompt", "hint")
@in_field("initial_request", "Rephrase it as the persona would say it to a colleague.")
def request_like_a_prompt(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """People write to a colleague, not to a model; phrases of a prompt give the game away (paper, Table 9)."""
    if task.trigger.kind == "user_message" and (match := PROMPT.search(task.initial_request[:20_000])):
        phrase = match[0].strip()
        yield Flaw(f"“{phrase}” sounds like a prompt, not like a person asking.", passage=phrase)


VOCABULARY = re.compile(
    r"\b(?:benchmark task|hidden intents?|ground truth|test case|evaluation (?:run|metric|criteria)|graded by"
    r"|make sure (?:that )?(?:all )?edge cases|edge cases (?:in the data(?:set)?|are handled)"
    r"|LLM judge|judge model|simulated user|task_id|rehearsal pass|initial_input|system prompt|success criteria"
    r"|(?:the|an) (?:AI )?agent (?:should|must|will|needs)|(?:the|a|our|your) (?:auto-?)?graders?"
    r"|rubrics? (?:wants?|requires?|says?|asks?|needs?|checks?|expects?|items?|scores?)"
    r"|(?:be|being|stay|act|should|must|please|can you|could you) (?:\w+ )?pro-?active(?:ly)?"
    r"|pro-?actively (?:ask|infer|identify|suggest|flag|include|mention|check|offer|complete|clarify|point|add))\b",
    re.IGNORECASE,
)


@rule("request-benchmark-words", "warning", across_tasks=True)
def request_benchmark_words(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """A person who asks for help knows nothing of tests; benchmark vocabulary and ids give the game away (paper, Table
    9)."""
    if passage := _vocabulary(task.initial_request):
        yield _flaw(passage, "Nobody talks to an assistant like this at work")
    ids = {task.task_id, task.environment_id, *(other.task_id for other in context.earlier(task))}
    for name in sorted(ids, key=len, reverse=True):
        if len(name) > 5 and "_" in name and name in task.initial_request:
            yield _flaw(name, "The request contains an internal id")
            break


@cached
def _vocabulary(request: str) -> str:
    match = VOCABULARY.search(request)
    return match[0] if match else ""


def _flaw(passage: str, why: str) -> Flaw:
    return Flaw(
        f"{why}: “{passage}”.", "Rephrase it as the persona would say it.", field="initial_request", passage=passage
    )


ASKS = re.compile(
    r"[?？]|\b(?:please|kindly|need(?:s|ed)?|want(?:s|ed)?|would like|i['’]d like|help|(?:could|can|would|will) you"
    r"|let['’]s|let us|have to|has to|must|should|due|asked me|wants me|i expect|looking for|wondering|how|what|which"
    r"|when|where|who|why|whether|task|to[- ]?do)\b",
    re.IGNORECASE,
)
ORDERS = frozenset(
    """add adjust analyse analyze answer arrange ask assemble assess book bring build buy calculate call cancel change
    check choose clean collect combine compare compile complete compose convert copy count create cut decide delete
    describe design develop do draft draw edit email estimate evaluate explain export extract file fill find finish
    fix follow format forward gather generate get give go improve include invite keep let list look make map mark
    merge move note open order organise organize outline pack pick place plan play point polish post prepare print
    produce proofread propose publish pull push put read recommend record redo remind remove rename reply report
    research reschedule reserve review revise rewrite run save say schedule score search select send set share
    shorten show sign sort split start suggest summarise summarize take tell test tidy transcribe translate turn
    update use verify work write""".split()
)
THINGS = re.compile(
    r"\W*(?:[\w'’-]+ ){0,4}?(?:agenda|analysis|announcement|article|brief|budget|caption|chart|checklist|comparison"
    r"|contract|deck|draft|email|e-mail|estimate|flyer|form|handout|invitation|invoice|itinerary|label|leaflet|letter"
    r"|list|memo|menu|message|minutes|note|notice|offer|outline|overview|plan|post|poster|presentation|programme|program"
    r"|proposal|quote|recipe|reminder|reply|report|review|rota|schedule|script|sign|slides|speech|spreadsheet|statement"
    r"|summary|table|template|timeline|timetable|translation)s?\b",
    re.IGNORECASE,
)
"""Things that are asked for by name alone: “Menu for Saturday.”"""
FOR = re.compile(r"\W*(?:[\w'’-]+ ){1,4}?for (?!now\b|today\b|once\b|ever\b|you\b)", re.IGNORECASE)
"""“Two sentences for the plaque.”"""
TELLS = re.compile(
    r"\b(?:is|are|was|were|has|have|had|did|came|went|got|gave|said|told|saw|took|left|made|sat|fell|ran|rang|rained"
    r"|\w{3,}ed|will|would|\w+(?:['’]s|n['’]t) \w+ing)\b",
    re.IGNORECASE,
)
SOMETHING = re.compile(
    r"\b(?:the|that|this|my|our|some) (?:[\w'’-]+ ){0,2}?(?:thing|things|stuff|business)\b", re.IGNORECASE
)
MAX_VAGUE_WORDS = 3
"""A “thing” with at most so many content words leaves nothing to start on."""
MIN_WORDS = 2
"""Minimum content words; a greeting has fewer."""


@rule("request-no-goal", "warning")
@in_field("initial_request")
def request_no_goal(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """An assistant has to know what to start on, however much else is left unsaid (paper, Table 9)."""
    text = task.initial_request.strip()
    signal = task.trigger.kind != "user_message" or task.trigger.payload or text.startswith(("{", "["))
    if signal or not text or _is_foreign(text):
        return
    vague = SOMETHING.search(text) if len(text) < 200 and not file_mentions(text) else None
    if vague and len(content_words(text)) <= MAX_VAGUE_WORDS:
        yield Flaw(
            f"“{vague[0]}” does not say what is wanted; the only possible reply is “what do you mean?”.",
            "Name the object and where it is or should go.",
            passage=vague[0],
            severity="hint",
        )
    elif len(content_words(text[:2_000])) < MIN_WORDS or not _asks(text[:20_000]):
        yield Flaw(
            "The request does not say what is wanted.",
            "Name one thing to start on, such as the letter, the list or the answer.",
            passage=text if len(text) <= 160 else "",
        )


def _asks(text: str) -> bool:
    return bool(ASKS.search(text)) or _orders(text) or any(map(_names_a_thing, sentences(text)))


def _names_a_thing(sentence: Span) -> bool:
    return bool(THINGS.match(sentence.text) or FOR.match(sentence.text)) and TELLS.search(sentence.text) is None


def _orders(text: str) -> bool:
    spans = clauses(text)
    return any(word.text.casefold() in ORDERS for span in spans for word in words(span.text)[:3] if word.start < 24)


def _is_foreign(text: str) -> bool:
    text = text[:2_000]
    if text.isascii():
        return False
    letters = [letter for letter in text if letter.isalpha()]
    return sum(letter > "\u024f" for letter in letters) * 2 > len(letters)
