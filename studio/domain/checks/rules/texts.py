import html
import re
import unicodedata
from collections.abc import Iterator
from typing import Any

from studio.domain.checks.fixes import change_text
from studio.domain.checks.rule import LONGEST, CheckContext, Flaw, in_field, in_texts, rule
from studio.domain.checks.sources import UNFILLED
from studio.domain.findings import Finding
from studio.domain.task import TaskSpec

NOTHING = re.compile(
    r"\W*(?:an? |the |my )?(?:untitled|unnamed|no title|title"
    r"|(?:new |test |sample |dummy |first |next )?(?:task|session|draft)"
    r"|tests?|testing|copy|temp|tmp|asdf\w*|x+|n/?a|none|null|\?+)(?:[\s#_.:-]*\d+)?\W*",
    re.IGNORECASE,
)


@rule("empty-title", "warning")
@in_field("title")
def empty_title(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """A task without a title, or with one that would fit any task, cannot be told apart in lists and reports."""
    if not task.title.strip():
        yield Flaw("The task has no title.", "Write a short title that says what the user wants.")
    elif NOTHING.fullmatch(task.title[:200]) or task.title.strip() == task.task_id:
        yield Flaw(
            "The title says nothing about the task.", "Make the title say what the user wants.", passage=task.title
        )


@rule("duplicate-title", "warning", across_tasks=True)
@in_field("title", "Use a title that sets this task apart.")
def duplicate_title(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """Tasks with the same title cannot be told apart in lists and reports. Reported at the later one."""
    title = " ".join(task.title.split()).casefold()
    for other in context.earlier(task):
        if title and " ".join(other.title.split()).casefold() == title:
            yield Flaw(f"“{other.task_id}” has the same title.", passage=task.title, other=other.task_id)
            return


@rule("id-spaces", "warning")
@in_field("task_id", "Write it without spaces.")
def id_spaces(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """Ids name folders and appear in commands, where spaces get lost or in the way."""
    written = task.source.get("task_id")
    for text in dict.fromkeys((task.task_id, written if isinstance(written, str) else task.task_id)):
        if any(character.isspace() for character in text):
            yield Flaw(f"The id “{text}” has spaces.", passage=text)


@rule("text-too-long", "warning")
@in_texts("Move the long part into a file and describe it here.")
def text_too_long(text: str, context: CheckContext) -> Iterator[Flaw]:
    """Checks read only so much of a text; the rest is unchecked."""
    if len(text) > LONGEST:
        yield Flaw(f"The text has more than {LONGEST:,} characters; what comes after is not checked.")


ESCAPED = re.compile(
    r"\\(?:n|t|r)(?![a-z])|\\[\"']|\\u[0-9a-fA-F]{4}|&(?:amp|lt|gt|quot|nbsp|#\d{2,5});"
    r"|â€[™œ\u009d“”\u0093\u0094]|Ã[\u0080-\u00bf©¨¤¶¼]|ï»¿"
)


_CODES = {r"\n": "\n", r"\t": "\t", r"\r": "", r"\"": '"', r"\'": "'"}
_ESCAPE = re.compile(r"\\[\"']|\\[ntr](?![a-z])|\\u[0-9a-fA-F]{4}")
_MOJIBAKE = re.compile(
    r"(?:[ÃÂ][\u0080-\u00bf€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ]|â[€‚„…†‡ˆ‰‹‘’“”•–—˜™›œžŸ\u0080-\u00bf]{1,2}|ï»¿)+"
)


def unescaped(text: str) -> str:
    text = _ESCAPE.sub(lambda m: _CODES[m[0]] if m[0] in _CODES else chr(int(m[0][2:], 16)), text)
    text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").replace("\0", "")
    text = re.sub(r"&(?:amp|lt|gt|quot|nbsp|#\d{2,5});", lambda m: html.unescape(m[0]), text)
    return _MOJIBAKE.sub(_decode_again, text)


def _decode_again(match: re.Match[str]) -> str:
    for encoding in ("cp1252", "latin-1"):
        try:
            return match[0].encode(encoding).decode("utf-8").removeprefix("\ufeff")
        except UnicodeError:
            continue
    return match[0]


@rule("escaped-text", "warning", one_click=change_text("Unescape", lambda text, _: unescaped(text)))
@in_texts("Type the character itself.")
def escaped_text(text: str, context: CheckContext) -> Iterator[Flaw]:
    """Traces of a program in prose: escape sequences, HTML entities, wrongly decoded letters."""
    if not text.lstrip().startswith(("{", "[")) and (match := ESCAPED.search(text)):
        yield Flaw(f"“{match[0]}” is how a program writes, not a person.", passage=match[0])


LOST = "\N{REPLACEMENT CHARACTER}"
JOINERS = "\u200c\u200d"
"""Needed by some scripts and emoji; between Latin letters they only hide something."""
MARKS = "\u200e\u200f\u061c"
"""Set the reading direction where scripts of both directions meet."""
INVISIBLE = (
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]|[\ud800-\udfff]|[\u202a-\u202e\u2066-\u2069]"
    "|[\ufeff\u2060-\u2064\u200b\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180e\u3164\uffa0]|[\ue000-\uf8ff]"
    "|[\U000e0000-\U000e001f]"
)
BROKEN = re.compile(f"{LOST}|{INVISIBLE}|(?<=[A-Za-z])[{JOINERS}{MARKS}](?=[A-Za-z])")
"""Lost or invisible characters, and those that change the reading direction."""
INSIDE = re.compile(r"[^\W\d_]\Z"), re.compile(r"[^\W\d_]")
MIXED = re.compile(
    r"\b(?=[^\W\d_]*[A-Za-z])(?=[^\W\d_]*[\u0370-\u03ff\u0400-\u052f])[A-Za-z\u00c0-\u024f\u0370-\u03ff\u0400-\u052f]{3,40}\b"
)
"""A word with Latin and with Greek or Cyrillic letters, which look alike."""


def _without_invisible(text: str, finding: Finding) -> str:
    if finding.passage == LOST or MIXED.fullmatch(finding.passage):
        return text  # the lost character or the intended alphabet is unknown
    return BROKEN.sub(lambda match: match[0] if match[0] == LOST else "", text)


@rule("broken-text", "warning", one_click=change_text("Remove it", _without_invisible))
@in_texts("Remove it.")
def broken_text(text: str, context: CheckContext) -> Iterator[Flaw]:
    """Invisible or wrongly encoded characters, or lookalike letters of another alphabet. An error inside a word,
    because checks and judges then read a different word than people do."""
    if text.isascii() and text.replace("\n", " ").isprintable():
        return  # neither pattern can match
    if (match := BROKEN.search(text)) and match[0] == LOST:
        message = "A character was lost when the text was read in the wrong encoding."
        yield Flaw(message, "Retype it.", passage=match[0])
    elif match:
        inside = bool(INSIDE[0].search(text[: match.start()][-1:]) and INSIDE[1].match(text, match.end()))
        where = " inside a word" if inside else ""
        message = f"There is an invisible character{where}, {_name(match[0])}."
        yield Flaw(message, passage=match[0], severity="error" if inside else "warning")
    elif match := MIXED.search(text[:40_000]):
        message = f"“{match[0]}” is written with letters of two alphabets that look alike."
        yield Flaw(message, "Retype the word.", passage=match[0])


def _name(character: str) -> str:
    name = unicodedata.name(character, "").capitalize()
    return f"U+{ord(character):04X}" + (f" ({name.lower()})" if name else "")


PLACEHOLDER = re.compile(
    r"\b(?:TODO|TBD|FIXME|XXX)\b|(?i:\blorem ipsum\b)|\{\{[^{}]{1,60}\}\}"
    r"|<(?:your|the|client|company|date|name) ?[^<>]{0,30}>"
    r"|\bX{2,}(?= (?:euros?|pounds?|dollars?|per ?cent|%|people|guests|days|words|minutes|hours)\b)|[€£$] ?X{2,}\b"
)
SIGNS = ("TODO", "TBD", "FIXME", "XX", "{{", "<", "[", "___")
"""One of them is in all that the patterns match, apart from “lorem ipsum”."""
BLANK = re.compile(r"\[[A-Z][A-Z _-]{2,40}\]|(?<!\w)_{3,}(?!\w)")
"""Possibly intended: forms have blanks."""


def _other_texts(task: TaskSpec) -> Iterator[tuple[str, int | None, str]]:
    yield "trigger", None, " ".join(_texts(task.trigger.payload))
    for position, dependency in enumerate(task.depends_on, 1):
        yield "depends_on", position, dependency.carries_over


def _texts(value: Any) -> Iterator[str]:
    pending = [value]
    while pending:
        match pending.pop():
            case str() as text:
                yield text
            case dict() as mapping:
                pending += reversed(mapping.values())
            case list() as rows:
                pending += reversed(rows)


@rule("to-fill-in", "warning")
@in_texts("Replace it by your own text.", others=_other_texts)
def to_fill_in(text: str, context: CheckContext) -> Iterator[Flaw]:
    """A blank of a template. Nothing is wrong with a task that was just begun, but it cannot be approved like this."""
    if match := UNFILLED.search(text):
        yield Flaw(f"To fill in: “{match[0]}”.", passage=match[0])


@rule("placeholder", "warning")
@in_texts("Replace the placeholder.", others=_other_texts)
def placeholder(text: str, context: CheckContext) -> Iterator[Flaw]:
    """Text that should have been replaced before anyone reads the task."""
    if UNFILLED.search(text) or not _may_have_one(text):
        return
    if match := PLACEHOLDER.search(text):
        yield Flaw(f"“{match[0]}” should have been replaced.", passage=match[0])
    elif match := BLANK.search(text):
        yield Flaw(f"“{match[0]}” looks like a blank to fill in.", passage=match[0], severity="hint")


def _may_have_one(text: str) -> bool:
    """False only if neither pattern can match; many times quicker than the two."""
    return any(sign in text for sign in SIGNS) or "lorem ipsum" in text.casefold()
