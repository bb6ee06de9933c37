import re
from collections.abc import Iterable, Iterator

from studio.domain.checks.facts import facts
from studio.domain.checks.limits import limits
from studio.domain.checks.quotes import quote
from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.checks.sources import established_text, file_mentions, profile_text, visible_text
from studio.domain.task import TaskSpec

HARD = re.compile(r"(?<![\w.+-])[\w.+-]+@[\w-]+\.[\w.]*\w|\b\d{5,}\b|(?<![\d-])\d{3,}[- ]\d{3,}[- ]?\d*\b")
BETWEEN = re.compile(
    r"\bbetween (?P<low>\d[\d,]*) and \d[\d,]* (?:words?|characters?|pages?|slides?|sentences?|lines?)\b", re.I
)
AMOUNT = re.compile(
    r"(?:\b(?:RMB|EUR|USD|GBP|CHF|CNY)|[€£$¥]) ?(?P<sum>\d[\d,]*(?:\.\d+)?)(?! ?(?:million|thousand|billion|k\b))"
)
TABLES = (".csv", ".tsv", ".xlsx", ".xls", ".ods", ".json")
LONG = 7
"""Digits from which on a number is a reference; a shorter one may be reckoned from a table."""
ELSEWHERE = re.compile(r"\b(?:internet|web|online|search|look up|research|current|latest|news|browse)\b", re.IGNORECASE)


@rule("criterion-unsupported", "hint")
def criterion_unsupported(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """A number, a limit, a sum or an address that a criterion demands is known from request, intents, files or earlier
    sessions.

    Silent where the agent may learn it elsewhere: from tools, from the web, or from a file that cannot be read here.
    """
    wanted = [
        (n, words) for n, item in enumerate(task.checklist, 1) for words in dict.fromkeys(_demanded(item.criterion))
    ]
    if not wanted:
        return
    earlier = context.earlier(task)
    files = [file for other in (*earlier, task) for file in other.assets]
    apps = task.tool_evidence or task.tools
    if apps or ELSEWHERE.search(task.initial_request) or any(file.sha256 not in context.texts for file in files):
        return
    sources = [visible_text(task, context), profile_text(context.episode.persona)]
    sources += [intent.content for intent in task.intents]
    sources += [f"{established_text(other)}\n{visible_text(other, context)}" for other in earlier]
    known = _plain("\n".join(sources))
    paths = [*(file.path for file in files), *(match[0] for match in file_mentions(task.initial_request))]
    reckoned = any(path.casefold().endswith(TABLES) for path in paths)
    for position, words in wanted:
        if _plain(words) in known or (reckoned and (AMOUNT.search(words) or (words.isdigit() and len(words) < LONG))):
            continue
        if not _numbers((words,)).isdisjoint(_numbers(sources)):
            continue
        yield Flaw(
            "checklist",
            f"Nothing the agent can know has {quote(words)}.",
            "State it in an intent, a file or an earlier task, or accept other wording.",
            position,
            words=words,
        )


def _numbers(texts: Iterable[str]) -> set[str]:
    return {fact.value for text in texts for fact in facts(text[:40_000]) if fact.kind == "number"}


def _demanded(criterion: str) -> Iterator[str]:
    criterion = criterion[:2_000]
    yield from (match[0] for match in HARD.finditer(criterion))
    yield from (limit.span.text for limit in limits(criterion) if any(map(str.isdigit, limit.span.text)))
    yield from (match[0] for pattern in (BETWEEN, AMOUNT) for match in pattern.finditer(criterion))


def _plain(text: str) -> str:
    text = re.sub(r"(?<=\d)[,'’ ](?=\d{3}\b)", "", text.casefold())
    return " ".join(re.sub(r"[^\w@.]+", " ", text).split()).strip(" .")
