import re
import unicodedata
from collections.abc import Iterator

from studio.domain.checks.rule import CheckContext, Flaw, authored_texts, rule
from studio.domain.task import TaskSpec

LOST = "\N{REPLACEMENT CHARACTER}"
JOINERS = "\u200c\u200d"
"""Some scripts and emoji need them; between Latin letters they only hide something."""
MARKS = "\u200e\u200f\u061c"
"""Tell which way to read where scripts of both directions meet."""
INVISIBLE = (
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]|[\ud800-\udfff]|[\u202a-\u202e\u2066-\u2069]"
    "|[\ufeff\u2060-\u2064\u200b\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180e\u3164\uffa0]|[\ue000-\uf8ff]"
    "|[\U000e0000-\U000e001f]"
)
BROKEN = re.compile(f"{LOST}|{INVISIBLE}|(?<=[A-Za-z])[{JOINERS}{MARKS}](?=[A-Za-z])")
"""Lost, invisible, or turning the direction of what follows."""
INSIDE = re.compile(r"[^\W\d_]\Z"), re.compile(r"[^\W\d_]")
MIXED = re.compile(
    r"\b(?=[^\W\d_]*[A-Za-z])(?=[^\W\d_]*[\u0370-\u03ff\u0400-\u052f])[A-Za-z\u00c0-\u024f\u0370-\u03ff\u0400-\u052f]{3,40}\b"
)
"""A word with Latin and with Greek or Cyrillic letters, which look alike."""


@rule("broken-text", "warning")
def broken_text(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """Characters that nobody sees or types: lost in a wrong encoding, control characters, marks that turn the text,
    letters of another alphabet. An error inside a word: the checks and judges read another word than people do."""
    for field, item, text in authored_texts(task):
        if found := BROKEN.search(text):
            inside = bool(
                found[0] != LOST and INSIDE[0].search(text[: found.start()][-1:]) and INSIDE[1].match(text, found.end())
            )
            yield Flaw(
                field,
                "A character was lost when the text was read in the wrong encoding."
                if found[0] == LOST
                else f"There is an invisible character{' inside a word' if inside else ''}, {_name(found[0])}.",
                "Retype it." if found[0] == LOST else "Remove it.",
                item,
                words=found[0],
                severity="error" if inside else "warning",
            )
        elif found := MIXED.search(text[:40_000]):
            yield Flaw(
                field,
                f"“{found[0]}” is written with letters of two alphabets that look alike.",
                "Retype the word.",
                item,
                words=found[0],
            )


def _name(character: str) -> str:
    name = unicodedata.name(character, "").capitalize()
    return f"U+{ord(character):04X}" + (f" ({name.lower()})" if name else "")
