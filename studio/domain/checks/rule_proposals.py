"""Proposes exact checks for criteria that do not need a judge. A rule decides the whole criterion or none of it."""

from __future__ import annotations

import re

from studio.domain.caching import cached
from studio.domain.checks.sources import FILE_NAME, file_mentions
from studio.domain.task import ChecklistItem, ExactCheck, TaskSpec
from studio.domain.text.clauses import quoted
from studio.domain.text.exact_phrases import EVERY, EXISTS
from studio.domain.text.exactness import ExactForm, exactness
from studio.domain.text.prose import is_negative
from studio.domain.text.requirements import requirements
from studio.domain.text.words import content_words

TOOL_CALL = re.compile(
    r"\b(?:calls?|called|invokes?|invoked|uses|used)\s+(?:the\s+)?(?:tool\s+)?[“\"‘'`]?(?P<tool>[A-Za-z]\w*_\w+)",
)
PASSIVE_CALL = re.compile(
    r"^\s*(?:The tool )?[“\"‘'`]?(?P<tool>[A-Za-z]\w*_\w+)[”\"’'`]?\s+(?:is|was|has been)\s+(?:called|invoked|used)\b"
)
"""A tool by its name; “logs into”, “the order was placed” tell in prose what happened."""
ALTERNATIVES = re.compile(
    r"\beither\b|\bor\b(?! (?:more|fewer|less|later|earlier|equivalent)\b)|\bone of\b|[”\"’']\s*/\s*[“\"‘']",
    re.IGNORECASE,
)
PARTS = re.compile(
    r",?\s(?:and|but|while|whereas|as well as|along with|together with|plus|both|also|including)\s|[;:]|,\s",
    re.IGNORECASE,
)
"""What joins a second requirement to the first."""
COMPARES = re.compile(
    r"\b(?:below|above|under|over|less|more|fewer|within|about|around|approximately|roughly|nearly|almost|up to)\b",
    re.IGNORECASE,
)
STATES_TEXT = re.compile(
    r"\b(?:states?|stated|names?|named|gives?|given|contains?|includes?|mentions?|mentioned|says?|lists?|listed|shows?"
    r"|shown|reads?|quotes?|cites?|identif(?:y|ies)|titled?|entitled|heading|subject|words?|phrases?|written|appears?"
    r"|features?|bears?|announces?|confirms?|recommends?|uses?|number|starts?|ends?|begins?)\b",
    re.IGNORECASE,
)
"""What is said of texts. “The songs should be ‘classical’” is said of songs."""
IS_VALUE = re.compile(
    r"\b(?:is|are|was)\s+(?:an?\s|the\s)?\S*\d|\b(?:is|are|was)\s+(?:[A-Z]{3}\s|[A-Z][\w’'-]+\s[A-Z])"
)
SHOULD_BE = re.compile(r"\b(?:should|must|ought to|shall) be\b", re.IGNORECASE)
SOMEWHERE = re.compile(r"^\s*(?:In|On|At|For|After|Before|When|Within|If|Once|During|Under|Next to)\b", re.IGNORECASE)
"""A place or time, which an exact check does not look at."""
QUALIFIED = re.compile(
    r"x[”\"’'`]?\s+(?:\w+ly\b"
    r"|.*\b(?:unless|except|if|when|whenever|until|once|twice|times|at least|at most|only|provided|before|after)\b"
    r"|.*\b(?:in|on|at|near|under|within)\s+(?:[\w’']+\s+){0,3}?(?:first|second|third|last|opening|closing|final|top|bottom"
    r"|beginning|start|end|title|head(?:ing|line|er)|footer|introduction|conclusion|line|row|column|cell|paragraph"
    r"|section|sentence|page|slide|body|margin)\b)",
    re.IGNORECASE,
)
"""A quoted text of which more is asked than to be there: where, how, how often, on what condition."""
_LEAD_IN = re.compile(r"^\s*(?:In|On|At|For|After|Before|When|Within|If|Once|During|Under)\b[^,;:]{3,80},")
_PLACES = frozenset("workspace folder directory file output".split())
_MAX_SUBJECT_WORDS = 2
"""Content words of “the minutes” in “The minutes are saved as minutes.md”."""


def proposed_check(item: ChecklistItem, task: TaskSpec, tools: tuple[str, ...] = ()) -> ExactCheck | None:
    """``tools`` are those the task can call. None if a judge is needed, the file, text or tool is ambiguous, or the
    rule would decide only a part of the criterion."""
    criterion = item.criterion
    if call := find_call(criterion):
        return _call_check(criterion, call, tools)
    exact = exactness(criterion)
    if exact is None or not exact.sure or len(exact.texts) != 1 or obstacle(criterion):
        return None
    if exact.kind == "exists":
        return ExactCheck(kind="file_exists", path=exact.texts[0])
    if exact.kind in ("contains", "equals", "lacks") and not EVERY.match(criterion):
        return _text_check(exact, criterion, task)
    return None


def find_call(criterion: str) -> re.Match[str] | None:
    return TOOL_CALL.search(criterion) or PASSIVE_CALL.search(criterion)


@cached
def obstacle(criterion: str) -> str:
    """Why a rule would drop or change a requirement, as what to do instead; empty if it would not."""
    criterion = criterion[:2_000]
    bare = _without_quotes(criterion)
    exact = exactness(criterion)
    if is_bundled(criterion) or (exact and exact.kind == "exists" and not _only_exists(criterion)):
        return "Split it first: a rule decides one requirement."
    if ALTERNATIVES.search(bare):
        return "Let a grader script accept each alternative: a rule looks for one text."
    if exact and exact.kind in ("contains", "equals"):
        textual = STATES_TEXT.search(bare) or (IS_VALUE.search(bare) and not SHOULD_BE.search(bare))
        if not textual or COMPARES.search(bare) or SOMEWHERE.match(bare) or QUALIFIED.search(bare):
            return "If one text decides it, say which text is where; then make it a rule."
    if exact and exact.kind == "tool":
        return "If a tool call decides it, name the tool: “calls …”."
    return ""


def is_bundled(criterion: str) -> bool:
    """Whether it may ask for more than one thing; in doubt, yes."""
    return (
        counts_as_several(criterion)
        or PARTS.search(_LEAD_IN.sub("", _without_quotes(criterion)).strip(" .")) is not None
    )


def counts_as_several(criterion: str) -> bool:
    estimate = requirements(criterion)
    return estimate.sure > 1 or estimate.listed > 2


def _without_quotes(criterion: str) -> str:
    """With a letter for each quotation, file and number, whose commas and conjunctions join nothing."""
    for span in reversed(quoted(criterion)):
        criterion = criterion[: span.start] + "x" + criterion[span.end :]
    return re.sub(r"\d[\d.,:]*\d", "0", FILE_NAME.sub("f", criterion))


def _only_exists(criterion: str) -> bool:
    """Whether nothing is said of the file but that it is there."""
    match = EXISTS.search(criterion)
    if match is None:
        return True
    name = next(filter(None, match.groups()))
    before = criterion[: match.start()]
    rest = criterion[match.start() :].replace(name, " ")
    after = content_words(rest[len(match[0]) - len(name) :])
    subject = content_words(FILE_NAME.sub(" ", before))
    return len(subject) <= _MAX_SUBJECT_WORDS and all(word.text.casefold() in _PLACES for word in after)


def _call_check(criterion: str, call: re.Match[str], tools: tuple[str, ...]) -> ExactCheck | None:
    """Only “calls TOOL”, at most with the file it is called for."""
    tool = next((name for name in tools if call["tool"] in (name, name.rpartition("__")[2])), call["tool"])
    known = tool in tools or "__" not in tool
    if not known or is_negative(criterion) or is_bundled(criterion) or ALTERNATIVES.search(_without_quotes(criterion)):
        return None
    rest = criterion[call.end() :].strip(" .”\"’'`")
    files = {match[0] for match in file_mentions(rest)}
    if not rest:
        return ExactCheck(kind="tool_called", tool=tool)
    if tool in ("write_file", "edit_file", "read_file") and len(files) == 1 and _is_only_for(rest):
        return ExactCheck(kind="tool_called", tool=tool, arguments={"path": files.pop()})
    return None


def _is_only_for(rest: str) -> bool:
    words = re.findall(r"[a-z]+", FILE_NAME.sub(" ", rest).casefold())
    return set(words) <= {*_PLACES, *"to for on with the a path save create write read make edit change".split()}


def referenced_file(criterion: str, task: TaskSpec) -> str | None:
    """The file a criterion is about; empty: the reply; None: ambiguous."""
    named = {match[0] for match in file_mentions(criterion)}
    known = {*task.files_read, *task.expected_paths}
    paths = {path for path in known if path in named or path.rpartition("/")[2] in named} or named
    if not paths:
        paths = set(task.files_read) or set(task.expected_paths)
    return next(iter(paths)) if len(paths) == 1 else None if paths else ""


def _text_check(exact: ExactForm, criterion: str, task: TaskSpec) -> ExactCheck | None:
    path, text = referenced_file(criterion, task), exact.texts[0]
    if path is None:
        return None
    if path:
        return ExactCheck(kind="file_lacks" if exact.kind == "lacks" else "file_contains", path=path, text=text)
    if task.tool_evidence or _IN_A_CALL.search(criterion):
        return None
    return ExactCheck(kind="reply_lacks" if exact.kind == "lacks" else "reply_contains", text=text)


_IN_A_CALL = re.compile(
    r"\b(?:e-?mail|mail|gmail|subject|sms|text message|note|todoist|board|task|label|event|cart|order|file|songs?"
    r"|playlist|album|checkout|purchase|buys?|bought)\b",
    re.I,
)
"""Content that appears neither in the reply nor in a file."""
