import re
from collections.abc import Iterator

from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.checks.sources import file_mentions
from studio.domain.task import TaskSpec
from studio.domain.text.clauses import Span, clauses, sentences
from studio.domain.text.words import content_words, words

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
def request_no_goal(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """An assistant has to know what to start on, however much else is left unsaid (paper, Table 9)."""
    text = task.initial_request.strip()
    signal = task.trigger.kind != "user_message" or task.trigger.payload or text.startswith(("{", "["))
    if signal or not text or _is_foreign(text):
        return
    vague = SOMETHING.search(text) if len(text) < 200 and not file_mentions(text) else None
    if vague and len(content_words(text)) <= MAX_VAGUE_WORDS:
        yield Flaw(
            "initial_request",
            f"“{vague[0]}” does not say what is wanted; the only possible reply is “what do you mean?”.",
            "Name the object and where it is or should go.",
            passage=vague[0],
            severity="hint",
        )
    elif len(content_words(text[:2_000])) < MIN_WORDS or not _asks(text[:20_000]):
        yield Flaw(
            "initial_request",
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
