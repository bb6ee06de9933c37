import re
from collections.abc import Iterator

from studio.domain.checks.rule import CheckContext, Flaw, authored_texts, rule
from studio.domain.task import TaskSpec

ESCAPED = re.compile(
    r"\\(?:n|t|r)(?![a-z])|\\[\"']|\\u[0-9a-fA-F]{4}|&(?:amp|lt|gt|quot|nbsp|#\d{2,5});"
    r"|â€[™œ\u009d“”\u0093\u0094]|Ã[\u0080-\u00bf©¨¤¶¼]|ï»¿"
)


@rule("escaped-text", "warning")
def escaped_text(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """Traces of a program in prose: escape sequences, HTML entities, wrongly decoded letters."""
    for field, item, text in authored_texts(task):
        if text.lstrip().startswith(("{", "[")):
            continue
        if match := ESCAPED.search(text):
            yield Flaw(
                field,
                f"“{match[0]}” is how a program writes, not a person.",
                "Type the character itself.",
                item,
                passage=match[0],
            )
