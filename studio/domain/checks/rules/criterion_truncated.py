import re
from collections.abc import Iterator

from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.task import TaskSpec
from studio.domain.text.clauses import sentences
from studio.domain.text.words import words

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
def criterion_truncated(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """An unfinished sentence can be judged in as many ways as it can end."""
    for position, item in enumerate(task.checklist, 1):
        text = item.criterion.strip()
        match = OPEN_END.search(text, max(0, len(text) - LONGEST_END))
        if match and not (match["stranded"] and ASKS.search(text)):
            yield _flaw(position, text[max(0, match.start() - 40) :])
        elif text.count("“") > text.count("”") or text.count("(") > text.count(")"):
            yield _flaw(position, "“" if text.count("“") > text.count("”") else "(")
        elif rest := _verbless(text):
            yield _flaw(position, rest)


def _flaw(position: int, broken: str) -> Flaw:
    return Flaw("checklist", "The criterion breaks off.", "Finish the sentence.", position, passage=broken)


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
