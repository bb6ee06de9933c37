import re
import unicodedata
from collections.abc import Iterator

from studio.spec.checks.rule import Flaw, Scene, rule, written
from studio.spec.task import TaskSpec

BROKEN = re.compile(
    "\ufffd|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]|[\ud800-\udfff]|[\u202a-\u202e\u2066-\u2069]|[\ufeff\u2060\u200b]|[\ue000-\uf8ff]"
)
"""Lost, invisible, or turning the direction of what follows."""


@rule("broken-text", "warning")
def broken_text(task: TaskSpec, scene: Scene) -> Iterator[Flaw]:
    """Characters that nobody sees or types: lost in a wrong encoding, control characters, marks that turn the text."""
    for field, item, text in written(task):
        if found := BROKEN.search(text):
            yield Flaw(
                field,
                "A character was lost when the text was read in the wrong encoding."
                if found[0] == "\ufffd"
                else f"There is an invisible character, {_name(found[0])}.",
                "Type it again." if found[0] == "\ufffd" else "Remove it.",
                item,
                words=found[0],
            )


def _name(character: str) -> str:
    name = unicodedata.name(character, "").capitalize()
    return f"U+{ord(character):04X}" + (f" ({name.lower()})" if name else "")
