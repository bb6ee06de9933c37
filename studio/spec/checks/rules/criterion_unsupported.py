import re
from collections.abc import Iterator

from studio.spec.checks.quoting import quote
from studio.spec.checks.rule import Flaw, Scene, rule
from studio.spec.checks.sources import given, told
from studio.spec.task import TaskSpec

HARD = re.compile(r"(?<![\w.+-])[\w.+-]+@[\w-]+\.[\w.]*\w|\b\d{5,}\b|(?<![\d-])\d{3,}[- ]\d{3,}[- ]?\d*\b")
TABLES = (".csv", ".tsv", ".xlsx", ".xls", ".ods", ".json")
LONG = 7
"""Digits from which on a number is a reference; a shorter one may be reckoned from a table."""
ELSEWHERE = re.compile(r"\b(?:internet|web|online|search|look up|research|current|latest|news|browse)\b", re.IGNORECASE)


@rule("criterion-unsupported", "hint")
def criterion_unsupported(task: TaskSpec, scene: Scene) -> Iterator[Flaw]:
    """A number or an address that a criterion demands is known from request, intents, files or earlier sessions.

    Silent where the agent may learn it elsewhere: from tools, from the web, or from a file that cannot be read here.
    """
    wanted = [(n, match[0]) for n, item in enumerate(task.checklist, 1) for match in HARD.finditer(item.criterion)]
    if not wanted:
        return
    earlier = scene.earlier(task)
    files = [file for other in (*earlier, task) for file in other.assets]
    apps = task.tool_evidence or task.tools
    if apps or ELSEWHERE.search(task.initial_request) or any(file.sha256 not in scene.texts for file in files):
        return
    persona = scene.episode.persona
    sources = [given(task, scene), persona.role_text, persona.working_style, persona.routines, str(persona.preferences)]
    sources += [intent.content for intent in task.intents]
    sources += [f"{told(other)}\n{given(other, scene)}" for other in earlier]
    known = _plain("\n".join(sources))
    reckoned = any(file.path.casefold().endswith(TABLES) for file in files)
    for position, words in wanted:
        if _plain(words) not in known and not (reckoned and words.isdigit() and len(words) < LONG):
            yield Flaw(
                "checklist",
                f"Nothing the agent can know has {quote(words)}.",
                "Let an intent, a file or an earlier session say it, or accept other words.",
                position,
                words=words,
            )


def _plain(text: str) -> str:
    text = re.sub(r"(?<=\d)[,'’ ](?=\d{3}\b)", "", text.casefold())
    return " ".join(re.sub(r"[^\w@.]+", " ", text).split()).strip(" .")
