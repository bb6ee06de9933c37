import re
import unicodedata
from collections.abc import Iterator

from studio.domain.checks.rule import CheckContext, Flaw, authored_texts, rule
from studio.domain.task import TaskSpec

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


@rule("broken-text", "warning")
def broken_text(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """Invisible or wrongly encoded characters, or lookalike letters of another alphabet. An error inside a word,
    because checks and judges then read a different word than people do."""
    for field, item, text in authored_texts(task):
        if text.isascii() and text.replace("\n", " ").isprintable():
            continue  # neither pattern can match
        if match := BROKEN.search(text):
            inside = bool(
                match[0] != LOST and INSIDE[0].search(text[: match.start()][-1:]) and INSIDE[1].match(text, match.end())
            )
            yield Flaw(
                field,
                "A character was lost when the text was read in the wrong encoding."
                if match[0] == LOST
                else f"There is an invisible character{' inside a word' if inside else ''}, {_name(match[0])}.",
                "Retype it." if match[0] == LOST else "Remove it.",
                item,
                passage=match[0],
                severity="error" if inside else "warning",
            )
        elif match := MIXED.search(text[:40_000]):
            yield Flaw(
                field,
                f"“{match[0]}” is written with letters of two alphabets that look alike.",
                "Retype the word.",
                item,
                passage=match[0],
            )


def _name(character: str) -> str:
    name = unicodedata.name(character, "").capitalize()
    return f"U+{ord(character):04X}" + (f" ({name.lower()})" if name else "")
