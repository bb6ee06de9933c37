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
ASKS = re.compile(r"\b(?:what|which|where|who|whom|whose|that|how|why|when)\b", re.I)
"""After these a sentence may well end on “for” or “to”."""
THAT = re.compile(r"\b(?:states?|says?|confirms?|mentions?|explains?|shows?) that\s+(?=the\b|an?\b|this\b|its?\b)")
VERBS = frozenset(
    """is are was were be been has have had do does did can could may might must shall should will would cannot isn't
    aren't doesn't don't put set cut let cost hit read came went became held made took gave found built kept left led
    rose fell grew won lost meant paid said sent sold spent stood told understood wrote""".split()
)


@rule("criterion-truncated", "warning")
def criterion_truncated(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """A sentence that breaks off can be judged in as many ways as there are endings."""
    for position, item in enumerate(task.checklist, 1):
        text = item.criterion.strip()
        found = OPEN_END.search(text)
        if found and not (found["stranded"] and ASKS.search(text)):
            yield _flaw(position, text[max(0, found.start() - 40) :])
        elif text.count("“") > text.count("”") or text.count("(") > text.count(")"):
            yield _flaw(position, "“" if text.count("“") > text.count("”") else "(")
        elif rest := _verbless(text):
            yield _flaw(position, rest)


def _flaw(position: int, broken: str) -> Flaw:
    return Flaw("checklist", "The criterion breaks off.", "Finish the sentence.", position, words=broken)


def _verbless(text: str) -> str:
    """What follows “states that” up to the sentence's end, if no verb is in it."""
    for span in sentences(text):
        if found := THAT.search(span.text):
            rest = [word.text.casefold() for word in words(span.text[found.end() :])]
            if rest and not any(word in VERBS or word.endswith(("s", "ed")) for word in rest):
                return span.text[found.start() :]
    return ""
