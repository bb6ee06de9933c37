import json
import re
from collections.abc import Iterator

from studio.domain.bounded_cache import cached
from studio.domain.checks.personal_data import identities, keys, phones
from studio.domain.checks.rule import CheckContext, Flaw, authored_texts, rule
from studio.domain.findings import Severity
from studio.domain.task import TaskSpec
from studio.domain.tool_names import bare_tool_name

LONGEST = 40_000
DIGIT = re.compile(r"\d")
FIX = "Replace it with an obviously invented one, or remove it."
PHONE_FIX = "Use a number reserved for fiction, such as 555-0142 or 01632 960 123, or remove it."


@rule("personal-data", "warning")
def personal_data(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """Numbers that identify a person, an account or a key should be obviously invented. A phone number is a hint, and
    ignored if the persona's phone is simulated."""
    simulated = any(bare_tool_name(tool).startswith("phone__") for tool in context.episode.persona.tools)
    payload = json.dumps(task.trigger.payload, ensure_ascii=False) if task.trigger.payload else ""
    for field, item, text in (*authored_texts(task), ("trigger", None, payload)):
        if first := _first(text[:LONGEST], simulated):
            number, what, severity = first
            yield Flaw(
                field,
                f"This looks like {what}." if field != "trigger" else f"“{number}” looks like {what}.",
                FIX if severity == "warning" else PHONE_FIX,
                item,
                passage=number if field != "trigger" else "",
                severity=severity,
            )
    files = [("assets", position, file, "") for position, file in enumerate(task.assets, 1)]
    positions = {path: position for position, path in enumerate(task.expected_paths, 1)}
    files += [("expected_artifacts", positions[file.path], file, "The reference of ") for file in task.references]
    for field, position, file, what_file in files:
        if first := _first(context.texts.get(file.sha256, "")[:LONGEST], simulated):
            _, what, severity = first
            yield Flaw(
                field,
                f"{what_file}“{file.path}” has what looks like {what}.",
                FIX if severity == "warning" else PHONE_FIX,
                position,
                passage=file.path,
                severity=severity,
            )


def _first(text: str, simulated: bool) -> tuple[str, str, Severity] | None:
    return next((each for each in _findings(text) if each[2] == "warning" or not simulated), None)


@cached(1_000_000)
def _findings(text: str) -> tuple[tuple[str, str, Severity], ...]:
    return tuple(_find(text))


def _find(text: str) -> Iterator[tuple[str, str, Severity]]:
    yield from ((key, "an access key", "warning") for key in keys(text))
    if DIGIT.search(text):
        yield from ((number, what, "warning") for number, what in identities(text))
        yield from ((number, "a telephone number", "hint") for number in phones(text))
